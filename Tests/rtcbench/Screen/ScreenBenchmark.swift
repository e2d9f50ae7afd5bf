internal import Dispatch
internal import Foundation
internal import Logging
internal import RTCShareMedia

/// All runs of a command: sizes, rounds, contents, and in each of them the peers in turn.
struct ScreenBenchmark {
    let options: ScreenOptions
    let contents: [ScreenContent]
    /// The deviation of changes from a regular schedule.
    let jitter: Double

    /// Measures, reports the progress on standard error, and returns the results.
    func run() async throws -> ScreenReport {
        // The log of the viewer's connection is not for readers of the results.
        LoggingSystem.bootstrap { _ in SwiftLogNoOpLogHandler() }
        let folder = try TemporaryFolder()
        var commands = options.commands
        commands.folder = folder.path
        let interruption = Interruption(folder)
        defer {
            interruption.cancel()
            folder.remove()
        }
        let (peers, leftOut) = try usablePeers(commands)
        let processors = options.pin ? Placement.separate() : nil
        let settings = ScreenRun.Settings(
            seconds: options.seconds, warmUp: options.warmUp, bitrate: options.maxBitrate, seed: options.seed,
            jitter: jitter, samples: Int(options.seconds * 3))
        var report = ScreenReport(
            machine: MachineDescription(), settings: settings,
            peers: Dictionary(uniqueKeysWithValues: peers.map { ($0.rawValue, commands.description(of: $0)) }),
            placement: Placement.description(processors))
        report.leftOut = leftOut
        if let pictures = options.pictures {
            try FileManager.default.createDirectory(atPath: pictures, withIntermediateDirectories: true)
        }
        for size in try options.screenSizes() {
            let screen = try await VirtualScreen(size: size, folder: folder)
            report.server = screen.display.server
            let run = ScreenRun(
                settings: settings, screen: screen, commands: commands, folder: folder, processors: processors,
                pictures: options.pictures)
            for round in 1...options.rounds {
                for content in contents {
                    let moving = try moving(content, screen.display)
                    for peer in peers {
                        Self.say("\(size), round \(round) of \(options.rounds): \(content.rawValue), \(peer.name)")
                        await measure(run, content, peer, round, moving, into: &report)
                    }
                    if let upload = moving.upload { screen.display.remove(upload) }
                }
            }
            screen.server.end()
        }
        return report
    }

    /// Measures one run. A failed run is reported and skipped, because the others are still useful.
    private func measure(
        _ run: ScreenRun, _ content: ScreenContent, _ peer: ScreenPeer, _ round: Int, _ moving: ScreenRun.Moving,
        into report: inout ScreenReport
    ) async {
        do {
            report.results.append(try await run.run(content, peer, round: round, moving: moving))
        } catch {
            Self.say("\(error)")
            report.failures.append("\(error)")
        }
    }

    private func moving(_ content: ScreenContent, _ display: ContentDisplay) throws -> ScreenRun.Moving {
        let pictures = MovingPictures(for: content, screen: display.size, seed: options.seed)
        return ScreenRun.Moving(
            pictures: pictures, upload: pictures.pictures.isEmpty ? nil : try display.upload(pictures))
    }

    /// Returns the peers that can be measured here, and the reasons for the others.
    private func usablePeers(_ commands: PeerCommands) throws -> (peers: [ScreenPeer], leftOut: [String]) {
        var leftOut: [String] = []
        let peers = try options.chosenPeers().filter { peer in
            guard let obstacle = commands.obstacle(peer) else { return true }
            if peer == .ours { throw BenchmarkFailure(obstacle) }
            leftOut.append("\(peer.name) is left out: \(obstacle)")
            return false
        }
        return (peers, leftOut)
    }

    static func say(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }
}

/// The assignment of processors to senders.
enum Placement {
    /// Excludes this process, and the X server that it starts, from one processor, which is for senders; nil if there
    /// is only one.
    static func separate() -> [Int]? {
        let all = Processors.ofThisProcess
        guard all.count > 1, let last = all.last, Processors.keepThisProcess(to: all.dropLast()) else { return nil }
        return [last]
    }

    static func description(_ processors: [Int]?) -> String {
        guard let processors else { return "Senders share the processors with the X server and the viewer." }
        return
            "Senders have processor \(processors.map(String.init).joined(separator: ", ")) for themselves; X server, "
            + "content and viewer have the others."
    }
}

/// Handles Ctrl-C and termination: ends everything that was started.
final class Interruption {
    private let sources: [any DispatchSourceSignal]
    private let queue = DispatchQueue(label: "rtcbench.interruption")

    init(_ folder: TemporaryFolder) {
        sources = [SIGINT, SIGTERM].map { [queue] number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                ChildProcess.endAll()
                folder.remove()
                _exit(128 + number)
            }
            source.resume()
            return source
        }
        // If a sender has ended, writing the answer to it is an error of that write.
        signal(SIGPIPE, SIG_IGN)
    }

    /// Stops handling signals. Does not return after one has arrived, so that the end of a program is not reported as
    /// its own failure.
    func cancel() {
        for source in sources { source.cancel() }
        // After a handler that has started, which ends the process.
        queue.sync {}
    }
}
