internal import Glibc
internal import RTCShareLocks
package import RTCShareMedia
package import RTCShareWireFormat

/// A thread that converts and encodes a source's frames, and never blocks the source or the network.
///
/// The thread adds its sink to the source and removes it. The source passes a frame and continues. The thread encodes
/// the newest one, and `framesDropped` in its statistics counts replaced frames. While the source is idle, the last
/// frame is sharpened until it is fine and then repeated once per second. A requested key frame is made from it
/// immediately.
///
/// Only this file and the input's read the monotonic clock: deadlines, pauses and `totalEncodeTime` are real times on
/// this machine. `FrameCadence`, which has no clock, makes all decisions about time.
package final class VideoEncoder: Sendable {
    /// The settings of an encoding.
    package struct Settings: Sendable, Hashable {
        /// The bitrate of the whole stream; zero pauses.
        package var bitrate: DataRate
        /// The rate at which a large frame is sent; zero if unknown. If it is much higher than the bitrate, a new page
        /// after an idle time gets more of the unused bits.
        package var burstRate = DataRate.zero
        /// The maximum frame rate, above 0 and up to 240.
        package var framesPerSecond: Double
        /// The maximum size of an upright frame. Larger frames are scaled to fit with their aspect ratio.
        package var maximumSize: PixelSize
        /// The number by which the sides of a frame of that size are divided (W3C `scaleResolutionDownBy`).
        package var sizeDivisor = 1.0
        /// The hint for the content, whatever the source's is; nil for the source's hint and its changes. Content
        /// without a hint (`ContentHint.none`) is classified by its motion: a video is `motion`, everything else is
        /// `detail`.
        package var hint: ContentHint?
        /// Whether frames are rotated upright before encoding. Otherwise the encoded frame contains its rotation.
        package var turnsPictures: Bool
        /// The hint if neither the settings nor the source have one; nil for a classification by motion.
        package var assumedHint: ContentHint?
        /// The hint of another encoder's last frame of the same content, with which this one begins or resumes; nil for
        /// none.
        package var foundHint: ContentHint?
        /// Whether our own frames code small changes and scrolls, which takes a fraction of a library's time and bits.
        /// Otherwise the library codes everything.
        package var usesPartialUpdates = true
        /// The heuristics that are used.
        package var heuristics = EncoderHeuristics.all

        /// The minimum frame rate, below which the ticks between frames would overflow.
        static let leastFramesPerSecond = 0.01

        /// Creates settings for a screen.
        package init(
            bitrate: DataRate, framesPerSecond: Double = 30,
            maximumSize: PixelSize = PixelSize(width: 1920, height: 1080), hint: ContentHint? = nil,
            turnsPictures: Bool = false, assumedHint: ContentHint? = nil
        ) {
            self.bitrate = bitrate
            self.framesPerSecond = framesPerSecond
            self.maximumSize = maximumSize
            self.hint = hint
            self.turnsPictures = turnsPictures
            self.assumedHint = assumedHint
        }

        /// Creates the settings of parameters, with `defaults` for those that are nil.
        package init(resolving parameters: VideoEncodingParameters, over defaults: Self) {
            self = defaults
            bitrate = parameters.maxBitrate ?? bitrate
            framesPerSecond = parameters.maxFramerate ?? framesPerSecond
            maximumSize = parameters.maxSize ?? maximumSize
            hint = parameters.contentHint ?? hint
            usesPartialUpdates = parameters.usesPartialUpdates ?? usesPartialUpdates
            heuristics.formIntersection(parameters.heuristics)
        }
    }

    /// An event other than a frame.
    package enum Event: Sendable {
        /// A frame could not be encoded. The thread continues, and retries with the next one.
        case failed(VideoCodingError)
        /// The encoder failed with its first frame or with several in a row. The thread continues, but viewers should
        /// be sent another encoding.
        case unusable
        /// Viewers had another image than the encoder assumed, because of one of our own frames. The next frame is a
        /// key frame.
        case drifted
        /// A source has ended, with an error if that was not requested.
        case sourceEnded((any Error)?, of: any VideoSource)
    }

    /// A handler of an encoded frame and its source.
    package typealias FrameHandler = @Sendable (EncodedVideoFrame, _ source: (any VideoSource)?) -> Void

    private let mailbox: Mailbox<EncoderControl>
    private let thread: WorkerThread

    /// Starts the thread, which calls both closures without a lock held.
    package init(
        _ codec: VideoCodec, settings: Settings, onFrame: @escaping FrameHandler,
        onEvent: @escaping @Sendable (Event) -> Void = { _ in }
    ) throws(VideoCodingError) {
        var control = EncoderControl(settings: settings, codec: codec, now: CaptureClock.now)
        control.statistics.encoderImplementation = codec.implementation.encoder
        let mailbox = Mailbox(control)
        self.mailbox = mailbox
        do throws(WorkerThreadError) {
            thread = try WorkerThread(named: "video encoder") {
                Worker(codec: codec, mailbox: mailbox, onFrame: onFrame, onEvent: onEvent).run()
            }
        } catch {
            throw .threadFailed(reason: systemMessage(error.errorNumber))
        }
    }

    deinit {
        end()
    }

    /// Shows another source, or none, from now on: no earlier frame of the previous source is encoded any more, and the
    /// one that is being encoded is not passed on. The thread removes its sink from that source and adds one to this.
    ///
    /// The source is blocked for at most `patience` while the encoder is busy, so that none of its frames is replaced,
    /// for a source that can wait, such as a pipe. `onMute` is called on the source's thread when it mutes or unmutes
    /// its frames. The caller decides about the effect (``setMuted(_:)``).
    package func show(
        _ source: (any VideoSource)?, patience: Duration = .zero, onMute: @escaping @Sendable (Bool) -> Void = { _ in }
    ) {
        let input = source.map { EncoderInput($0, mailbox: mailbox, patience: patience, onMute: onMute) }
        // The last reference to a source can be released here, which calls it.
        let before = mailbox.post { $0.show(input) }
        withExtendedLifetime(before) {}
    }

    /// Whether the current source has provided a frame.
    package var hasPicture: Bool { mailbox.read { $0.hasPicture } }

    /// Makes the encoder for frames of `size` before the first one, because it takes time: libvpx writes zeros to 27 bytes
    /// per pixel. Frames of another size, and one that arrives before, are encoded as well.
    package func prepare(for size: PixelSize) {
        mailbox.post { $0.expectedSize = size }
    }

    /// Requests a key frame, which is not encoded before a time on the monotonic clock: the caller determines the
    /// interval of key frames. One key frame answers all earlier requests. If no frame is waiting, it is made from the
    /// last frame, immediately.
    package func requestKeyFrame(notBefore time: Duration = .zero) {
        mailbox.post { $0.cadence.requestKeyFrame(notBefore: time) }
    }

    /// Mutes or unmutes the encoder. While it is muted nothing is encoded, and key frame requests wait. Then the newest
    /// frame is encoded immediately.
    package func setMuted(_ isMuted: Bool) {
        let now = CaptureClock.now
        mailbox.post { $0.setMuted(isMuted, now: now) }
    }

    /// Sets whether encoded frames are queued. While they are, nothing is encoded: the newest frame is kept, and the
    /// others count as dropped. Then the newest frame is encoded immediately.
    package func queueDidFill(_ isFull: Bool) {
        let now = CaptureClock.now
        mailbox.post { $0.queueDidFill(isFull, now: now) }
    }

    /// Applies new settings to the running encoder.
    package func apply(_ settings: Settings) {
        let now = CaptureClock.now
        mailbox.post { $0.apply(settings, now: now) }
    }

    /// The current settings.
    package var settings: Settings { mailbox.read { $0.settings } }

    /// The statistics so far.
    package var statistics: VideoEncoderStatistics {
        let now = CaptureClock.now
        return mailbox.read { state in
            var statistics = state.statistics
            statistics.framesPerSecond = state.encodedRate.rate(now: now)
            statistics.sourceFramesPerSecond = state.receivedRate.rate(now: now)
            statistics.qualityLimitationReason = state.governor.reason
            statistics.qualityLimitationDurations.merge(state.governor.durations(now: now)) { $1 }
            statistics.qualityLimitationResolutionChanges = state.governor.resolutionChanges
            return statistics
        }
    }

    /// Ends the thread after it has removed its sink from the source. The release of the last reference does the same.
    /// A frame that is being passed on is the last.
    package func end() {
        let last = mailbox.post { $0.end() }
        withExtendedLifetime(last) {}
    }

    /// Ends the thread, and blocks the caller, which must not be a task, until it has ended: no callback follows. It
    /// can be called repeatedly. A callback that calls it is the last.
    package func stop() {
        end()
        thread.join()
    }
}

