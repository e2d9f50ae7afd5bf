internal import Dispatch
internal import Glibc
internal import RTCShareLocks
package import RTCShareMedia
package import RTCSharePeerConnection
package import RTCShareVideoCoding
internal import RTCShareWireFormat

/// From assembled frames to pictures: decodes on a thread of its own, so that the network never waits for a decoder.
package final class VideoReceivePipeline: Sendable {
    /// What was decoded, under the names of W3C webrtc-stats (`RTCInboundRtpStreamStats`).
    package struct Statistics: Sendable {
        /// Frames that became pictures.
        package internal(set) var framesDecoded: UInt64 = 0
        /// Those of them that decode on their own.
        package internal(set) var keyFramesDecoded: UInt64 = 0
        /// Frames that the decoder could make nothing of.
        package internal(set) var framesDropped: UInt64 = 0
        /// The time that decoding took.
        package internal(set) var totalDecodeTime = Duration.zero
        /// The sum of the frames' quantizers.
        package internal(set) var qpSum: UInt64 = 0
        /// The newest picture's size.
        package internal(set) var size: PixelSize?
        /// The times between pictures.
        var delays = InterFrameDelays()
    }

    private let decoding: Decoding

    /// A pipeline that runs until ``stop()``, or until it is let go of. On its thread it calls `picture` with each decoded
    /// picture; `undecodable` is called there, or where frames are given, when a key frame is needed to go on.
    package init(
        picture: @escaping @Sendable (PixelBuffer, AssembledFrame) -> Void,
        undecodable: @escaping @Sendable () -> Void
    ) throws(VideoCodingError) {
        decoding = try Decoding(picture: picture, undecodable: undecodable)
        // The thread holds what it decodes with, and not the pipeline, which ends it.
        let decoding = decoding
        try CodingThread.start { decoding.run() }
    }

    deinit {
        decoding.stop()
    }

    /// Takes a frame, in decode order, from any thread.
    package func decode(_ frame: AssembledFrame) { decoding.decode(frame) }

    /// What was decoded so far.
    package var statistics: Statistics { decoding.statistics }

    /// Decodes what was taken, and returns when the thread has ended; called from `picture` or `undecodable`, at once.
    package func stop() {
        decoding.stop()
        decoding.waitUntilEnded()
    }

    /// Completes a connection's report with what was decoded of its receiver of this index.
    package func complete(_ report: [StatisticsObject], receiver: Int) -> [StatisticsObject] {
        let statistics = statistics
        return report.map { object in
            guard object.id == StatisticsObject.inboundID(receiver: receiver) else { return object }
            var object = object
            object.set("framesDecoded", statistics.framesDecoded)
            object.set("keyFramesDecoded", statistics.keyFramesDecoded)
            object.set(
                "framesDropped", (object.integer("framesDropped") ?? 0) + Int64(clamping: statistics.framesDropped))
            object.set("totalDecodeTime", seconds: statistics.totalDecodeTime)
            object.set("qpSum", statistics.qpSum)
            object.set("frameWidth", statistics.size?.width)
            object.set("frameHeight", statistics.size?.height)
            object.set("freezeCount", statistics.delays.freezeCount)
            object.set("totalFreezesDuration", seconds: statistics.delays.totalFreezesDuration)
            object.set("pauseCount", statistics.delays.pauseCount)
            object.set("totalPausesDuration", seconds: statistics.delays.totalPausesDuration)
            object.set("totalInterFrameDelay", seconds: statistics.delays.total)
            object.set("totalSquaredInterFrameDelay", statistics.delays.totalSquared)
            object.set("decoderImplementation", "libvpx")
            return object
        }
    }
}

/// The decoder, its thread's work, and the frames that wait for it.
private final class Decoding: Sendable {
    private struct State {
        private(set) var queue: [AssembledFrame] = []
        private var queuedBytes = 0
        var isStopped = false
        /// What was taken or decoded last is no base for what follows.
        var awaitsKeyFrame = false
        var statistics = VideoReceivePipeline.Statistics()
        var thread: pthread_t?

