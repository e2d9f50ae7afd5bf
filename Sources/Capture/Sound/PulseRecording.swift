import RTCShareCPulse
import RTCShareMedia

/// A stream that records from one source of the sound server, used by one thread.
///
/// If its source disappears, a server would move the stream to the default source, and a user could move it in a mixer:
/// possibly to a source of another kind, which must not be recorded. So the server is asked not to move it, and a
/// stream that was moved anyway returns nothing more.
final class PulseRecording {
    /// A piece of the stream's buffer.
    enum Piece {
        /// Samples, interleaved, and the capture time of the first by the server's last answer.
        case samples([Float], time: Duration)
        /// A gap of this many samples of each channel, which were not fetched in time.
        case hole(Int)
    }

    static let sampleRate = 48000
    private let session: PulseSession
    private let stream: OpaquePointer
    private let device: String
    /// The timeout for any data of the device, including silence.
    private let patience: Duration
    private let frameBytes: Int
    private let changes = Changes()
    /// The number of samples of each channel that were read from the buffer, or lost.
    private var position = 0
    /// The capture time of a sample, and its position.
    private var anchor: (position: Int, time: Duration)?
    /// The position at which the server is asked again.
    private var nextQuestion = 0

    /// The flags that the server's events set, kept by this object longer than the events occur.
    private final class Changes {
        var isMoved = false
        var timing = false

        static func at(_ pointer: UnsafeMutableRawPointer?) -> Changes? {
            pointer.map { Unmanaged<Changes>.fromOpaque($0).takeUnretainedValue() }
        }
    }

    /// The time of the last piece, or of the stream's creation.
    private var lastPiece = monotonicNow()

    /// The number of samples between two requests for the latency: a quarter of a second.
    private static let questionInterval = sampleRate / 4

    /// Starts to record from `device`, named as by the server, in fragments of 20 ms.
    init(session: PulseSession, device: String, channels: Int, patience: Duration) throws(CaptureError) {
        self.session = session
        self.device = device
        self.patience = patience
        frameBytes = channels * MemoryLayout<Float>.size
        var format = pa_sample_spec(
            format: PA_SAMPLE_FLOAT32LE, rate: UInt32(Self.sampleRate), channels: UInt8(channels))
        guard let stream = pa_stream_new(session.context, "screen share", &format, nil) else { throw session.failure }
        self.stream = stream
        let second = UInt32(Self.sampleRate * frameBytes)
        // All ones: the server's default. Parameters of playback have no meaning here.
        var attributes = pa_buffer_attr(
            maxlength: second, tlength: .max, prebuf: .max, minreq: .max, fragsize: second / 50)
        // The server's interpolation of its latency counts from the creation of the stream, and is wrong by the time
        // that the device took to start: seconds. So each answer is used only at its own time.
        let flags = pa_stream_flags_t(PA_STREAM_ADJUST_LATENCY.rawValue | PA_STREAM_DONT_MOVE.rawValue)
        guard pa_stream_connect_record(stream, device, &attributes, flags) >= 0 else { throw session.failure }
        let told = Unmanaged.passUnretained(changes).toOpaque()
        pa_stream_set_latency_update_callback(stream, { _, told in Changes.at(told)?.timing = true }, told)
        pa_stream_set_moved_callback(stream, { _, told in Changes.at(told)?.isMoved = true }, told)
    }

    deinit {
        pa_stream_set_latency_update_callback(stream, nil, nil)
        pa_stream_set_moved_callback(stream, nil, nil)
        pa_stream_disconnect(stream)
        pa_stream_unref(stream)
    }

    /// Waits until the server records. Returns false if the signal was raised.
    func begin() throws(CaptureError) -> Bool {
        let stream = stream
        let hasAnswer = try session.wait(atMost: PulseSession.answerTime) {
            pa_stream_get_state(stream) != PA_STREAM_CREATING
        }
        if hasAnswer { try check() }
        return hasAnswer
    }

