internal import ArgumentParser
internal import Foundation
internal import RTCShareMedia

/// The cost of sending a Wayland desktop's screen, compared with an X server's.
struct WaylandCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wayland",
        abstract: "Send a Wayland screen by its portal, and the same on an X server, and see what each costs.",
        discussion: """
            Runs are those of rtcbench encode, with rtcshare send alone, by turns on Xvfb, on a sway and on a mutter (GNOME's) \
            without a screen, where XWayland draws the content. CPU is of the sender's process; that of Xvfb, and of the \
            compositor, its portal and PipeWire together, stands beside it. Figures are the medians of the rounds.
            """)

    @Option(help: ArgumentHelp("Contents, separated by commas.", valueName: "…"))
    var contents = "static,typing"

    @Option(help: ArgumentHelp("Wayland desktops: sway, mutter, separated by commas.", valueName: "…"))
    var desktops = "sway,mutter"

    @OptionGroup var options: ScreenOptions

    /// The maximum cost relative to that of an X server's screen.
    private static let mostCost = 1.3

    func validate() throws {
        let _: [ScreenContent] = try ScreenOptions.choose(contents, option: "--contents")
        let _: [WaylandScreen.Compositor] = try ScreenOptions.choose(desktops, option: "--desktops")
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
        let compositors: [WaylandScreen.Compositor] = try ScreenOptions.choose(desktops, option: "--desktops")
        // No compositor: the X server.
        let desktops = [nil] + compositors
        print("size       content    desktop   CPU ms/s  of X11's  desktop ms/s  kbit/s  pictures/s    SSIM  50 % ms")
        for size in try options.screenSizes() {
            for content in contents {
                var results: [WaylandScreen.Compositor?: [ScreenResult]] = [:]
                for round in 1...options.rounds {
                    for desktop in desktops {
                        ScreenBenchmark.say(
                            "\(size), round \(round) of \(options.rounds): \(content.rawValue), \(Self.name(desktop))")
                        results[desktop, default: []].append(
                            try await measure(
                                content, on: desktop, size: size, round: round, commands: commands, folder: folder,
                                processors: processors))
                    }
                }
                for desktop in desktops {
                    print(row(desktop, results[desktop] ?? [], beside: results[.none] ?? []))
                }
            }
        }
    }

    private func measure(
        _ content: ScreenContent, on desktop: WaylandScreen.Compositor?, size: PixelSize, round: Int,
        commands: PeerCommands,
        folder: TemporaryFolder, processors: [Int]?
    ) async throws -> ScreenResult {
        // sway sends no frame of an idle screen to a second share: each run has its own desktop.
        let screen =
            if let desktop {
                try await VirtualScreen(
                    of: desktop, size: size, folder: folder, scripts: options.scripts, executable: commands.executable)
            } else {
                try await VirtualScreen(size: size, folder: folder)
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

    private static func name(_ desktop: WaylandScreen.Compositor?) -> String { desktop?.rawValue ?? "X11" }

    private func row(_ desktop: WaylandScreen.Compositor?, _ results: [ScreenResult], beside others: [ScreenResult])
        -> String
    {
        func middle(_ figure: (ScreenResult) -> Double?) -> Double { results.compactMap(figure).median ?? 0 }
        let ratio = middle(\.senderProcessor) / max(others.map(\.senderProcessor).median ?? 0, 0.001)
        let size = (results.first?.size ?? "").padding(toLength: 10, withPad: " ", startingAt: 0)
        let content = (results.first?.content.rawValue ?? "").padding(toLength: 10, withPad: " ", startingAt: 0)
        let verdict = desktop != nil ? (ratio <= Self.mostCost ? "  pass" : "  FAIL") : ""
        return "\(size) \(content) \(Self.name(desktop).padding(toLength: 8, withPad: " ", startingAt: 0))"
            + String(
                format: "%10.1f  %8.2f  %12.1f  %6.0f  %10.1f  %.4f  %7.1f", middle(\.senderProcessor), ratio,
                middle(\.serverProcessor), middle(\.bitrate), middle(\.frameRate), middle(\.similarity),
                middle { $0.latencies.rank(0.5) }) + verdict
    }
}
