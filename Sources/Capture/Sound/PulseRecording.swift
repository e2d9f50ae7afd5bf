import RTCShareCPulse
import RTCShareMedia

/// A stream that records from one source of the audio server, of the one thread that uses it.
///
/// A server would move it to its default source when its own goes, and a person could by a mixer: to a source of another
/// kind, that nobody wanted to be recorded. So the server is asked not to move it, and a stream that is moved all the same
/// gives nothing more.
final class PulseRecording {
    /// What lay in the stream's buffer.
    enum Piece {
        /// Samples, interleaved, and when the first was taken by what the server said last.
        case samples([Float], time: Duration)
        /// This many samples of each channel were lost, as they were not fetched in time.
        case hole(Int)
    }

    static let sampleRate = 48000
    private let session: PulseSession
    private let stream: OpaquePointer
    private let device: String
    /// How long the device may give nothing, not even silence.
    private let patience: Duration
    private let frameBytes: Int
    private let changes = Changes()
    /// Samples of each channel that were taken out of the buffer, or lost.
    private var position = 0
    /// When a sample was taken, and which.
    private var anchor: (position: Int, time: Duration)?
    /// From where on the server is asked again.
    private var nextQuestion = 0

    /// What the server's events set, kept by this object for longer than they are told.
    private final class Changes {
        var isMoved = false
        var timing = false

        static func at(_ pointer: UnsafeMutableRawPointer?) -> Changes? {
            pointer.map { Unmanaged<Changes>.fromOpaque($0).takeUnretainedValue() }
        }
    }

    /// When the last piece came, or when the stream was made.
    private var lastPiece = monotonicNow()

    /// How many samples lie between two questions for the latency: a quarter of a second.
    private static let questionInterval = sampleRate / 4

    /// Begins to record from `device`, as the server names it, in fragments of 20 ms.
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
        // All ones: the server's default. What playing needs has no meaning here.
        var attributes = pa_buffer_attr(
            maxlength: second, tlength: .max, prebuf: .max, minreq: .max, fragsize: second / 50)
        // The server's interpolation of its latency counts from when the stream was made, and is off by as much as the
        // device took to begin: for seconds. So it is asked, and believed at the moment of its answer only.
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

    /// Waits until the server records; false where the signal was raised.
    func begin() throws(CaptureError) -> Bool {
        let stream = stream
        let hasAnswer = try session.wait(atMost: PulseSession.answerTime) {
            pa_stream_get_state(stream) != PA_STREAM_CREATING
        }
        if hasAnswer { try check() }
        return hasAnswer
    }

    /// Waits until there is something in the buffer, or `isInterrupted` returns true; false where the signal was raised.
    /// Throws where the device gives nothing, as while it is suspended, or where it is not recorded any more.
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

    /// Takes the oldest piece out of the buffer; nil where there is none.
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

    /// How many samples of each channel a piece has: at most a second's, which is what the buffer has room for. The server
    /// says of a hole how long it is, and of one that is longer the next measurement tells.
    static func sampleCount(ofBytes byteCount: Int, perSample frameBytes: Int) -> Int {
        min(byteCount / frameBytes, sampleRate)
    }

    /// Waits until the server has said when the next sample was taken; false where the signal was raised.
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

    /// Reads the latency, which is right when the answer has just come.
    private func updateTiming() {
        guard changes.timing else { return }
        changes.timing = false
        var microseconds: pa_usec_t = 0
        var isNegative: Int32 = 0
        guard pa_stream_get_latency(stream, &microseconds, &isNegative) >= 0 else { return }
        // A monitor gives what has yet to be heard: that is of the future.
        let latency = Duration.microseconds(Int64(clamping: microseconds))
        anchor = (position, isNegative != 0 ? monotonicNow() + latency : monotonicNow() - latency)
    }

    /// Throws where the stream doesn't record from its device any more.
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