    /// Waits until the buffer has data, or `isInterrupted` returns true. Returns false if the signal was raised. Throws
    /// if the device sends nothing, as while it is suspended, or if it is not recorded any more.
    func waitForSound(unless isInterrupted: () -> Bool) throws(CaptureError) -> Bool {
        while true {
            let (stream, changes) = (stream, changes)
            let isAwake = try session.rest(atMost: max(lastPiece + patience - monotonicNow(), .zero)) {
                isInterrupted() || changes.timing || changes.isMoved
                    || pa_stream_get_state(stream) != PA_STREAM_READY || pa_stream_readable_size(stream) > 0
            }
            guard isAwake else { return false }
            try check()
            updateTiming()
            if isInterrupted() { return true }
            guard pa_stream_readable_size(stream) > 0 else {
                guard monotonicNow() - lastPiece < patience else {
                    throw .soundDeviceLost(device: device, reason: "it gives no audio")
                }
                continue
            }
            if anchor == nil, try !synchronize() { return false }
            return true
        }
    }

    /// Removes the oldest piece from the buffer; nil if there is none.
    func next() throws(CaptureError) -> Piece? {
        try check()
        var data: UnsafeRawPointer?
        var byteCount = 0
        guard pa_stream_peek(stream, &data, &byteCount) >= 0 else { throw session.failure }
        guard byteCount > 0 else { return nil }
        lastPiece = monotonicNow()
        let sampleCount = Self.sampleCount(ofBytes: byteCount, perSample: frameBytes)
        defer {
            pa_stream_drop(stream)
            position += sampleCount
        }
        askForTiming()
        guard let data else { return .hole(sampleCount) }
        let bytes = UnsafeRawBufferPointer(start: data, count: sampleCount * frameBytes)
        let samples = [Float](unsafeUninitializedCapacity: bytes.count / MemoryLayout<Float>.size) { memory, count in
            UnsafeMutableRawBufferPointer(memory).copyMemory(from: bytes)
            count = memory.count
        }
        let anchor = anchor ?? (position, monotonicNow())
        let distance = Duration.seconds(1) * (position - anchor.position) / Self.sampleRate
        return .samples(samples, time: anchor.time + distance)
    }

    /// Returns the number of samples of each channel in a piece: at most those of a second, the capacity of the buffer.
    /// The server reports the length of a gap, and the next measurement reveals a longer one.
    static func sampleCount(ofBytes byteCount: Int, perSample frameBytes: Int) -> Int {
        min(byteCount / frameBytes, sampleRate)
    }

    /// Waits until the server has reported the capture time of the next sample. Returns false if the signal was raised.
    private func synchronize() throws(CaptureError) -> Bool {
        nextQuestion = position + Self.questionInterval
        guard try session.finish(pa_stream_update_timing_info(stream, nil, nil)) else { return false }
        updateTiming()
        return true
    }

    private func askForTiming() {
        guard position >= nextQuestion else { return }
        nextQuestion = position + Self.questionInterval
        if let question = pa_stream_update_timing_info(stream, nil, nil) { pa_operation_unref(question) }
    }

    /// Reads the latency, which is accurate right after the answer.
    private func updateTiming() {
        guard changes.timing else { return }
        changes.timing = false
        var microseconds: pa_usec_t = 0
        var isNegative: Int32 = 0
        guard pa_stream_get_latency(stream, &microseconds, &isNegative) >= 0 else { return }
        // A monitor returns audio that is heard later: its latency is negative.
        let latency = Duration.microseconds(Int64(clamping: microseconds))
        anchor = (position, isNegative != 0 ? monotonicNow() + latency : monotonicNow() - latency)
    }

    /// Throws if the stream does not record from its device any more.
    private func check() throws(CaptureError) {
        switch pa_stream_get_state(stream) {
        case PA_STREAM_CREATING: return
        case PA_STREAM_READY:
            let place = pa_stream_get_device_name(stream).map { String(cString: $0) }
            guard !changes.isMoved, place == device else {
                throw .soundDeviceLost(device: device, reason: "the audio server moved the recording to another one")
            }
        case PA_STREAM_TERMINATED: throw .soundDeviceLost(device: device, reason: "the audio server removed it")
        default:
            throw .soundDeviceLost(
                device: device, reason: PulseSession.message(pa_context_errno(session.context)))
        }
    }
}