extension VideoEncoder {
    /// The state of the thread: the encoder and the last frame, which only the thread accesses.
    struct Worker {
        let codec: VideoCodec
        let mailbox: Mailbox<EncoderControl>
        let onFrame: VideoEncoder.FrameHandler
        let onEvent: @Sendable (VideoEncoder.Event) -> Void
        /// The sink of the current source.
        private var input: EncoderInput?
        private var pictures = PictureInput()
        /// The encoder; nil until the first frame.
        private(set) var encoder: (any PictureEncoder)?
        private var timestamps = TimestampLine()
        /// The number of frames in a row with which the encoder failed; nil before the first frame.
        private var failures: Int?
        /// The number of failures after which another encoder should replace this one.
        private static let mostFailures = 3

        private enum Work {
            case encode(VideoFrame?, asKeyFrame: Bool, EncodingOrder)
            case prepare(PixelSize, EncodingOrder)
            /// Removed frames are released after the lock.
            case adopt(EncoderInput?, forgotten: (VideoFrame?, [(any Error)?]))
            case passOn([(any Error)?])
            case end
        }

        init(
            codec: VideoCodec, mailbox: Mailbox<EncoderControl>, onFrame: @escaping VideoEncoder.FrameHandler,
            onEvent: @escaping @Sendable (VideoEncoder.Event) -> Void
        ) {
            self.codec = codec
            self.mailbox = mailbox
            self.onFrame = onFrame
            self.onEvent = onEvent
        }

