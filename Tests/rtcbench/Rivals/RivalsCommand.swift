internal import ArgumentParser
internal import Foundation
internal import Logging
internal import RTCShareMedia

/// `rtcshare serve` beside other programs that share a screen, as one table.
struct RivalsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rivals",
        abstract: "Compare rtcshare serve with other programs that share a screen, in one table.",
        discussion: """
            Measures as "rtcbench viewer" does, with the same contents of the same seed before the same Chromium: rtcshare \
            serve, x11vnc with noVNC, and Selkies by their own pages, and GStreamer and getDisplayMedia of Chromium by their \
            offers. The content, and all figures, begin \(settling) seconds after the first picture. The table is Markdown, \
            and goes to standard output with the date, the machine and the versions.

            CPU is of the sender with all its processes, in milliseconds a second, with every viewer. kbit/s, SSIM, latency \
            and pictures are of one viewer. SSIM is that of luma with the sender's screen at that time, and "own" that with \
            the change that the picture shows. Latency is from a change to its picture on the receiver's screen. The first \
            picture is counted from the opening of the page, or from the answer for a sender without a page. Memory is that of \
            the sender's processes without what they share with others (PSS), in MiB.

            Further viewers receive everything and decode nothing. A sender without a page has one viewer. Each program has \
            its own defaults, and the same limits of bitrate and frame rate; x11vnc has neither, and looks at the screen as \
            often as the frame rate says. A picture of a canvas (noVNC, Selkies) is a refresh with another change on it.
            """)

    @Option(help: ArgumentHelp("Contents, as of rtcbench viewer; reading scrolls.", valueName: "…"))
    var contents = "rest,typing,reading,mixed,film"

    @Option(help: ArgumentHelp("Senders, separated by commas, as of rtcbench viewer.", valueName: "…"))
    var senders = "served,x11vnc,selkies,gstreamer,chromium,chromium-vp9,chromium-h264,chromium-av1"

    @Option(help: ArgumentHelp("The screen's sizes, separated by commas.", valueName: "WxH,…"))
    var sizes = "1920x1080,3840x2160"

    @Option(help: ArgumentHelp("The most pictures a second, separated by commas.", valueName: "n,…"))
    var framerates = "30,60"

    @Option(help: ArgumentHelp("How many watch, separated by commas.", valueName: "n,…"))
    var viewers = "1,10,50"

    @Option(help: ArgumentHelp("The most that a viewer's pictures may take.", valueName: "kbit/s"))
    var bitrate = 4000

    @Option(help: ArgumentHelp("How long each run is judged.", valueName: "s"))
    var seconds = 10

    @Option(help: "Where randomness begins: texts, times, pictures.")
    var seed: UInt64 = 1

    @OptionGroup var programs: ViewerPrograms

    @Option(help: ArgumentHelp("Append each row to a file, as a line of JSON, when it is measured.", valueName: "file"))
    var json: String?

    @Option(
        help: ArgumentHelp(
            "Write what the receiver shows and the sender's screen side by side, once a second, at their largest difference.",
            valueName: "folder"))
    var pictures: String?

    func validate() throws {
        _ = try plans()
        guard seconds >= 1, (100...100_000).contains(bitrate) else {
            throw ValidationError("give at least one second, and 100 to 100000 kbit/s")
        }
    }

    /// The seconds after the first picture in which a sender sharpens it, and Selkies lays out the display again.
    private static let settling = 3

    /// Returns all cases in order: those of a screen follow each other, and so do those that are compared.
    private func plans() throws -> [(size: PixelSize, plan: ViewerCase)] {
        let contents: [SharedContent] = try ScreenOptions.choose(contents, option: "--contents")
        let senders: [ViewerCase.Sender] = try ScreenOptions.choose(senders, option: "--senders")
        let framerates = try numbers(framerates, 1...240, option: "--framerates")
        let viewers = try numbers(viewers, 1...90, option: "--viewers")
        guard let clean = ViewerPath(name: "clean") else { return [] }
        var plans: [(PixelSize, ViewerCase)] = []
        for size in try sizes.split(separator: ",").map({ try ScreenOptions.size($0, option: "--sizes") }) {
            for content in contents {
                for framerate in framerates {
                    for count in viewers {
                        plans += senders.filter { $0.hasPage || count == 1 }.map { sender in
                            let plan = ViewerCase(
                                content: content, sender: sender, receiver: .chromium, path: clean, bitrate: bitrate,
                                size: "\(size)", seconds: seconds, samples: 3, hint: "none", seed: seed, oursWith: "",
                                round: 1, framerate: framerate, viewers: count)
                            return (size, plan)
                        }
                    }
                }
            }
        }
        return plans
    }

    private func numbers(_ list: String, _ range: ClosedRange<Int>, option: String) throws -> [Int] {
        try list.split(separator: ",").map { text in
            guard let number = Int(text), range.contains(number) else {
                throw ValidationError("\(option) \(text): give \(range.lowerBound) to \(range.upperBound)")
            }
            return number
        }
    }

    func run() async throws {
        // The log of the further viewers is not for readers of the results.
        LoggingSystem.bootstrap { _ in SwiftLogNoOpLogHandler() }
        let folder = try TemporaryFolder()
        let interruption = Interruption(folder)
        defer {
            interruption.cancel()
            folder.remove()
        }
        if let pictures {
            try FileManager.default.createDirectory(atPath: pictures, withIntermediateDirectories: true)
        }
        var report = RivalsReport()
        var run: ViewerRun?
        var prepared: PreparedContent?
        let plans = try plans()
        for (index, (size, plan)) in plans.enumerated() {
            ScreenBenchmark.say("\(index + 1) of \(plans.count): \(plan.sender.name), \(plan.title)")
            if run?.screen.display.size != size {
                run?.screen.server.end()
                run = ViewerRun(
                    tools: programs.tools, screen: try await VirtualScreen(size: size, folder: folder), folder: folder,
                    label: "rivals", commit: ViewerPrograms.commit, pictures: pictures, settling: Self.settling)
                prepared = nil
            }
            guard let run else { continue }
            if prepared?.content != plan.content {
                let display = run.screen.display
                if let upload = prepared?.upload { display.remove(upload) }
                prepared = try PreparedContent(plan.content, seed: seed, buffer: try display.makeBuffer(), on: display)
            }
            guard let prepared else { continue }
            report.describe(plan, by: run.senderCommand(plan))
            let row = await measure(plan, run, prepared, report.obstacles[plan.sender])
            if let json { try JSONLines(path: json).append(row) }
            print(report.text(of: row))
            // A row is there at once, also in a file.
            fflush(nil)
        }
        run?.screen.server.end()
        print("\n\(report.versions)")
    }

    private func measure(
        _ plan: ViewerCase, _ run: ViewerRun, _ prepared: PreparedContent, _ obstacle: String?
    ) async -> RivalsReport.Row {
        if let obstacle { return .init(plan: plan, obstacle: "not installed: \(obstacle)") }
        do {
            return .init(plan: plan, record: try await run.run(plan, prepared))
        } catch {
            // The other rows are still useful.
            ScreenBenchmark.say("\(error)")
            let reason = "\(error)".replacing("\(plan.sender.name), \(plan.title): ", with: "")
            return .init(plan: plan, obstacle: reason.split(separator: "\n").first.map { "came to nothing: \($0)" })
        }
    }
}
