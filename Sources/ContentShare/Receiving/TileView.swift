internal import RTCShareLocks
internal import RTCShareMedia
internal import RTCShareNetworkRuntime
internal import RTCSharePeerConnection
internal import RTCShareVideoCoding
internal import RTCShareWireFormat

/// The decoder of one receiver's pictures, and those who look at them.
final class TileView: Sendable {
    private struct State {
        var pipeline: VideoReceivePipeline?
        /// What comes before a picture of its own is of no use to a decoder that is new, or that missed something.
        var decoderAwaitsKeyFrame = true
        var encoded: [Recipient] = []
        /// Whether the key frame that began the tile went by.
        var hasBegun = false
        var isStopped = false

        /// Whether a sink needs another decoder.
        var takesPipeline: Bool { pipeline == nil && !isStopped }
    }

    /// Somebody who takes encoded frames, from the first that stands on its own.
    private struct Recipient {
        let body: @Sendable (AssembledFrame) -> Void
        var awaitsKeyFrame = true
    }

    private let receiver: Int
    /// Asks the sender for a key frame.
    let requestKeyFrame: @Sendable () -> Void
    private let broadcaster = VideoBroadcaster()
    private let state = Locked(State())

    init(receiver: Int, requestKeyFrame: @escaping @Sendable () -> Void) {
        self.receiver = receiver
        self.requestKeyFrame = requestKeyFrame
    }

    /// Gives `sink` what is decoded from now on. `isBeginning`: the key frame that begins the tile is about to be given.
    func bind(_ sink: any VideoSink, isBeginning: Bool) throws(VideoCodingError) {
        broadcaster.add(sink)
        // A decoder that runs already gives the next picture to this sink too, and those before it miss nothing.
        guard state.withLock({ $0.takesPipeline }) else { return }
        // Its thread begins with no lock held. If two sinks come at once, the second one's is released.
        let pipeline = try makePipeline()
        let needsKeyFrame = state.withLock { state in
            guard state.takesPipeline else { return false }
            state.pipeline = pipeline
            state.decoderAwaitsKeyFrame = true
            return state.hasBegun || !isBeginning
        }
        if needsKeyFrame { requestKeyFrame() }
    }

    func unbind(_ sink: any VideoSink) { broadcaster.remove(sink) }

    /// Tells the sinks whether the picture stands still.
    func setPaused(_ isPaused: Bool) { broadcaster.isMuted = isPaused }

    func bind(encoded body: @escaping @Sendable (AssembledFrame) -> Void, isBeginning: Bool) {
        let needsKeyFrame = state.withLock { state in
            state.encoded.append(Recipient(body: body))
            return state.hasBegun || !isBeginning
        }
        if needsKeyFrame { requestKeyFrame() }
    }

    private func makePipeline() throws(VideoCodingError) -> VideoReceivePipeline {
        try VideoReceivePipeline(
            picture: { [broadcaster] picture, frame in
                broadcaster.send(
                    VideoFrame(
                        buffer: picture, timestamp: .nanoseconds(frame.completion.nanoseconds),
                        rotation: VideoRotation(rawValue: frame.quarterTurns * 90) ?? .upright,
                        captureTime: frame.captureTime))
            },
            undecodable: requestKeyFrame)
    }

    func receive(_ frame: AssembledFrame) {
        let (pipeline, bodies) = state.withLock { state in
            if frame.isKeyFrame {
                state.hasBegun = true
                state.decoderAwaitsKeyFrame = false
                for index in state.encoded.indices { state.encoded[index].awaitsKeyFrame = false }
            }
            return (
                state.decoderAwaitsKeyFrame ? nil : state.pipeline,
                state.encoded.filter { !$0.awaitsKeyFrame }.map(\.body)
            )
        }
        for body in bodies { body(frame) }
        pipeline?.decode(frame)
    }

    /// Frames are left out from here on: what builds on them is of no use until a key frame comes.
    func skip() {
        state.withLock { state in
            state.decoderAwaitsKeyFrame = true
            for index in state.encoded.indices { state.encoded[index].awaitsKeyFrame = true }
        }
    }

    /// Gives the sinks the pictures of the frames that wait, and then their end. Does not wait for that.
    /// - Returns: The decoder, whose `finish` waits; nil if there is none.
    @discardableResult
    func end() -> VideoReceivePipeline? {
        let pipeline = state.withLock { state in
            defer { state = State(isStopped: true) }
            return state.pipeline
        }
        if let pipeline { pipeline.end { [self] in endSinks() } } else { endSinks() }
        return pipeline
    }

    /// Gives the sinks their end, and nothing after it.
    func endSinks() {
        broadcaster.end(error: nil)
        broadcaster.removeAll()
    }

    func complete(_ report: [StatisticsObject]) -> [StatisticsObject] {
        state.withLock { $0.pipeline }?.complete(report, receiver: receiver) ?? report
    }
}
