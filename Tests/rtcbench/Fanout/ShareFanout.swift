internal import Foundation
internal import RTCShareCProcess
internal import RTCShareContentShare
internal import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareSDP
import RTCShareTransport
internal import RTCShareWireFormat

/// A share of the library itself to a room of viewers in another process: sessions, one encoder and its frames.
final class ShareFanout {
    /// The results of a room with so many viewers.
    struct Stage: Codable {
        let viewers: Int
        let eventLoops: Int
        /// The share of a processor that the sharing process used and, below, the kernel's part of that.
        let processorShare: Double
        let kernelShare: Double
        let packetsPerSecond: Int
        /// The processor time per packet in microseconds, including the encoder.
        let microsecondsPerPacket: Double
        let packetsLost: Int
        /// The time from the call that adds a viewer until the viewer is connected, in milliseconds.
        let join50: Double
        let joinMost: Double
        /// The time in which the room lists its viewers, in milliseconds.
        let list50: Double
        let listMost: Double
        let residentBytes: Int
        let connectionsFailed: Int

        static let heading =
            "viewers  loops  packets/s  each   core  kernel  us/packet  lost  failed  join, ms: 50%  most  list, ms: 50%  most     MiB"

        var row: String {
            String(
                format: "%7d  %5d  %9d  %4.1f  %5.3f  %6.3f  %9.2f  %4d  %6d  %13.1f  %4.0f  %13.3f  %5.2f  %5.1f",
                viewers, eventLoops, packetsPerSecond, Double(packetsPerSecond) / Double(max(1, viewers)),
                processorShare, kernelShare, microsecondsPerPacket, packetsLost, connectionsFailed, join50, joinMost,
                list50, listMost, Double(residentBytes) / 1_048_576)
        }
    }

    private let room: SharingRoom
    private let ports: SharedPorts
    private let eventLoops: Int
    private let crowd: CrowdProcess
    private let source: Task<Void, Never>
    private var joins: [Double] = []

    /// The time in seconds before a measurement: the estimators start, and memory is allocated once.
    private static let settling = 5.0
    /// The number of viewers that join at the same time.
    private static let group = 32

    /// Shares video that uses the full bitrate; there are no viewers yet.
    init(crowd: CrowdProcess, kilobitsPerSecond: Int, eventLoops: Int) async throws {
        self.crowd = crowd
        self.eventLoops = eventLoops
        ports = try await SharedPorts(addresses: [.v4(0x7F00_0001)], count: eventLoops)
        room = try SharingRoom(owner: AttendeeID("bench"), ports: ports)
        let video = PushVideoSource()
        source = Self.play(SteadyContent(.motion, size: PixelSize(width: 320, height: 180)), to: video)
        try await room.contentShare.start(
            source: video,
            parameters: VideoEncodingParameters(
                maxBitrate: .kilobitsPerSecond(kilobitsPerSecond), contentHint: .motion))
    }

    private static func play(_ pictures: SteadyContent, to source: PushVideoSource) -> Task<Void, Never> {
        Task {
            var (index, next) = (0, ContinuousClock.now)
            while !Task.isCancelled {
                source.capture(pictures.frame(index, timestamp: .nanoseconds(MonotonicTime.now.nanoseconds)))
                index += 1
                next += .nanoseconds(1_000_000_000 / FanoutFrames.framesPerSecond)
                try? await Task.sleep(until: next, clock: .continuous)
            }
        }
    }

    /// Adds viewers until there are so many, a group at a time.
    func grow(to count: Int) async throws {
        joins = []
        var known = await room.viewers.count
        while known < count {
            var connecting: [(session: AttendeeSession, start: Instant)] = []
            for index in known..<min(count, known + Self.group) {
                let start = MonotonicTime.now
                connecting.append((try await join(index), start))
            }
            for (session, start) in connecting {
                for await state in await session.states where state == .connected || state.isOver { break }
                guard await session.state == .connected else { throw BenchmarkFailure("a viewer could not connect") }
                joins.append((MonotonicTime.now - start).milliseconds)
            }
            known += connecting.count
        }
    }

    private func join(_ index: Int) async throws -> AttendeeSession {
        var configuration = Connection.Configuration()
        configuration.releasesHandshake = true
        let session = try await room.addViewer(configuration: configuration).session
        let offer = try await session.connection.makeOffer()
        try crowd.send(.offer(index: index, description: offer.description))
        guard case .answer(_, let description, _) = try crowd.reply() else {
            throw BenchmarkFailure("the viewers answered out of turn")
        }
        try await session.connection.accept(answer: SessionDescription.parse(description), to: offer)
        return session
    }

    /// Measures the room for so long, and lists its viewers each second.
    func measure(seconds: Double) async throws -> Stage {
        let expected = await room.viewers.count
        try await Task.sleep(for: .seconds(Self.settling))
        try crowd.send(.reset)
        let (used, start) = (ProcessorTime.now, MonotonicTime.now)
        var (lists, present): ([Double], Int) = ([], expected)
        while (MonotonicTime.now - start).seconds < seconds {
            let asked = MonotonicTime.now
            present = await room.viewers.count
            lists.append((MonotonicTime.now - asked).milliseconds)
            try await Task.sleep(for: .seconds(1))
        }
        let elapsed = (MonotonicTime.now - start).seconds
        let time = ProcessorTime.now - used
        let counted = try crowd.report()
        memory_trim()
        return Stage(
            viewers: expected, eventLoops: eventLoops, processorShare: Double(time.total) / 1e9 / elapsed,
            kernelShare: Double(time.kernel) / 1e9 / elapsed, packetsPerSecond: Int(Double(counted.packets) / elapsed),
            microsecondsPerPacket: Double(time.total) / 1e3 / Double(max(1, counted.packets)),
            packetsLost: counted.lost, join50: Self.middle(joins), joinMost: joins.max() ?? 0,
            list50: Self.middle(lists), listMost: lists.max() ?? 0, residentBytes: Machine.residentByteCount,
            connectionsFailed: expected - present)
    }

    private static func middle(_ values: [Double]) -> Double {
        values.isEmpty ? 0 : values.sorted()[values.count / 2]
    }

    func close() async {
        await room.end()
        source.cancel()
        await ports.close()
    }
}
