internal import Glibc
internal import Media

/// What the thread and those who talk to it share.
struct EncoderThreadState {
    var settings: VideoEncoderThread.Settings
    var cadence: FrameCadence
    var slot: VideoFrame?
    var endings: [(any Error)?] = []
    var isStopping = false
    var hasEnded = false
    var thread: pthread_t?
    var statistics = VideoEncoderStatistics()
    var encodedRate = RateCounter()
    var receivedRate = RateCounter()

    init(settings: VideoEncoderThread.Settings) {
        self.settings = settings
        cadence = FrameCadence(
            framesPerSecond: settings.framesPerSecond, keyFrameInterval: settings.keyFrameInterval)
        cadence.isPaused = settings.bitsPerSecond <= 0
    }

    /// Puts the frame into the slot and gives back the one that it replaced.
    mutating func receive(_ frame: VideoFrame, now: Duration) -> VideoFrame? {
        statistics.framesReceived += 1
        statistics.sourceSize = frame.size
        receivedRate.count(now: now)
        guard !isStopping else {
            statistics.framesDropped += 1
            return nil
        }
        let replaced = slot
        if replaced != nil { statistics.framesDropped += 1 }
        slot = frame
        cadence.frameArrived(timestamp: frame.timestamp, isChange: frame.damage?.isEmpty != true, now: now)
        return replaced
    }

    mutating func apply(_ new: VideoEncoderThread.Settings) {
        if new.maximumSize != settings.maximumSize || new.hint != settings.hint { cadence.settingsChanged() }
        settings = new
        cadence.framesPerSecond = new.framesPerSecond
        cadence.isPaused = new.bitsPerSecond <= 0
    }
}

extension EncoderThreadState {
    /// The ends of the source that nobody was told of yet.
    mutating func takeEndings() -> [(any Error)?] {
        defer { endings = [] }
        return endings
    }

    /// Notes what became of a picture, which was begun and ended at these times.
    mutating func count(
        _ outcome: VP8Encoder.Outcome, isRepetition: Bool, begin: Duration, end: Duration
    ) {
        switch outcome {
        case .dropped:
            statistics.framesDroppedByRateControl += 1
            cadence.dropped(now: begin)
        case .encoded(let frame):
            let mean = statistics.bytesEncoded / max(statistics.framesEncoded, 1)
            if statistics.framesEncoded > 0, frame.data.count * 2 >= mean * 5 { statistics.hugeFrames += 1 }
            statistics.framesEncoded += 1
            statistics.keyFramesEncoded += frame.isKeyFrame ? 1 : 0
            statistics.framesRepeated += isRepetition ? 1 : 0
            statistics.bytesEncoded += frame.data.count
            statistics.qpSum += frame.quantizer
            statistics.size = frame.size
            encodedRate.count(now: end)
            cadence.encoded(isKeyFrame: frame.isKeyFrame, quantizer: frame.quantizer, now: begin)
        }
    }
}