        consuming func run() {
            mailbox.post { $0.thread = pthread_self() }
            loop: while true {
                switch nextWork() {
                case .end: break loop
                case .adopt(let new, _): adopt(new)
                case .passOn(let endings):
                    guard let source = input?.source else { continue }
                    for error in endings { onEvent(.sourceEnded(error, of: source)) }
                case .prepare(let size, let order):
                    // An error occurs again with the first frame, and is reported then.
                    _ = try? madeEncoder(size: order.sizes(for: size).now, order: order)
                case .encode(let frame, let asKeyFrame, let order):
                    encode(frame, asKeyFrame: asKeyFrame, order: order)
                }
            }
            if let input { input.source.remove(input) }
            let last = mailbox.post { $0.dropFrame() }
            withExtendedLifetime(last) {}
        }

        /// Switches to another source.
        private mutating func adopt(_ new: EncoderInput?) {
            if let input { input.source.remove(input) }
            input = new
            // The changes since the last frame of the previous source are irrelevant for this one.
            pictures = PictureInput()
            if let new { new.source.add(new) }
        }

        private func nextWork() -> Work {
            mailbox.take { state in
                if state.isStopping { return .done(.end) }
                let now = CaptureClock.now
                if state.input !== input {
                    return .done(.adopt(state.input, forgotten: state.forgetPicture(now: now)))
                }
                switch state.cadence.action(now: now) {
                case .encodeNew(let asKeyFrame):
                    // The slot is full whenever the cadence has a waiting frame.
                    let frame = state.slot
                    state.slot = nil
                    state.begin(new: true, now: now)
                    return .done(.encode(frame, asKeyFrame: asKeyFrame, state.order(isNew: true)))
                case .encodeAgain(let asKeyFrame):
                    if !state.endings.isEmpty, state.slot == nil { return .done(.passOn(state.takeEndings())) }
                    state.begin(new: false, now: now)
                    return .done(.encode(nil, asKeyFrame: asKeyFrame, state.order(isNew: false)))
                case .wait(let time):
                    if let size = state.expectedSize {
                        state.expectedSize = nil
                        return .done(.prepare(size, state.order(isNew: false)))
                    }
                    if !state.endings.isEmpty, state.slot == nil || state.cadence.isPaused {
                        return .done(.passOn(state.takeEndings()))
                    }
                    return .wait(until: time)
                }
            }
        }

