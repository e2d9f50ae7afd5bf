internal import Dispatch
internal import Foundation
internal import Logging
internal import RTCShareMedia

/// All runs of a command: sizes, rounds, contents, and in each of them the peers in turn.
struct ScreenBenchmark {
    let options: ScreenOptions
    let contents: [ScreenContent]
    /// How far changes stray from a regular beat.
    let jitter: Double

    /// Measures, says on standard error how far it is, and gives what was found.
    func run() async throws -> ScreenReport {
        // What the viewer's connection has to say of each path is not for whoever waits for figures.
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

    /// A run that fails is told and left out: the others are worth having.
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

    /// Who can be measured here, and what is to be said of the others.
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

/// Which processors senders have for themselves.
enum Placement {
    /// Keeps this process, and the X server that it starts, off one processor, which is for senders; nil where there is but
    /// one.
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

/// Ctrl-C, or a request to end: nothing that was started stays.
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
        // A sender that ended reads no answer: that is an error of the write.
        signal(SIGPIPE, SIG_IGN)
    }

    /// Watches for none any more. Does not return once one came: that a program is gone is then no failure of its own.
    func cancel() {
        for source in sources { source.cancel() }
        // Behind one that has begun, which ends the process.
        queue.sync {}
    }
}
