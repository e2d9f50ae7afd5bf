import RTCShareCPulse
import RTCShareMedia

/// A stream that plays through a sink of the sound server, used by one thread.
package final class PulsePlayback {
    /// The delay between writing and hearing.
    package struct Timing: Sendable, Hashable {
        /// The time at which the next written sample is heard, if it is written before that.
        package let heard: Duration
        /// The duration of the written audio that the device has not taken yet.
        package let queued: Duration
    }

    package static let sampleRate = 48_000
    package static let channels = 2
    private let session: PulseSession
    private let stream: OpaquePointer
    private let changes = Changes()
    /// A written position and the time at which it is heard and, by the server's last answer, the length of its queue.
    private var anchor: (position: Int, heard: Duration, queued: Duration)?
    /// The number of written samples of each channel.
    private var position = 0
    private var nextQuestion = 0

    /// The flags that the server's events set, kept by this object longer than the events occur.
    private final class Changes {
        var timing = false
        var underflow = false

        static func at(_ pointer: UnsafeMutableRawPointer?) -> Changes? {
            pointer.map { Unmanaged<Changes>.fromOpaque($0).takeUnretainedValue() }
        }
    }

    private static let frameBytes = channels * MemoryLayout<Float>.size
    /// The number of samples between two requests for the latency: a quarter of a second.
    private static let questionInterval = sampleRate / 4
    /// The target time between writing and hearing, if the device supports it: the minimum without gaps for blocks of
    /// 20 ms.
    private static let latency = Duration.milliseconds(60)
    /// The amount of audio with which playback starts, or resumes after a gap.
    private static let reserve = Duration.milliseconds(40)

    /// Starts to play through the server's default sink. `name` is the name of the audio in its mixer.
    package init(session: PulseSession, name: String) throws(CaptureError) {
        self.session = session
        var format = pa_sample_spec(
            format: PA_SAMPLE_FLOAT32LE, rate: UInt32(Self.sampleRate), channels: UInt8(Self.channels))
        guard let stream = pa_stream_new(session.context, name, &format, nil) else { throw session.failure }
        self.stream = stream
        // All ones: the server's default. More than a second never waits, and the server drops what exceeds it.
        var attributes = pa_buffer_attr(
            maxlength: Self.bytes(.seconds(1)), tlength: Self.bytes(Self.latency), prebuf: Self.bytes(Self.reserve),
            minreq: .max, fragsize: .max)
        guard pa_stream_connect_playback(stream, nil, &attributes, PA_STREAM_ADJUST_LATENCY, nil, nil) >= 0 else {
            throw session.failure
        }
        let told = Unmanaged.passUnretained(changes).toOpaque()
        pa_stream_set_latency_update_callback(stream, { _, told in Changes.at(told)?.timing = true }, told)
        pa_stream_set_underflow_callback(stream, { _, told in Changes.at(told)?.underflow = true }, told)
    }

    deinit {
        pa_stream_set_latency_update_callback(stream, nil, nil)
        pa_stream_set_underflow_callback(stream, nil, nil)
        pa_stream_disconnect(stream)
        pa_stream_unref(stream)
    }

    private static func bytes(_ duration: Duration) -> UInt32 {
        UInt32(duration / .seconds(1) * Double(sampleRate)) * UInt32(frameBytes)
    }

    /// Waits until the server accepts audio. Returns false if the signal was raised.
    package func begin() throws(CaptureError) -> Bool {
        let stream = stream
        let hasAnswer = try session.wait(atMost: PulseSession.answerTime) {
            pa_stream_get_state(stream) != PA_STREAM_CREATING
        }
        if hasAnswer { try check() }
        return hasAnswer
    }

    /// Waits until `hasSound` returns true, which is called whenever the session wakes. Returns false if the signal was
    /// raised.
    package func wait(until hasSound: () -> Bool) throws(CaptureError) -> Bool {
        let (stream, changes) = (stream, changes)
        while true {
            let isAwake = try session.wait(atMost: nil) {
                hasSound() || changes.timing || changes.underflow || pa_stream_get_state(stream) != PA_STREAM_READY
            }
            guard isAwake else { return false }
            try check()
            updateTiming()
            if hasSound() { return true }
        }
    }

    /// Plays samples after those that were written before, interleaved.
    package func write(_ samples: [Float]) throws(CaptureError) {
        let written = samples.withUnsafeBytes { bytes in
            pa_stream_write(stream, bytes.baseAddress, bytes.count, nil, 0, PA_SEEK_RELATIVE)
        }
        guard written >= 0 else { throw session.failure }
        position += samples.count / Self.channels
        if position >= nextQuestion { askForTiming() }
    }

    /// Drops the written audio that the device has not taken yet.
    package func dropQueue() {
        if let request = pa_stream_flush(stream, nil, nil) { pa_operation_unref(request) }
        anchor = nil
        nextQuestion = position
    }

    /// The time at which the next written sample is heard, by the server's last answer; nil before the first answer
    /// since the start, or since an interruption.
    package var timing: Timing? {
        guard let anchor else { return nil }
        let distance = Duration.seconds(1) * (position - anchor.position) / Self.sampleRate
        return Timing(heard: anchor.heard + distance, queued: anchor.queued)
    }

    /// The number of the server's answers.
    package private(set) var answers = 0
    /// The number of times that there was nothing to play.
    package private(set) var underflows = 0

    private func askForTiming() {
        nextQuestion = position + Self.questionInterval
        if let question = pa_stream_update_timing_info(stream, nil, nil) { pa_operation_unref(question) }
    }

    /// Reads the latency, which is accurate right after the answer.
    private func updateTiming() {
        if changes.underflow {
            changes.underflow = false
            underflows += 1
            // Samples written from now on are heard later than computed.
            anchor = nil
            nextQuestion = position
        }
        guard changes.timing else { return }
        changes.timing = false
        var microseconds: pa_usec_t = 0
        var isNegative: Int32 = 0
        guard pa_stream_get_latency(stream, &microseconds, &isNegative) >= 0, isNegative == 0,
            let info = pa_stream_get_timing_info(stream)?.pointee, info.playing != 0
        else {
            nextQuestion = position
            return
        }
        // From the server's numbers, whose difference may overflow.
        let queuedBytes = max(Double(info.write_index) - Double(info.read_index), 0)
        let queued = Duration.seconds(queuedBytes / Double(Self.frameBytes * Self.sampleRate))
        anchor = (position, monotonicNow() + .microseconds(Int64(clamping: microseconds)), queued)
        answers += 1
    }

    private func check() throws(CaptureError) {
        switch pa_stream_get_state(stream) {
        case PA_STREAM_CREATING, PA_STREAM_READY: return
        default:
            throw .soundDeviceLost(
                device: "default", reason: PulseSession.message(pa_context_errno(session.context)))
        }
    }
}
