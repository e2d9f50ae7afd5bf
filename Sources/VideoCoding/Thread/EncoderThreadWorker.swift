internal import RTCShareLocks
internal import RTCShareMedia

/// The thread's own side: the encoder and the last picture, which nobody else touches.
struct EncoderThreadWorker {
    let mailbox: Mailbox<EncoderThreadState>
    let onFrame: VideoEncoderThread.FrameHandler
    let onEvent: @Sendable (VideoEncoderThread.Event) -> Void
    /// Whose pictures it takes: it is that source's sink.
    private var input: EncoderInput?
    private(set) var encoder = FrameEncoder()
    private var timestamps = TimestampLine()

    private enum Work {
        case encode(VideoFrame?, asKeyFrame: Bool, EncodingOrder)
        case adopt(EncoderInput?, forgotten: VideoFrame?)
        case passOn([(any Error)?])
        case end
    }

    init(
        mailbox: Mailbox<EncoderThreadState>, onFrame: @escaping VideoEncoderThread.FrameHandler,
        onEvent: @escaping @Sendable (VideoEncoderThread.Event) -> Void
    ) {
        self.mailbox = mailbox
        self.onFrame = onFrame
        self.onEvent = onEvent
    }

    consuming func run() {
        loop: while true {
            switch nextWork() {
            case .end: break loop
            case .adopt(let new, _): adopt(new)
            case .passOn(let endings): for error in endings { onEvent(.sourceEnded(error)) }
            case .encode(let frame, let asKeyFrame, let order):
                encode(frame, asKeyFrame: asKeyFrame, order: order)
            }
        }
        if let input { input.source.remove(input) }
        mailbox.post {
            if $0.slot != nil { $0.statistics.framesDropped += 1 }
            $0.slot = nil
        }
    }

    /// Takes another source's pictures in place of those of the one before.
    private mutating func adopt(_ new: EncoderInput?) {
        if let input { input.source.remove(input) }
        input = new
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
            try encoder.take(frame, order: order)
            guard let source = encoder.source else { throw .emptyPicture }
            let converted = CaptureClock.now
            let timestamp =
                isNew ? timestamps.next(timestamp: source.timestamp, now: begin) : timestamps.again(now: begin)
            let (preceding, outcome) = try encoder.encode(timestamp: timestamp, asKeyFrame: asKeyFrame, order: order)
            let end = CaptureClock.now
            encoder.took(end - converted, outcome)
            let isWanted = mailbox.post { state in
                state.statistics.totalConversionTime += converted - begin
                state.statistics.totalEncodeTime += end - converted
                guard state.isCurrent(order) else {
                    // What comes next can't build on what nobody got.
                    state.cadence.requestKeyFrame()
                    if isNew { state.statistics.framesDropped += 1 }
                    return false
                }
                state.saw(newShare: isNew ? encoder.newShare : nil, now: begin)
                for frame in preceding { state.countPreceding(frame) }
                state.count(
                    outcome, ledger: encoder.ledger, isRepetition: !isNew, fullSize: order.sizes(for: source).full,
                    begin: begin, end: end)
                return true
            }
            guard isWanted else { return }
            for frame in preceding { onFrame(frame, order.input?.source) }
            if case .encoded(let frame) = outcome { onFrame(frame, order.input?.source) }
            lookForDrift()
        } catch {
            let now = CaptureClock.now
            mailbox.post { state in
                if isNew { state.statistics.framesDropped += 1 }
                if state.isCurrent(order) { state.cadence.failed(now: now) }
            }
            onEvent(.failed(error))
        }
    }

    /// Looks whether what viewers have is what the encoder takes it for; where not, they get a key frame.
    private func lookForDrift() {
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
