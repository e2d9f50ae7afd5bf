internal import ArgumentParser
internal import Foundation
internal import RTCShareContentShare
internal import RTCShareLocks
internal import RTCShareMedia
internal import RTCShareSignaling
import RTCShareTransport
internal import RTCShareWireFormat

/// A share with a link: its cost without viewers, and the time until a viewer sees it.
struct LinkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "link",
        abstract: "Measure what rtcshare serve costs without viewers, and how soon one who comes sees the picture.",
        discussion: """
            A run is rtcshare serve over loopback. First nobody looks, and its processor time is read from /proc, in thousandths \
            of a core. Then players of the library come one after the other: from their request until the first decoded \
            picture. At last a crowd comes within a second and leaves within another, again and again, while one stays: the             longest time without a picture that it saw, and what the server has open before and after.
            """)

    @Option(help: ArgumentHelp("What to share; as for rtcshare serve.", valueName: "spec")) var source = "test"

    @Option(help: ArgumentHelp("Its sound, or none.", valueName: "spec")) var audio = "tone"

    @Option(help: ArgumentHelp("How long nobody looks.", valueName: "seconds")) var seconds: Double = 20

    @Option(help: ArgumentHelp("How many players come.", valueName: "n")) var viewers = 5

    @Option(help: ArgumentHelp("How many come at once; 0 for none.", valueName: "n")) var crowd = 50

    @Option(help: ArgumentHelp("How often they come.", valueName: "n")) var times = 10

    @Option(help: ArgumentHelp("The rtcshare to measure. By default the one beside this program.", valueName: "path"))
    var executable: String?

    func validate() throws {
        guard (1...600).contains(seconds) else { throw ValidationError("--seconds \(seconds): give 1 to 600") }
        guard (1...100).contains(viewers) else { throw ValidationError("--viewers \(viewers): give 1 to 100") }
        guard (0...90).contains(crowd) else { throw ValidationError("--crowd \(crowd): give 0 to 90") }
        guard (1...100).contains(times) else { throw ValidationError("--times \(times): give 1 to 100") }
    }

    func run() async throws {
        let own = URL(filePath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        let program = executable ?? own.deletingLastPathComponent().appending(path: "rtcshare").path
        let folder = try TemporaryFolder()
        let share = try ChildProcess(
            [
                program, "serve", "--no-qr", "--no-control", "--listen", "127.0.0.1:0", "--bind", "127.0.0.1",
                "--source",
                source, "--audio", audio,
            ], environment: ProcessInfo.processInfo.environment, log: folder.file("serve.log"), processors: nil)
        defer { share.end() }
        let link = try await share.read(lineOnly: true, within: .seconds(20))
        // The cost of the start must not be part of the idle cost.
        try await Task.sleep(for: .seconds(2))
        let before = try share.processorNanoseconds()
        try await Task.sleep(for: .seconds(seconds))
        let used = Double(try share.processorNanoseconds() - before) / 1e9
        print(String(format: "without viewers: %.2f thousandths of a core", used / seconds * 1000))
        let url = link.trimmingCharacters(in: .whitespacesAndNewlines)
        var times: [Double] = []
        for _ in 0..<viewers {
            // A viewer that joins right after another shares its key frame, or waits for the next.
            try await Task.sleep(for: .seconds(2))
            times.append(try await Self.firstPicture(of: url))
        }
        let all = times.map { String(format: "%.0f", $0) }.joined(separator: " ")
        print(String(format: "first picture after: %.0f ms (median of \(all))", times.sorted()[times.count / 2]))
        if crowd > 0 { try await meetCrowd(url, share) }
    }

    private func meetCrowd(_ url: String, _ share: ChildProcess) async throws {
        let stays = try await Self.player(of: url)
        let sink = PictureGaps()
        await stays.session.tiles.bind(sink, to: .content)
        try await stays.start()
        try await Task.sleep(for: .seconds(3))
        let before = try share.descriptorCount()
        sink.reset()
        let crowd = crowd
        for _ in 0..<times {
            try await withThrowingDiscardingTaskGroup { group in
                for number in 0..<crowd {
                    group.addTask {
                        try await Task.sleep(for: .seconds(1) * number / crowd)
                        let player = try await Self.player(of: url)
                        try await player.start()
                        try await Task.sleep(for: .seconds(1))
                        await player.leave()
                    }
                }
            }
        }
        let gap = sink.longest / .milliseconds(1)
        await stays.leave()
        try await Task.sleep(for: .seconds(5))
        let words = try String(contentsOfFile: share.log, encoding: .utf8).split(separator: "\n")
        let (came, left) = (words.count { $0.hasSuffix(" is connected.") }, words.count { $0.hasSuffix(" left.") })
        print(
            String(
                format: "%d times %d viewers: longest time without a picture %.0f ms for who stayed; ", times, crowd,
                gap)
                + "\(came) came, \(left) left; \(before) descriptors with one viewer, \(try share.descriptorCount()) with none"
        )
    }

    static func player(of link: String) async throws -> WHEPPlayer {
        var configuration = Connection.Configuration()
        configuration.addresses = [.v4(0x7F00_0001)]
        return try await WHEPPlayer(url: link, as: AttendeeID("viewer"), configuration: configuration)
    }

    /// Returns the milliseconds from the request to the first decoded frame.
    private static func firstPicture(of link: String) async throws -> Double {
        let player = try await player(of: link)
        let (pictures, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let sink = FirstPicture(continuation)
        await player.session.tiles.bind(sink, to: .content)
        let begin = ContinuousClock.now
        try await player.start()
        for await _ in pictures { break }
        let time = ContinuousClock.now - begin
        await player.leave()
        return time / .milliseconds(1)
    }
}

extension ChildProcess {
    /// Returns the processor time of all threads of the program so far, in nanoseconds.
    fileprivate func processorNanoseconds() throws -> Int64 {
        var clock = clockid_t()
        var time = timespec()
        guard clock_getcpuclockid(pid, &clock) == 0, clock_gettime(clock, &time) == 0 else {
            throw BenchmarkFailure("the program has ended: \(lastWords)")
        }
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Returns the number of open descriptors of the program.
    fileprivate func descriptorCount() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count
    }
}

/// Measures the longest time between two frames.
private final class PictureGaps: VideoSink {
    private let state = Locked((last: ContinuousClock.Instant?.none, longest: Duration.zero))

    var longest: Duration { state.withLock { $0.longest } }

    func reset() { state.withLock { $0.longest = .zero } }

    func receive(_ frame: VideoFrame) {
        let now = ContinuousClock.now
        state.withLock { state in
            if let last = state.last { state.longest = max(state.longest, now - last) }
            state.last = now
        }
    }
}

/// Reports each frame.
private final class FirstPicture: VideoSink {
    private let continuation: AsyncStream<Void>.Continuation

    init(_ continuation: AsyncStream<Void>.Continuation) { self.continuation = continuation }

    func receive(_ frame: VideoFrame) { continuation.yield() }
}
