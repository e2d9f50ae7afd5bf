internal import Foundation
internal import RTCShareLocks
internal import RTCShareMedia
internal import RTCShareNetworkRuntime
internal import RTCSharePeerConnection
internal import RTCShareSDP
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
        let isKeyFrame: Bool
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
    private let pipeline: VideoReceivePipeline
    private let record: Record

    /// A viewer of a screen of this size.
    init(of screen: PixelSize) async throws {
        let record = Record(screen: screen)
        connection = try await Connection(as: .answerer, identity: try LocalIdentity(media: []))
        let connection = connection
        pipeline = try VideoReceivePipeline { picture, frame in
            record.add(picture, frame)
        } undecodable: {
            guard let receiver = record.receiver else { return }
            Task { await connection.requestKeyFrame(ofReceiver: receiver) }
        }
        self.record = record
        let pipeline = pipeline
        Task {
            for await event in connection.events {
                switch event {
                case .connected: record.connect()
                case .failed(let reason): record.end("\(reason)")
                case .closedByPeer: record.end("the sender said goodbye")
                default: continue
                }
            }
        }
        Task {
            for await case .frame(let frame, let receiver) in connection.media {
                record.setReceiver(receiver)
                pipeline.decode(frame)
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
    /// When the connection stood; nil before.
    var connected: Instant? { record.connected }
    /// Why nothing more comes; nil while it may.
    var ending: String? { record.ending }

    var counts: Counts {
        get async {
            var counts = Counts()
            for object in await connection.statistics() {
                switch object.type {
                case .transport: counts.bytes = object.integer("bytesReceived") ?? 0
                case .inboundRTP:
                    counts.packetsLost = object.integer("packetsLost") ?? 0
                    counts.keyFramesAsked = (object.integer("pliCount") ?? 0) + (object.integer("firCount") ?? 0)
                default: continue
                }
            }
            counts.decodeSeconds = pipeline.statistics.totalDecodeTime.seconds
            return counts
        }
    }

    func close() async {
        await connection.close()
        pipeline.end()
        await pipeline.finish()
    }
}

/// What the decoder's thread notes.
private final class Record: Sendable {
    private struct State {
        var seen: [ScreenViewer.Seen] = []
        var samples: [ScreenViewer.Sample] = []
        var newest: ScreenViewer.Sample?
        var connected: Instant?
        var receiver: Int?
        var ending: String?
    }

    private let state = Locked(State())
    private let screen: PixelSize

    init(screen: PixelSize) { self.screen = screen }

    func add(_ picture: PixelBuffer, _ frame: AssembledFrame) {
        let now = MonotonicClock.now
        let seen = ScreenViewer.Seen(
            arrival: frame.completion, decoded: now, tick: TickCode.read(picture, of: screen),
            isKeyFrame: frame.isKeyFrame)
        let sample = ScreenViewer.Sample(seen: seen, picture: picture)
        state.withLock { state in
            state.seen.append(seen)
            state.newest = sample
        }
    }

    func keepShown() { state.withLock { state in state.samples += state.newest.map { [$0] } ?? [] } }
    func setReceiver(_ index: Int) { state.withLock { $0.receiver = index } }
    func connect() { state.withLock { $0.connected = $0.connected ?? MonotonicClock.now } }
    func end(_ reason: String) { state.withLock { $0.ending = $0.ending ?? reason } }

    var seen: [ScreenViewer.Seen] { state.withLock { $0.seen } }
    var samples: [ScreenViewer.Sample] { state.withLock { $0.samples } }
    var newest: ScreenViewer.Sample? { state.withLock { $0.newest } }
    var connected: Instant? { state.withLock { $0.connected } }
    var receiver: Int? { state.withLock { $0.receiver } }
    var ending: String? { state.withLock { $0.ending } }
}
