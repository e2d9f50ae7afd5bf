internal import Media
internal import NetworkRuntime
internal import PeerConnection
internal import Synchronization
internal import VideoCoding
internal import WireFormat

/// The decoder of one receiver's pictures, and those who look at them.
final class TileView: Sendable {
    private struct State {
        var pipeline: VideoReceivePipeline?
        var encoded: [@Sendable (AssembledFrame) -> Void] = []
        /// What comes before a picture of its own is of no use to whoever was bound just now.
        var awaitsKeyFrame = true
    }

    private let receiver: Int
    private let connection: Connection
    private let broadcaster = VideoBroadcaster()
    private let state = Mutex(State())

    init(receiver: Int, connection: Connection) {
        self.receiver = receiver
        self.connection = connection
    }

    func bind(_ sink: any VideoSink) throws {
        if state.withLock({ $0.pipeline == nil }) {
            let pipeline = try VideoReceivePipeline(
                picture: { [broadcaster] picture, frame in
                    broadcaster.send(
                        VideoFrame(
                            buffer: picture, timestamp: .nanoseconds(frame.completion.nanoseconds),
                            rotation: VideoRotation(rawValue: frame.quarterTurns * 90) ?? .upright))
                },
                undecodable: { [weak self] in self?.requestKeyFrame() })
            state.withLock { $0.pipeline = pipeline }
        }
        broadcaster.add(sink)
        requestKeyFrameIfNeeded()
    }

    func unbind(_ sink: any VideoSink) { broadcaster.remove(sink) }

    func bind(encoded body: @escaping @Sendable (AssembledFrame) -> Void) {
        state.withLock { $0.encoded.append(body) }
        requestKeyFrameIfNeeded()
    }

    func receive(_ frame: AssembledFrame) {
        let taken = state.withLock { state -> State? in
            if frame.isKeyFrame { state.awaitsKeyFrame = false }
            return state.awaitsKeyFrame ? nil : state
        }
        guard let taken else { return }
        for body in taken.encoded { body(frame) }
        taken.pipeline?.decode(frame)
    }

    func requestKeyFrame() {
        Task { [connection, receiver] in await connection.requestKeyFrame(ofReceiver: receiver) }
    }

    /// Whoever is bound while pictures flow needs one that stands on its own. Bound from `videoTileDidAdd`, it has it.
    private func requestKeyFrameIfNeeded() {
        let isFlowing = state.withLock { state in
            defer { state.awaitsKeyFrame = true }
            return !state.awaitsKeyFrame
        }
        if isFlowing { requestKeyFrame() }
    }

    func stop() {
        let pipeline = state.withLock { state in
            defer { state = State() }
            return state.pipeline
        }
        pipeline?.stop()
        broadcaster.end(error: nil)
    }

    func complete(_ report: [StatisticsObject]) -> [StatisticsObject] {
        state.withLock { $0.pipeline }?.complete(report, receiver: receiver) ?? report
    }
}
