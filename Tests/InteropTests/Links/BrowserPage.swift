import Foundation
import Testing
import TestSupport

/// A headless browser with one page, which a test drives: `Peers/page_browser.py`.
final class BrowserPage {
    private let driver: RunningProgram
    private let commands: FileHandle
    private var answersTaken = 0

    /// Starts the browser, with a fresh profile; `languages` are those that it asks pages for, the preferred one first.
    /// With a network, it is on the viewer's host. With `blocksVideo`, no video starts by itself. Firefox only.
    init(
        _ browser: Viewer, languages: String = "en-US,en", blocksVideo: Bool = false, on network: TestNetwork? = nil,
        in folder: TemporaryFolder
    ) async throws {
        let out = folder.file("page-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: out, withIntermediateDirectories: true)
        let pipe = out.appendingPathComponent("commands").path
        try #require(mkfifo(pipe, 0o600) == 0)
        // Open for both: opening waits for nobody.
        commands = FileHandle(fileDescriptor: open(pipe, O_RDWR | O_CLOEXEC), closeOnDealloc: true)
        let python = try #require(Peers.python)
        let arguments =
            [
                Peers.script("page_browser.py"), "--browser", browser.rawValue, "--languages", languages,
                "--commands", pipe, "--out", out.path,
            ] + (blocksVideo ? ["--block-video"] : [])
        driver =
            try network?.start(python, arguments, on: .viewer) ?? RunningProgram(python, arguments, in: folder)
        _ = try await answer(to: "the start of \(browser.rawValue)", timeout: .seconds(120))
    }

    deinit { driver.stop() }

    /// Goes to a link; what is there then, ``wait(state:seconds:_:)`` tells.
    func go(to link: String) async throws { _ = try await perform(["do": "open", "url": link]) }

    /// Drives this tab from now on. The number after the last opens one, in front of the others. Chromium only.
    func tab(_ number: Int) async throws { _ = try await perform(["do": "tab", "number": number]) }

    /// Fails requests for these files from now on, with `*` for any characters. Chromium only.
    func block(_ files: [String]) async throws { _ = try await perform(["do": "block", "files": files]) }

    /// Closes the driven tab. Another one must be driven then.
    func closeTab() async throws { _ = try await perform(["do": "close"]) }

    /// Waits for a state of the page, as it stands in `data-state`.
    func wait(state: String, seconds: Int = 30) async throws {
        // Of a live one, the picture is there.
        let more = state == "live" ? " && document.body.classList.contains('shows-picture')" : ""
        try await wait(until: "document.body.dataset.state === '\(state)'\(more)", seconds: seconds)
    }

    /// Waits until an expression in JavaScript is true.
    func wait(until script: String, seconds: Int = 30) async throws {
        _ = try await perform(["do": "until", "script": script, "seconds": seconds])
    }

    /// Returns the value of a JavaScript expression. With `isActivated`, it can do what a browser permits only after an
    /// action of the user.
    func evaluate(_ script: String, isActivated: Bool = false) async throws -> Any? {
        try await perform(["do": "evaluate", "script": script, "activated": isActivated])
    }

    /// Gives the page another width, in CSS pixels.
    func resize(width: Int, height: Int = 800) async throws {
        _ = try await perform(["do": "resize", "width": width, "height": height, "ratio": 1, "touch": false])
    }

    /// What violates WCAG 2 A or AA in the page as it is, in light and dark, as axe-core finds it. Chromium only.
    func violations() async throws -> [String] { try await perform(["do": "audit"]) as? [String] ?? ["no answer"] }

    /// Saves a PNG of the page.
    func photograph(to file: URL) async throws { _ = try await perform(["do": "photograph", "file": file.path]) }

    /// The browser's process, which leads a process group of its own.
    func browserProcess() throws -> pid_t {
        let driver = driver.processIdentifier
        let children = try String(contentsOfFile: "/proc/\(driver)/task/\(driver)/children", encoding: .utf8)
        return try #require(children.split(separator: " ").first.flatMap { pid_t($0) }, "no child of the driver")
    }

    /// Clicks an element, as a person does.
    func click(_ selector: String) async throws { _ = try await perform(["do": "click", "selector": selector]) }

    /// Drags the pointer from one place in an element to another, in parts of its width and height.
    func drag(_ selector: String, from begin: [Double], to end: [Double]) async throws {
        _ = try await perform(["do": "drag", "selector": selector, "from": begin, "to": end])
    }

    /// Presses a key as a person does: a character, or a named key such as `Enter`.
    func press(_ key: String) async throws { _ = try await perform(["do": "press", "key": key]) }

    /// The errors and warnings that the console showed since it was asked last.
    func complaints() async throws -> [String] { try await perform(["do": "console"]) as? [String] ?? ["no answer"] }

    /// What a script says of the incoming stream of a kind, by getStats: a number.
    func received(_ name: String, of kind: String) async throws -> Double {
        let script = """
            (async () => {
              const reports = await Promise.all(watched.connections.map((connection) => connection.getStats()));
              return reports.flatMap((report) => [...report.values()])
                .filter((entry) => entry.type === "inbound-rtp" && entry.kind === "\(kind)")
                .reduce((sum, entry) => sum + (entry.\(name) ?? 0), 0);
            })()
            """
        let value = try await evaluate(script)
        return try #require((value as? NSNumber)?.doubleValue ?? (value as? Double), "\(name) of \(kind)")
    }

    private func perform(_ command: [String: Any]) async throws -> Any? {
        let line = try JSONSerialization.data(withJSONObject: command) + Data("\n".utf8)
        try commands.write(contentsOf: line)
        return try await answer(to: "\(command)", timeout: .seconds(120))
    }

    private func answer(to awaited: String, timeout: Duration) async throws -> Any? {
        let index = answersTaken
        answersTaken += 1
        let lines = { [driver] in
            driver.standardOutput.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        }
        try await driver.wait(for: awaited, timeout: timeout) { lines().count > index }
        let answer = try JSONSerialization.jsonObject(with: Data(lines()[index].utf8)) as? [String: Any]
        if let error = answer?["error"] { throw Failure(description: "\(awaited): \(error)") }
        return answer?["result"]
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }
}
