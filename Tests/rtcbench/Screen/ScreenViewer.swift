internal import Foundation
internal import RTCShareLocks
internal import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareSDP
import RTCShareStreams
import RTCShareTransport
internal import RTCShareVideoCoding
internal import RTCShareWireFormat

/// The receiving end, the same for every sender: a connection and a decoder, which note what comes and when.
final class ScreenViewer: Sendable {
    /// A picture that was decoded.
    struct Seen: Sendable {
        /// When the last of its packets came.
        let arrival: Instant
        /// When it was decoded.
        let decoded: Instant
        /// The number that it shows; nil where it shows none.
        let tick: Int?
    }

    /// A picture that was kept, to be compared with what it should show.
    struct Sample: Sendable {
        let seen: Seen
        let picture: PixelBuffer
    }

    /// What has come so far, in all.
    struct Counts: Sendable {
        var bytes: Int64 = 0
        var packetsLost: Int64 = 0
        var keyFramesAsked: Int64 = 0
        var decodeSeconds = 0.0
    }

    private let connection: Connection
    private let record: Record

    /// A viewer of a screen of this size.
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

    /// Takes the sender's offer, and gives the answer.
    func answer(_ offer: String) async throws -> String {
        try await connection.answer(offer: SessionDescription.parse(offer)).description
    }

    /// Keeps the picture that is shown now.
    func keepShown() { record.keepShown() }

    /// What was decoded, what was kept of it, and the newest picture.
    var seen: [Seen] { record.seen }
    var samples: [Sample] { record.samples }
    var newest: Sample? { record.newest }
    /// When key frames arrived.
    var keyFrames: [Instant] { record.keyFrames }
    /// When the connection stood; nil before.
    var connected: Instant? { record.connected }
    /// Why nothing more comes; nil while it may.
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

/// What the decoder's thread notes.
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

    /// Returns whether it is another receiver than before.
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
