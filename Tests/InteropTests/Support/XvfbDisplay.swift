import Foundation
import Testing
import TestSupport

/// An X server without a screen, with real programs on it.
final class XvfbDisplay {
    /// What makes it run here, or nil. `import` (ImageMagick) is the witness of what is on the display.
    static let missing: String? = ["Xvfb", "xterm", "xclock", "import"].first { RunningProgram.find($0) == nil }

    private let folder: TemporaryFolder
    private let server: RunningProgram
    private var clients: [RunningProgram] = []
    /// The display's name, such as `:99`.
    let name: String

    init(width: Int, height: Int, in folder: TemporaryFolder) async throws {
        self.folder = folder
        let executable = try #require(RunningProgram.find("Xvfb"))
        // The server picks a free number and writes it to the descriptor: standard output.
        let server = try RunningProgram(
            executable,
            ["-displayfd", "1", "-screen", "0", "\(width)x\(height)x24", "-nolisten", "tcp", "-noreset"], in: folder)
        try await server.wait(for: "the display's number", timeout: .seconds(30)) {
            server.standardOutput.hasSuffix("\n")
        }
        self.server = server
        name = ":" + server.standardOutput.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    deinit {
        clients.forEach { $0.stop() }
        end()
    }

    /// Ends the server.
    func end() { server.stop() }

    /// The environment for a program that is to be on, or to capture, this display.
    var environment: [String: String] { ["DISPLAY": name, "XAUTHORITY": "", "WAYLAND_DISPLAY": ""] }

    func start(_ program: String, _ arguments: [String]) throws {
        let executable = try #require(RunningProgram.find(program), "\(program) is in no folder of PATH")
        clients.append(try RunningProgram(executable, arguments, environment: environment, in: folder))
    }

    /// Starts openbox, and waits until it looks after windows: what is opened while it starts may stay hidden.
    func startWindowManager() async throws {
        try start("openbox", ["--sm-disable", "--startup", "touch \(folder.file("openbox-ready").path)"])
        try await server.wait(for: "openbox", timeout: .seconds(30)) {
            FileManager.default.fileExists(atPath: folder.file("openbox-ready").path)
        }
    }

    /// A screen full of text that does not change once it is drawn.
    func showStillText() async throws {
        try await showTerminal("ls -ld /usr/bin/* | cut -c1-150 | head -45; touch terminal-ready; exec sleep 1000")
        // The terminal wrote before the server drew; two equal pictures say that it has.
        var before = Data()
        for _ in 0..<50 {
            let now = try await screenshot("settling.png")
            if now == before { return }
            before = now
            try await Task.sleep(for: .milliseconds(200))
        }
        Issue.record("the screen never came to rest")
    }

    /// A terminal that scrolls about forty lines a second, and a clock.
    func showMovingText() async throws {
        try await showTerminal(
            "touch terminal-ready; while :; do ls -ld /usr/bin/* | cut -c1-150 |"
                + " while read -r line; do echo \"$line\"; sleep 0.02; done; done")
        try start("xclock", ["-update", "1", "-geometry", "200x200+1060+20"])
    }

    /// What is on the display, as a PNG.
    @discardableResult
    func screenshot(_ name: String) async throws -> Data {
        let executable = try #require(RunningProgram.find("import"))
        let outcome = try await RunningProgram.run(
            executable, ["-window", "root", "-strip", "png24:\(name)"], environment: environment, in: folder,
            timeout: .seconds(30))
        try #require(outcome.status == 0, "import: \(outcome.standardError)")
        return try Data(contentsOf: folder.file(name))
    }

    private func showTerminal(_ script: String) async throws {
        try start(
            "xterm",
            [
                "-geometry", "250x80+0+0", "-fa", "DejaVu Sans Mono", "-fs", "10", "-bg", "white", "-fg", "black",
                "-e", "sh", "-c", script,
            ])
        try await server.wait(for: "the terminal", timeout: .seconds(30)) {
            FileManager.default.fileExists(atPath: folder.file("terminal-ready").path)
        }
    }
}
