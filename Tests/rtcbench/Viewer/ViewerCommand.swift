internal import ArgumentParser
internal import Foundation
internal import Logging
internal import RTCShareMedia

/// The video that a real receiver shows, second by second, from rtcshare and from Chromium.
struct ViewerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "viewer",
        abstract: "See second by second what a real receiver shows of a shared screen, beside Chromium as its sender.",
        discussion: """
            A run is an X server of the benchmark's own (Xvfb) with a content that people share, a sender of its screen \
            (rtcshare send, or getDisplayMedia of a Chromium on that X server), a receiver (a headless Chromium, or \
            aiortc), and NetworkRelay between them, which is built with the tests. Senders take turns, with the same \
            content of the same seed, before the same receiver, over the same path, at the same bitrate cap.

            Seconds count from the connection on, when the content begins. SSIM and PSNR are of luma (libyuv's), \
            three times a second, of what the receiver's screen shows with what the sender's screen shows at that same \
            time: lateness counts. "own" are those with what the screen showed at the change that the picture is of, \
            which a number drawn in its corner tells. A freeze is W3C's, by the receiver's rule, of the pictures shown; \
            a stall is the time for which a picture stood that was no longer true. Latency is from the change to its \
            picture on the receiver's screen. CPU is of a core, of the sender with all its processes.

            Senders: \(ViewerCase.Sender.allCases.map(\.rawValue).joined(separator: ", ")).

            Contents: \(SharedContent.allCases.map(\.rawValue).joined(separator: ", ")).

            Paths: clean, or parts with hyphens between: 40ms (each way), j5 (jitter, ms), 2% (loss, each way), bursts or \
            bursts8 (losses four or eight in a row, in the mean), 2000kbps, q200 (queue, ms; 300 by default).
            """)

    @Option(help: ArgumentHelp("Contents, separated by commas; all for all.", valueName: "…"))
    var contents = "mixed"

    @Option(help: ArgumentHelp("The file of the content video. FFmpeg reads it.", valueName: "file"))
    var video: String?

    @Option(help: ArgumentHelp("Senders, separated by commas.", valueName: "…"))
    var senders = "ours,chromium"

    @Option(help: ArgumentHelp("Who receives: chromium, aiortc.", valueName: "…"))
    var receivers = "chromium"

    @Option(help: ArgumentHelp("Paths, separated by commas.", valueName: "…"))
    var paths = "clean"

    @Option(
        help: ArgumentHelp("The most that a sender's pictures may take, separated by commas.", valueName: "kbit/s,…"))
    var bitrates = "1500"

    @Option(help: ArgumentHelp("The screen's size.", valueName: "WxH"))
    var size = "1920x1080"

    @Option(help: ArgumentHelp("How long each run is judged.", valueName: "s"))
    var seconds = 20

    @Option(help: "Pictures of the receiver's screen that are judged, a second.")
    var samples = 3

    @Option(help: "Rounds; each has every case with every sender.")
    var rounds = 1

    @Option(help: "The content hint of the track: text, detail, motion, none.")
    var hint = "detail"

    @Option(help: "Where randomness begins: texts, times, pictures, losses.")
    var seed: UInt64 = 1

    @OptionGroup var programs: ViewerPrograms

    @Option(help: ArgumentHelp("More options for rtcshare send, separated by spaces.", valueName: "options"))
    var oursWith = ""

    @Option(help: "What these runs are called in the history.")
    var label = ""

    @Option(help: ArgumentHelp("Append each run to a file, as a line of JSON, when it has ended.", valueName: "file"))
    var history: String?

    @Flag(name: .customLong("continue"), help: "Leave out runs that the history has of this label and commit.")
    var continues = false

    @Option(help: ArgumentHelp("Measure nothing: print what a history holds.", valueName: "file"))
    var show: String?

    @Flag(help: "Print no table of each run's seconds.")
    var brief = false

    @Option(help: ArgumentHelp("Draw the seconds of each pair, the newest of each sender.", valueName: "file"))
    var svg: String?

    @Option(
        help: ArgumentHelp(
            "Keep of each second the receiver's picture, beside the screen at that time, where they differ most.",
            valueName: "folder"))
    var pictures: String?

    func validate() throws {
        _ = try plans()
        _ = try screenSize()
        guard seconds >= 1, samples >= 1, rounds >= 1 else {
            throw ValidationError("give at least one second, one picture a second and one round")
        }
        guard ["text", "detail", "motion", "none"].contains(hint) else {
            throw ValidationError("--hint \(hint): choose among text, detail, motion, none")
        }
        guard try video != nil || !plans().contains(where: { $0.content == .video }) else {
            throw ValidationError("--contents video needs a --video")
        }
        guard !continues || history != nil else { throw ValidationError("--continue goes on with a --history") }
    }

    private func screenSize() throws -> PixelSize { try ScreenOptions.size(size, option: "--size") }

    /// Returns all runs in order: compared ones follow each other.
    private func plans() throws -> [ViewerCase] {
        let contents: [SharedContent] =
            contents == "all"
            ? SharedContent.allCases.filter { $0 != .video || video != nil }
            : try ScreenOptions.choose(contents, option: "--contents")
        let senders: [ViewerCase.Sender] = try ScreenOptions.choose(senders, option: "--senders")
        let receivers: [ViewerCase.Receiver] = try ScreenOptions.choose(receivers, option: "--receivers")
        let paths = try paths.split(separator: ",").map { name in
            guard let path = ViewerPath(name: String(name)) else {
                throw ValidationError("--paths \(name): give clean, or parts such as 40ms-2%-bursts")
            }
            return path
        }
        let bitrates = try bitrates.split(separator: ",").map { text in
            guard let bitrate = Int(text), (100...50_000).contains(bitrate) else {
                throw ValidationError("--bitrates \(text): give 100 to 50000 kbit/s")
            }
            return bitrate
        }
        var plans: [ViewerCase] = []
        for round in 1...max(1, rounds) {
            for content in contents {
                for path in paths {
                    for bitrate in bitrates {
                        for receiver in receivers {
                            plans += senders.map { sender in
                                ViewerCase(
                                    content: content, sender: sender, receiver: receiver, path: path, bitrate: bitrate,
                                    size: size, seconds: seconds, samples: samples, hint: hint, seed: seed,
                                    oursWith: sender.isOurs ? oursWith : "", round: round)
                            }
                        }
                    }
                }
            }
        }
        return plans
    }

    func run() async throws {
        if let show {
            let records = try ViewerHistory(path: show).read()
            print(ViewerReport(records: records).text(brief: brief))
            try draw(records)
            return
        }
        // The log of a connection is not for readers of the results.
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
        let (records, failures) = try await measure(folder)
        print(MachineDescription())
        print(ViewerReport(records: records).summary)
        try draw(records)
        guard failures == 0 else {
            ScreenBenchmark.say("\(failures) runs came to nothing.")
            throw ExitCode(1)
        }
    }

    private func measure(_ folder: TemporaryFolder) async throws -> (records: [ViewerRecord], failures: Int) {
        let kept = history.map(ViewerHistory.init)
        let commit = ViewerPrograms.commit
        var records: [ViewerRecord] = []
        if let kept, continues, FileManager.default.fileExists(atPath: kept.path) {
            records = try kept.read().filter {
                $0.origin.label == label && (!$0.plan.sender.isOurs || $0.origin.commit == commit)
            }
        }
        let plans = try plans().filter { plan in !records.contains { $0.plan == plan } }
        let screen = try await VirtualScreen(size: try screenSize(), folder: folder)
        let buffer = try screen.display.makeBuffer()
        let run = ViewerRun(
            tools: programs.tools, screen: screen, folder: folder, label: label, commit: commit, pictures: pictures)
        var prepared: PreparedContent?
        var failures = 0
        for (index, plan) in plans.enumerated() {
            ScreenBenchmark.say(
                "\(index + 1) of \(plans.count): \(plan.sender.name), \(plan.title), round \(plan.round)")
            if prepared?.content != plan.content {
                if let upload = prepared?.upload { screen.display.remove(upload) }
                prepared = try PreparedContent(
                    plan.content, seed: seed, video: video, buffer: buffer, on: screen.display)
            }
            guard let prepared else { continue }
            do {
                let record = try await run.run(plan, prepared)
                try kept?.append(record)
                records.append(record)
                if !brief { print(ViewerReport.table(of: record) + "\n") }
            } catch {
                // The other runs are still useful.
                ScreenBenchmark.say("\(error)")
                failures += 1
            }
        }
        screen.server.end()
        return (records, failures)
    }

    private func draw(_ records: [ViewerRecord]) throws {
        guard let svg else { return }
        try Data(ViewerReport(records: records).chart.svg.utf8).write(to: URL(fileURLWithPath: svg))
    }
}
