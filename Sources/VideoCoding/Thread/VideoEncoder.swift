internal import Glibc
internal import RTCShareLocks
package import RTCShareMedia
package import RTCShareWireFormat

/// A thread that converts and encodes what a source gives, and never makes the source or the network wait.
///
/// The thread adds its sink to the source and removes it. The source hands over its frame and goes on. The thread takes the
/// newest one: what a newer frame replaced is counted in `framesDropped` of its statistics. While the source rests,
/// the last picture is sharpened until it is fine and then repeated once a second; a key frame that somebody needs is made
/// of it at once.
///
/// This file and the input's read the monotonic clock, as it is where time enters: deadlines, pauses and
/// `totalEncodeTime` are about how long things take on this machine. All that follows from a time is decided in
/// `FrameCadence`, which has none.
package final class VideoEncoder: Sendable {
    /// What is to be encoded, and how.
    package struct Settings: Sendable, Hashable {
        /// What the whole stream may take; zero pauses.
        package var bitrate: DataRate
        /// How fast one large picture leaves; zero where that is not known. Where it is much faster than the
        /// whole stream, a page that is new after a rest gets more of the bits that were not used.
        package var burstRate = DataRate.zero
        /// Frames a second at most, above 0 and up to 240.
        package var framesPerSecond: Double
        /// The largest picture, upright: what comes larger is scaled to fit, whole, with its aspect.
        package var maximumSize: PixelSize
        /// What the pictures are, whatever their source says of them; nil follows the source's hint, and its changes.
        /// What nobody knows (`ContentHint.none`) is told by how it moves: a film is taken for `motion`, all else for
        /// `detail`.
        package var hint: ContentHint?
        /// Whether pictures are turned upright before encoding. Otherwise the frame carries its rotation.
        package var turnsPictures: Bool
        /// What the pictures are where neither the settings nor their source say it; nil has that told by how they move.
        package var assumedHint: ContentHint?
        /// libvpx's cpu-used, -16 to -1; nil has one that suits the pictures.
        package var speed: Int?
        /// Whether what changed little, or moved as a whole, is coded by frames of our own, which takes a small part of
        /// libvpx's time and bits. Otherwise libvpx codes everything.
        package var usesPartialUpdates = true
        /// The heuristics that are used.
        package var heuristics = EncoderHeuristics.all
        /// How libvpx goes about the pictures; nil has what suits them: those that are said to be `motion` are a camera's.
        package var tuning: VP8Encoder.Tuning?

        /// What suits a screen.
        package init(
            bitrate: DataRate, framesPerSecond: Double = 30,
            maximumSize: PixelSize = PixelSize(width: 1920, height: 1080), hint: ContentHint? = nil,
            turnsPictures: Bool = false, assumedHint: ContentHint? = nil, speed: Int? = nil
        ) {
            self.bitrate = bitrate
            self.framesPerSecond = framesPerSecond
            self.maximumSize = maximumSize
            self.hint = hint
            self.turnsPictures = turnsPictures
            self.assumedHint = assumedHint
            self.speed = speed
        }

        /// The settings that parameters stand for: `defaults` where they are nil.
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

    /// What happens beside frames.
    package enum Event: Sendable {
        /// A frame could not be encoded. The thread goes on, and tries again with what comes next.
        case failed(VideoCodingError)
        /// Viewers had something else than the encoder built on, by a frame that is not libvpx's. The next one is a key frame.
        case drifted
        /// A source gives nothing more; with an error where that was not asked for.
        case sourceEnded((any Error)?, of: any VideoSource)
    }

    /// Takes a frame, and the source that it shows.
    package typealias FrameHandler = @Sendable (EncodedVideoFrame, _ source: (any VideoSource)?) -> Void

    private let mailbox: Mailbox<EncoderControl>
    private let thread: WorkerThread

    /// Starts the thread. Both closures are called on it, with no lock held.
    package init(
        settings: Settings, onFrame: @escaping FrameHandler,
        onEvent: @escaping @Sendable (Event) -> Void = { _ in }
    ) throws(VideoCodingError) {
        let mailbox = Mailbox(EncoderControl(settings: settings, now: CaptureClock.now))
        self.mailbox = mailbox
        do throws(WorkerThreadError) {
            thread = try WorkerThread(named: "video encoder") {
                Worker(mailbox: mailbox, onFrame: onFrame, onEvent: onEvent).run()
            }
        } catch {
            throw .threadFailed(reason: systemMessage(error.errorNumber))
        }
    }

    deinit {
        end()
    }

    /// Encodes another source's pictures, or none, from now on: nothing that the one before gave is encoded after this, and
    /// what is being encoded of it is given to nobody. The thread removes its sink from that one, and adds one to this.
    ///
    /// The source is held up for `patience` at most while the encoder is busy, so that none of its frames is replaced: that is
    /// for a source that can wait, such as a pipe. `onMute` is called on the source's thread when it holds its pictures back or
    /// gives them again; what follows is for the caller to decide (``setMuted(_:)``).
    package func show(
        _ source: (any VideoSource)?, patience: Duration = .zero, onMute: @escaping @Sendable (Bool) -> Void = { _ in }
    ) {
        let input = source.map { EncoderInput($0, mailbox: mailbox, patience: patience, onMute: onMute) }
        // The last reference to a source may be let go here, which calls it.
        let before = mailbox.post { $0.show(input) }
        withExtendedLifetime(before) {}
    }

    /// Whether the source that it shows has given a picture.
    package var hasPicture: Bool { mailbox.read { $0.hasPicture } }

    /// Asks for a key frame, which is not made for this before a time on the monotonic clock: how far apart they are is for
    /// who asks to say. However many ask before it is made, one answers them all. Where no frame waits, it is made of the
    /// last picture, at once.
    package func requestKeyFrame(notBefore time: Duration = .zero) {
        mailbox.post { $0.cadence.requestKeyFrame(notBefore: time) }
    }

    /// While it is muted nothing is encoded, and key frames that are asked for wait. Afterwards the newest frame is encoded at
    /// once.
    package func setMuted(_ isMuted: Bool) {
        let now = CaptureClock.now
        mailbox.post { $0.setMuted(isMuted, now: now) }
    }

    /// While what was encoded waits to leave, nothing more is encoded: the newest frame is kept, the others are counted as
    /// dropped. Afterwards it is encoded at once.
    package func queueDidFill(_ isFull: Bool) {
        let now = CaptureClock.now
        mailbox.post { $0.queueDidFill(isFull, now: now) }
    }

    /// Brings the running encoder to these settings.
    package func apply(_ settings: Settings) {
        let now = CaptureClock.now
        mailbox.post { $0.apply(settings, now: now) }
    }

    /// What the settings are now.
    package var settings: Settings { mailbox.read { $0.settings } }

    /// What was done so far.
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

    /// Asks the thread to remove its sink from the source and to end, as its last reference's release does too. A frame that it
    /// is giving out is the last.
    package func end() {
        let last = mailbox.post { $0.end() }
        withExtendedLifetime(last) {}
    }

    /// Ends the thread, and blocks the caller, which is not a task, until it has ended: nothing is called back after this. Can be
    /// called more than once. A callback that calls it is the last.
    package func stop() {
        end()
        thread.join()
    }
}

extension VideoEncoder {
    /// The thread's own side: the encoder and the last picture, which nobody else touches.
    struct Worker {
        let mailbox: Mailbox<EncoderControl>
        let onFrame: VideoEncoder.FrameHandler
        let onEvent: @Sendable (VideoEncoder.Event) -> Void
        /// Whose pictures it takes: it is that source's sink.
        private var input: EncoderInput?
        private var pictures = PictureInput()
        /// Nil until the first picture.
        private(set) var encoder: VP8Encoder?
        private var timestamps = TimestampLine()

        private enum Work {
            case encode(VideoFrame?, asKeyFrame: Bool, EncodingOrder)
            /// What is forgotten is freed after the lock is.
            case adopt(EncoderInput?, forgotten: (VideoFrame?, [(any Error)?]))
            case passOn([(any Error)?])
            case end
        }

        init(
            mailbox: Mailbox<EncoderControl>, onFrame: @escaping VideoEncoder.FrameHandler,
            onEvent: @escaping @Sendable (VideoEncoder.Event) -> Void
        ) {
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
                case .encode(let frame, let asKeyFrame, let order):
                    encode(frame, asKeyFrame: asKeyFrame, order: order)
                }
            }
            if let input { input.source.remove(input) }
            let last = mailbox.post { $0.dropFrame() }
            withExtendedLifetime(last) {}
        }

        /// Takes another source's pictures in place of those of the one before.
        private mutating func adopt(_ new: EncoderInput?) {
            if let input { input.source.remove(input) }
            input = new
            // What changed since the last picture of that source says nothing of this one's.
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
                    // The slot is full whenever the cadence says that a frame waits.
                    let frame = state.slot
                    state.slot = nil
                    state.begin(new: true, now: now)
                    return .done(.encode(frame, asKeyFrame: asKeyFrame, state.order(isNew: true)))
                case .encodeAgain(let asKeyFrame):
                    if !state.endings.isEmpty, state.slot == nil { return .done(.passOn(state.takeEndings())) }
                    state.begin(new: false, now: now)
                    return .done(.encode(nil, asKeyFrame: asKeyFrame, state.order(isNew: false)))
                case .wait(let time):
                    if !state.endings.isEmpty, state.slot == nil || state.cadence.isPaused {
                        return .done(.passOn(state.takeEndings()))
                    }
                    return .wait(until: time)
                }
            }
        }

        /// Encodes a frame, or with nil the one before, and gives out what comes of it.
        mutating func encode(_ frame: VideoFrame?, asKeyFrame: Bool, order: EncodingOrder) {
            let isNew = frame != nil
            do throws(VideoCodingError) {
                let begin = CaptureClock.now
                try pictures.take(frame, order: order)
                guard let source = pictures.source, let size = pictures.picture?.size else { throw .emptyPicture }
                let converted = CaptureClock.now
                let encoder = try madeEncoder(size: size, order: order)
                let timestamp =
                    isNew ? timestamps.next(timestamp: source.timestamp, now: begin) : timestamps.again(now: begin)
                let (preceding, outcome) = try encoder.encode(
                    &pictures, timestamp: timestamp, asKeyFrame: asKeyFrame, order: order)
                let end = CaptureClock.now
                encoder.record(end - converted, outcome)
                let isWanted = mailbox.post { state in
                    state.statistics.totalEncodeTime += end - converted
                    guard state.isCurrent(order) else {
                        // What comes next can't build on what nobody got.
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
            }
        }

        private mutating func madeEncoder(
            size: PixelSize, order: EncodingOrder
        ) throws(VideoCodingError) -> VP8Encoder {
            if let encoder { return encoder }
            let made = try VP8Encoder(configuration: .init(size: size, bitrate: order.settings.bitrate))
            encoder = made
            return made
        }

        /// Looks whether what viewers have is what the encoder takes it for; where not, they get a key frame.
        private func lookForDrift(_ encoder: VP8Encoder) {
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
