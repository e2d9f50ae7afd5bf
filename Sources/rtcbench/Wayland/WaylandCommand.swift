internal import ArgumentParser
internal import Foundation
internal import RTCShareMedia

/// What sending a Wayland desktop's screen costs, beside an X server's.
struct WaylandCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wayland",
        abstract: "Send sway's screen by its portal, and the same on an X server, and see what each costs.",
        discussion: """
            Runs are those of rtcbench encode, with rtcshare send alone, by turns on Xvfb and on a sway without a screen, where \
            XWayland draws the content. CPU is of the sender's process; that of Xvfb, and of sway, its portal and PipeWire \
            together, stands beside it. Figures are the medians of the rounds.
            """)

    @Option(help: ArgumentHelp("Contents, separated by commas.", valueName: "…"))
    var contents = "static,typing"

    @OptionGroup var options: ScreenOptions

    /// Of what an X server's screen takes, the most that is asked.
    private static let mostCost = 1.3

    func validate() throws {
        let _: [ScreenContent] = try ScreenOptions.choose(contents, option: "--contents")
    }

    private enum Desktop: String, CaseIterable {
        case xvfb = "X11"
        case sway = "Wayland"
    }

    func run() async throws {
        let folder = try TemporaryFolder()
        let interruption = Interruption(folder)
        defer {
            interruption.cancel()
            folder.remove()
        }
        var commands = options.commands
        commands.folder = folder.path
        if let obstacle = commands.obstacle(.ours) { throw BenchmarkFailure(obstacle) }
        let processors = options.pin ? Placement.separate() : nil
        let contents: [ScreenContent] = try ScreenOptions.choose(contents, option: "--contents")
        print("size       content    desktop   CPU ms/s  of X11's  desktop ms/s  kbit/s  pictures/s    SSIM  50 % ms")
        for size in try options.screenSizes() {
            for content in contents {
                var results: [Desktop: [ScreenResult]] = [:]
                for round in 1...options.rounds {
                    for desktop in Desktop.allCases {
                        ScreenBenchmark.say(
                            "\(size), round \(round) of \(options.rounds): \(content.rawValue), \(desktop.rawValue)")
                        results[desktop, default: []].append(
                            try await measure(
                                content, on: desktop, size: size, round: round, commands: commands, folder: folder,
                                processors: processors))
                    }
                }
                for desktop in Desktop.allCases {
                    print(row(desktop, results[desktop] ?? [], beside: results[.xvfb] ?? []))
                }
            }
        }
    }

    private func measure(
        _ content: ScreenContent, on desktop: Desktop, size: PixelSize, round: Int, commands: PeerCommands,
        folder: TemporaryFolder, processors: [Int]?
    ) async throws -> ScreenResult {
        // A sway gives no second share a picture of a screen that stands still: each run has its own.
        let screen =
            switch desktop {
            case .xvfb: try await VirtualScreen(size: size, folder: folder)
            case .sway: try await VirtualScreen(swayOf: size, folder: folder, scripts: options.scripts)
            }
        defer { screen.end() }
        let pictures = MovingPictures(for: content, screen: screen.display.size, seed: options.seed)
        let moving = ScreenRun.Moving(
            pictures: pictures, upload: pictures.pictures.isEmpty ? nil : try screen.display.upload(pictures))
        let settings = ScreenRun.Settings(
            seconds: options.seconds, warmUp: options.warmUp, bitrate: options.maxBitrate, seed: options.seed,
            jitter: 0, samples: Int(options.seconds * 3))
        return try await ScreenRun(
            settings: settings, screen: screen, commands: commands, folder: folder, processors: processors,
            pictures: options.pictures
        ).run(content, .ours, round: round, moving: moving)
    }

    private func row(_ desktop: Desktop, _ results: [ScreenResult], beside others: [ScreenResult]) -> String {
        func middle(_ figure: (ScreenResult) -> Double?) -> Double { results.compactMap(figure).median ?? 0 }
        let ratio = middle(\.senderProcessor) / max(others.map(\.senderProcessor).median ?? 0, 0.001)
        let size = (results.first?.size ?? "").padding(toLength: 10, withPad: " ", startingAt: 0)
        let content = (results.first?.content.rawValue ?? "").padding(toLength: 10, withPad: " ", startingAt: 0)
        let verdict = desktop == .sway ? (ratio <= Self.mostCost ? "  pass" : "  FAIL") : ""
        return "\(size) \(content) \(desktop.rawValue.padding(toLength: 8, withPad: " ", startingAt: 0))"
            + String(
                format: "%10.1f  %8.2f  %12.1f  %6.0f  %10.1f  %.4f  %7.1f", middle(\.senderProcessor), ratio,
                middle(\.serverProcessor), middle(\.bitrate), middle(\.frameRate), middle(\.similarity),
                middle { $0.latencies.rank(0.5) }) + verdict
    }
}
