internal import Foundation
internal import RTCShareLocks
internal import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareSDP
import RTCShareStreams
import RTCShareTransport
internal import RTCShareVideoCoding
internal import RTCShareWireFormat

/// The receiver, the same for every sender: a connection and a decoder, which record frames and their times.
final class ScreenViewer: Sendable {
    /// A decoded frame.
    struct Seen: Sendable {
        /// The arrival time of the last of its packets.
        let arrival: Instant
        /// The time at which it was decoded.
        let decoded: Instant
        /// The tick's number in the frame; nil if it has none.
        let tick: Int?
    }

    /// A frame that was kept for a comparison.
    struct Sample: Sendable {
        let seen: Seen
        let picture: PixelBuffer
    }

    /// The total counts so far.
    struct Counts: Sendable {
        var bytes: Int64 = 0
        var packetsLost: Int64 = 0
        var keyFramesAsked: Int64 = 0
        var decodeSeconds = 0.0
    }

    private let connection: Connection
    private let record: Record

    /// Creates a viewer of a screen of this size.
    init(of screen: PixelSize) async throws {
        let record = Record(screen: screen)
        connection = try await Connection(as: .answerer, identity: try LocalIdentity(media: []))
        let connection = connection
        self.record = record
        Task {
            for await case .state(let state) in connection.signals {
                switch state {
                case .connected: record.connect()
                case .failed: record.end(await connection.failure.map { "\($0)" } ?? "the connection failed")
                case .closed: record.end("the sender said goodbye")
                default: continue
                }
            }
        }
        let media = connection.receiveMedia()
        Task {
            for await case .frameSizeChanged(_, let receiver) in media {
                guard record.begin(receiver) else { continue }
                receiver.record { if $0.isKeyFrame { record.keyFrameArrived($0.completion) } }
                do { try receiver.add(record) } catch { record.end("\(error)") }
                receiver.announced()
            }
        }
    }

    /// Sets the sender's offer, and returns the answer.
    func answer(_ offer: String) async throws -> String {
        try await connection.answer(offer: SessionDescription.parse(offer)).description
    }

    /// Keeps the current frame.
    func keepShown() { record.keepShown() }

    /// The decoded frames and, below, the kept ones and the newest one.
    var seen: [Seen] { record.seen }
    var samples: [Sample] { record.samples }
    var newest: Sample? { record.newest }
    /// The arrival times of key frames.
    var keyFrames: [Instant] { record.keyFrames }
    /// The time of the connection; nil before.
    var connected: Instant? { record.connected }
    /// The reason for the end; nil before.
    var ending: String? { record.ending }

    var counts: Counts {
        get async {
            var counts = Counts()
            let report = await connection.stats()
            counts.bytes = Int64(clamping: report.transport?.counts.bytesReceived ?? 0)
            counts.decodeSeconds = report.inboundRTP[0]?.decoder?.totalDecodeTime.seconds ?? 0
            if let video = report.inboundRTP[0]?.video {
                counts.packetsLost = Int64(video.packetsLost)
                counts.keyFramesAsked = Int64(video.pliCount + video.firCount)
            }
            return counts
        }
    }

    func close() async {
        await connection.close()
        await record.receiver?.finish()
    }
}

/// The record of the decoder's thread.
private final class Record: VideoSink {
    private struct State {
        var seen: [ScreenViewer.Seen] = []
        var samples: [ScreenViewer.Sample] = []
        var newest: ScreenViewer.Sample?
        var connected: Instant?
        var receiver: VideoReceiver?
        var keyFrames: [Instant] = []
        var ending: String?
    }

    private let state = Locked(State())
    private let screen: PixelSize

    init(screen: PixelSize) { self.screen = screen }

    func receive(_ frame: VideoFrame) {
        guard let picture = frame.buffer as? PixelBuffer else { return }
        let seen = ScreenViewer.Seen(
            arrival: Instant(nanoseconds: 0).advanced(by: frame.timestamp), decoded: MonotonicClock.now,
            tick: TickCode.read(picture, of: screen))
        let sample = ScreenViewer.Sample(seen: seen, picture: picture)
        state.withLock { state in
            state.seen.append(seen)
            state.newest = sample
        }
    }

    func keepShown() { state.withLock { state in state.samples += state.newest.map { [$0] } ?? [] } }
    func keyFrameArrived(_ time: Instant) { state.withLock { $0.keyFrames.append(time) } }

    /// Sets the receiver, and returns whether it has changed.
    func begin(_ receiver: VideoReceiver) -> Bool {
        state.withLock { state in
            defer { state.receiver = receiver }
            return state.receiver !== receiver
        }
    }

    func connect() { state.withLock { $0.connected = $0.connected ?? MonotonicClock.now } }
    func end(_ reason: String) { state.withLock { $0.ending = $0.ending ?? reason } }

    var seen: [ScreenViewer.Seen] { state.withLock { $0.seen } }
    var samples: [ScreenViewer.Sample] { state.withLock { $0.samples } }
    var newest: ScreenViewer.Sample? { state.withLock { $0.newest } }
    var connected: Instant? { state.withLock { $0.connected } }
    var keyFrames: [Instant] { state.withLock { $0.keyFrames } }
    var receiver: VideoReceiver? { state.withLock { $0.receiver } }
    var ending: String? { state.withLock { $0.ending } }
}