        /// Takes a frame. True where there was no room for it beside those that waited, which are dropped.
        mutating func append(_ frame: AssembledFrame) -> Bool {
            let overflows =
                queue.count >= Decoding.maximumQueue
                || !queue.isEmpty && queuedBytes + frame.data.count > Decoding.maximumQueueBytes
            if overflows {
                statistics.framesDropped += UInt64(queue.count)
                queue.removeAll()
                queuedBytes = 0
                awaitsKeyFrame = true
            }
            queue.append(frame)
            queuedBytes += frame.data.count
            return overflows
        }

        /// The next frame that can be decoded; those before it are dropped.
        mutating func takeNext() -> AssembledFrame? {
            while !queue.isEmpty {
                let frame = queue.removeFirst()
                queuedBytes -= frame.data.count
                if frame.isKeyFrame { awaitsKeyFrame = false }
                if !awaitsKeyFrame { return frame }
                statistics.framesDropped += 1
            }
            return nil
        }
    }

    /// Used on the thread alone.
    private nonisolated(unsafe) let decoder: VP8Decoder
    private let state = Locked(State())
    private let wake = DispatchSemaphore(value: 0)
    private let hasEnded = DispatchGroup()
    private let picture: @Sendable (PixelBuffer, AssembledFrame) -> Void
    private let undecodable: @Sendable () -> Void
    /// A decoder that falls this far behind begins anew at the next key frame.
    private static let maximumQueue = 60
    /// The same in bytes, whatever the frames' sizes are.
    private static let maximumQueueBytes = 16 << 20

    init(
        picture: @escaping @Sendable (PixelBuffer, AssembledFrame) -> Void,
        undecodable: @escaping @Sendable () -> Void
    ) throws(VideoCodingError) {
        decoder = try VP8Decoder()
        self.picture = picture
        self.undecodable = undecodable
        hasEnded.enter()
    }

    var statistics: VideoReceivePipeline.Statistics { state.withLock { $0.statistics } }

    func decode(_ frame: AssembledFrame) {
        let isBehind = state.withLock { state in
            guard !state.isStopped else { return false }
            return state.append(frame) && !frame.isKeyFrame
        }
        if isBehind { undecodable() }
        wake.signal()
    }

    func stop() {
        state.withLock { $0.isStopped = true }
        wake.signal()
    }

    func waitUntilEnded() {
        guard state.withLock({ $0.thread }) != pthread_self() else { return }
        hasEnded.wait()
    }

    func run() {
        state.withLock { $0.thread = pthread_self() }
        defer {
            // The thread keeps what it runs, and so this.
            state.withLock { $0.thread = nil }
            hasEnded.leave()
        }
        while true {
            wake.wait()
            let (frame, isStopped) = state.withLock { state in (state.takeNext(), state.isStopped) }
            if let frame {
                decodeNow(frame)
            } else if isStopped {
                return
            }
        }
    }

    private func decodeNow(_ frame: AssembledFrame) {
        let start = MonotonicClock.now
        do {
            guard let buffer = try decoder.decode(frame.data.span) else { return }
            count(frame, buffer, quantizer: decoder.lastQuantizer, from: start, to: MonotonicClock.now)
            picture(buffer, frame)
        } catch {
            state.withLock { state in
                state.statistics.framesDropped += 1
                state.awaitsKeyFrame = true
            }
            undecodable()
        }
    }

    private func count(
        _ frame: AssembledFrame, _ buffer: PixelBuffer, quantizer: Int?, from start: Instant, to end: Instant
    ) {
        state.withLock { state in
            state.statistics.framesDecoded += 1
            if frame.isKeyFrame { state.statistics.keyFramesDecoded += 1 }
            state.statistics.totalDecodeTime += end - start
            state.statistics.qpSum += UInt64(quantizer ?? 0)
            state.statistics.size = buffer.size
            state.statistics.delays.pictureWasShown(at: end)
        }
    }
}
