internal import ArgumentParser
internal import Foundation

/// The cost and the quality of sending a screen.
struct EncodeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "encode",
        abstract: "Send a real X11 screen, beside GStreamer, and see what it costs and how it looks.",
        discussion: """
            A content is drawn by the X protocol in an X server of the benchmark's own (Xvfb), and each run starts a \
            sender as a process of its own: rtcshare send, or GStreamer's ximagesrc, vp8enc and webrtcbin. They take turns, with the \
            same content of the same seed and at the same bitrate cap. A viewer, the same for all, receives and decodes.

            CPU is user and system time of the sender's whole process, with its threads and children, over the \
            measured seconds; that of the X server, which captures and draws, is told beside it. Bitrate is UDP payload \
            that came. SSIM is of luma (libyuv's): three times a second, of the picture that the viewer shows, with what the \
            screen showed when that picture was taken, which a number drawn in its corner tells; and of the newest \
            picture with the screen once the content has rested for a second. Figures are the medians of the rounds; ratios are of each round's pair, and their median.

            Contents: static, typing, scrolling, switch, video, motion.
            """)

    @Option(help: ArgumentHelp("Contents, separated by commas.", valueName: "…"))
    var contents = ScreenContent.allCases.map(\.rawValue).joined(separator: ",")

    @OptionGroup var options: ScreenOptions

    func validate() throws {
        let _: [ScreenContent] = try ScreenOptions.choose(contents, option: "--contents")
    }

    func run() async throws {
        let report = try await ScreenBenchmark(
            options: options, contents: ScreenOptions.choose(contents, option: "--contents"), jitter: 0
        ).run()
        print(report.heading + "\n\n" + report.encodeTable + "\n\n" + report.latencyTable)
        let bars = ScreenBar.all(report.summaries)
        if !bars.isEmpty { print("\n" + ScreenBar.table(bars)) }
        try report.write(options)
    }
}

/// The delay of a change on the screen to the viewer.
struct LatencyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "latency",
        abstract: "Time changes on a real X11 screen until a viewer has decoded them, beside GStreamer.",
        discussion: """
            Runs are those of rtcbench encode, with changes at irregular instants, by the seed, so that no sender's \
            frames can be in step with them. A change is timed from when the X server has confirmed that it is \
            drawn until the viewer has decoded the first picture that shows it or a later one: a number in the picture's \
            corner tells. Percentiles are of each round's changes; the table has their medians over the rounds.
            """)

    @Option(help: ArgumentHelp("Contents, separated by commas.", valueName: "…"))
    var contents = "typing,scrolling,video,motion"

    @OptionGroup var options: ScreenOptions

    func validate() throws {
        let _: [ScreenContent] = try ScreenOptions.choose(contents, option: "--contents")
    }

    func run() async throws {
        let report = try await ScreenBenchmark(
            options: options, contents: ScreenOptions.choose(contents, option: "--contents"), jitter: 0.8
        ).run()
        print(report.heading + "\n\n" + report.latencyTable)
        try report.write(options)
    }
}

extension ScreenReport {
    /// Writes the requested files, and fails if nothing could be measured.
    fileprivate func write(_ options: ScreenOptions) throws {
        if let json = options.json { try self.json().write(to: URL(fileURLWithPath: json)) }
        if let svg = options.svg { try Data(chart.svg.utf8).write(to: URL(fileURLWithPath: svg)) }
        guard failures.isEmpty else {
            ScreenBenchmark.say("\(failures.count) runs came to nothing.")
            throw ExitCode(1)
        }
    }
}
