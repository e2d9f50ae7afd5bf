internal import Foundation
public import Media
public import PeerConnection
internal import Synchronization
public import VideoCoding
internal import WireFormat

/// From assembled frames to pictures: decodes on a thread of its own, so that the network never waits for a decoder.
public final class VideoReceivePipeline: Sendable {
    /// What was decoded, under the names of W3C webrtc-stats (`RTCInboundRtpStreamStats`).
    public struct Statistics: Sendable {
        /// Frames that became pictures.
        public internal(set) var framesDecoded: UInt64 = 0
        /// Those of them that decode on their own.
        public internal(set) var keyFramesDecoded: UInt64 = 0
        /// Frames that the decoder could make nothing of.
        public internal(set) var framesDropped: UInt64 = 0
        /// The time that decoding took.
        public internal(set) var totalDecodeTime = Duration.zero
        /// The sum of the frames' quantizers.
        public internal(set) var qpSum: UInt64 = 0
        /// The newest picture's size.
        public internal(set) var size: PixelSize?
    }

    private struct State {
        var queue: [AssembledFrame] = []
        var isStopped = false
        /// What was taken or decoded last is no base for what follows.
        var awaitsKeyFrame = false
        var statistics = Statistics()

        /// The next frame that can be decoded; those before it are dropped.
        mutating func takeNext() -> AssembledFrame? {
            while !queue.isEmpty {
                let frame = queue.removeFirst()
                if frame.isKeyFrame { awaitsKeyFrame = false }
                if !awaitsKeyFrame { return frame }
                statistics.framesDropped += 1
            }
            return nil
        }
    }

    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)
    private let hasEnded = DispatchSemaphore(value: 0)
    private let undecodable: @Sendable () -> Void
    /// A decoder that falls this far behind begins anew at the next key frame.
    private static let maximumQueue = 60

    /// A pipeline that runs until ``stop()``. On its thread it calls `picture` with each decoded picture; `undecodable`
    /// is called there, or where frames are given, when a key frame is needed to go on.
    public init(
        picture: @escaping @Sendable (PixelBuffer, AssembledFrame) -> Void,
        undecodable: @escaping @Sendable () -> Void
    ) throws(VideoCodingError) {
        self.undecodable = undecodable
        let thread = Thread { [self] in
            decodeUntilStopped(picture: picture)
            hasEnded.signal()
        }
        thread.name = "vp8-decoder"
        thread.start()
    }

    /// Takes a frame, in decode order, from any thread.
    public func decode(_ frame: AssembledFrame) {
        let isBehind = state.withLock { state in
            guard !state.isStopped else { return false }
            let overflows = state.queue.count >= Self.maximumQueue
            if overflows {
                state.statistics.framesDropped += UInt64(state.queue.count)
                state.queue.removeAll()
                state.awaitsKeyFrame = true
            }
            state.queue.append(frame)
            return overflows && !frame.isKeyFrame
        }
        if isBehind { undecodable() }
        wake.signal()
    }

    /// What was decoded so far.
    public var statistics: Statistics { state.withLock { $0.statistics } }

    /// Decodes what was taken, and returns when the thread has ended.
    public func stop() {
        let wasStopped = state.withLock { state in
            defer { state.isStopped = true }
            return state.isStopped
        }
        guard !wasStopped else { return }
        wake.signal()
        hasEnded.wait()
    }

    private func decodeUntilStopped(picture: (PixelBuffer, AssembledFrame) -> Void) {
        guard let decoder = try? VP8Decoder() else { return undecodable() }
        while true {
            wake.wait()
            let (frame, isStopped) = state.withLock { state in (state.takeNext(), state.isStopped) }
            guard let frame else {
                if isStopped { return }
                continue
            }
            let start = MonotonicClock.now
            do {
                guard let buffer = try decoder.decode(frame.data.span) else { continue }
                count(frame, buffer, quantizer: decoder.lastQuantizer, time: MonotonicClock.now - start)
                picture(buffer, frame)
            } catch {
                state.withLock { state in
                    state.statistics.framesDropped += 1
                    state.awaitsKeyFrame = true
                }
                undecodable()
            }
        }
    }

    private func count(_ frame: AssembledFrame, _ buffer: PixelBuffer, quantizer: Int?, time: Duration) {
        state.withLock { state in
            state.statistics.framesDecoded += 1
            if frame.isKeyFrame { state.statistics.keyFramesDecoded += 1 }
            state.statistics.totalDecodeTime += time
            state.statistics.qpSum += UInt64(quantizer ?? 0)
            state.statistics.size = buffer.size
        }
    }

    /// Completes a connection's report with what was decoded of its receiver of this index.
    public func complete(_ report: [StatisticsObject], receiver: Int) -> [StatisticsObject] {
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
            object.set("decoderImplementation", "libvpx")
            return object
        }
    }
}