        /// Encodes a frame, or with nil the previous one, and passes on the result.
        mutating func encode(_ frame: VideoFrame?, asKeyFrame: Bool, order: EncodingOrder) {
            let isNew = frame != nil
            var isConverted = false
            do throws(VideoCodingError) {
                let begin = CaptureClock.now
                try pictures.take(frame, order: order)
                guard let source = pictures.source, let size = pictures.picture?.size else { throw .emptyPicture }
                let converted = CaptureClock.now
                isConverted = true
                let encoder = try madeEncoder(size: size, order: order)
                let timestamp =
                    isNew ? timestamps.next(timestamp: source.timestamp, now: begin) : timestamps.again(now: begin)
                let (preceding, outcome) = try encoder.encode(
                    &pictures, timestamp: timestamp, asKeyFrame: asKeyFrame, order: order)
                failures = 0
                let end = CaptureClock.now
                encoder.record(end - converted, outcome)
                let isWanted = mailbox.post { state in
                    state.statistics.totalEncodeTime += end - converted
                    guard state.isCurrent(order) else {
                        // The next frame can't refer to one that was not passed on.
                        state.cadence.requestKeyFrame()
                        if isNew { state.statistics.framesDropped += 1 }
                        return false
                    }
                    state.didEncode(newShare: isNew ? encoder.newShare : nil, now: begin)
                    for frame in preceding { state.countPreceding(frame) }
                    state.count(
                        outcome, ledger: encoder.ledger, isRepetition: !isNew, fullSize: order.sizes(for: source).full,
                        begin: begin, end: end)
                    return true
                }
                guard isWanted else { return }
                for frame in preceding { onFrame(frame, order.input?.source) }
                if case .encoded(let frame) = outcome { onFrame(frame, order.input?.source) }
                lookForDrift(encoder)
            } catch {
                let now = CaptureClock.now
                mailbox.post { state in
                    if isNew { state.statistics.framesDropped += 1 }
                    if state.isCurrent(order) { state.cadence.failed(now: now) }
                }
                onEvent(.failed(error))
                if isConverted { countFailure() }
            }
        }

        /// Counts a failure of the encoder. A source's frames that can't be converted are the same for each codec.
        private mutating func countFailure() {
            let count = failures.map { $0 + 1 } ?? Self.mostFailures
            failures = count
            if count.isMultiple(of: Self.mostFailures) { onEvent(.unusable) }
        }

        private mutating func madeEncoder(
            size: PixelSize, order: EncodingOrder
        ) throws(VideoCodingError) -> any PictureEncoder {
            if let encoder { return encoder }
            let made = try codec.makeEncoder(size, order.settings)
            encoder = made
            return made
        }

        /// Checks whether viewers have the image that the encoder assumes. If not, they get a key frame.
        private func lookForDrift(_ encoder: any PictureEncoder) {
            do throws(VideoCodingError) {
                guard try encoder.findsDrift() else { return }
                mailbox.post { state in
                    state.statistics.driftsDetected += 1
                    state.cadence.requestKeyFrame()
                }
                onEvent(.drifted)
            } catch {
                onEvent(.failed(error))
            }
        }
    }
}
