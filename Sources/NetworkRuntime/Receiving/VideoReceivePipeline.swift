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
    private let thread: WorkerThread

    /// A pipeline that runs until ``end(then:)`` or its release. On its thread it calls `picture` with each decoded picture;
    /// `undecodable` is called there, or where frames are given, when a key frame is needed to continue.
    package init(
        picture: @escaping @Sendable (PixelBuffer, AssembledFrame) -> Void,
        undecodable: @escaping @Sendable () -> Void
    ) throws(VideoCodingError) {
        // The thread holds what it decodes with, and not the pipeline, which ends it.
        let decoding = try Decoding(picture: picture, undecodable: undecodable)
        self.decoding = decoding
        do throws(WorkerThreadError) {
            thread = try WorkerThread(named: "video decoder") { decoding.run() }
        } catch {
            throw .threadFailed(reason: systemMessage(error.errorNumber))
        }
    }

    deinit {
        decoding.end()
    }

    /// Takes a frame, in decode order, from any thread.
    package func decode(_ frame: AssembledFrame) { decoding.decode(frame) }

    /// What was decoded so far.
    package var statistics: Statistics { decoding.statistics }

    /// Takes nothing more. The thread decodes the frames that wait, calls `body`, and ends.
    package func end(then body: @escaping @Sendable () -> Void = {}) { decoding.end(then: body) }

    /// Returns when the thread has ended, which ``end(then:)`` asks for.
    package func finish() async { await thread.finish() }

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
        /// Called when what waits is decoded, after which nothing comes; nil before the end.
        var ending: (@Sendable () -> Void)?
        /// What was taken or decoded last is no base for what follows.
        var awaitsKeyFrame = false
        var statistics = VideoReceivePipeline.Statistics()

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
    private let mailbox = Mailbox(State())
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
    }

    var statistics: VideoReceivePipeline.Statistics { mailbox.read { $0.statistics } }

    func decode(_ frame: AssembledFrame) {
        let isBehind = mailbox.post { state in
            guard state.ending == nil else { return false }
            return state.append(frame) && !frame.isKeyFrame
        }
        if isBehind { undecodable() }
    }

    func end(then body: @escaping @Sendable () -> Void = {}) {
        mailbox.post { if $0.ending == nil { $0.ending = body } }
    }

    private enum Work {
        case decode(AssembledFrame)
        case end(@Sendable () -> Void)
    }

    func run() {
        while true {
            let work = mailbox.take { state -> Mailbox<State>.Found<Work> in
                if let frame = state.takeNext() { return .done(.decode(frame)) }
                return state.ending.map { .done(.end($0)) } ?? .wait(until: nil)
            }
            switch work {
            case .decode(let frame): decodeNow(frame)
            case .end(let body): return body()
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
            mailbox.post { state in
                state.statistics.framesDropped += 1
                state.awaitsKeyFrame = true
            }
            undecodable()
        }
    }

    private func count(
        _ frame: AssembledFrame, _ buffer: PixelBuffer, quantizer: Int?, from start: Instant, to end: Instant
    ) {
        mailbox.post { state in
            state.statistics.framesDecoded += 1
            if frame.isKeyFrame { state.statistics.keyFramesDecoded += 1 }
            state.statistics.totalDecodeTime += end - start
            state.statistics.qpSum += UInt64(quantizer ?? 0)
            state.statistics.size = buffer.size
            state.statistics.delays.pictureWasShown(at: end)
        }
    }
}
