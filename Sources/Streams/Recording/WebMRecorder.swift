internal import RTCShareLocks
internal import RTCShareMedia
internal import RTCShareRecording
internal import RTCShareTransport
public import RTCShareVideoCoding
internal import RTCShareWireFormat

/// Records sent or received media in a WebM file without encoding it again, or in a Matroska file if its name ends in
/// `.mkv`. WebM files can't contain H.264.
///
/// Each video and each audio stream is a track with its attendee's name: `alice#content`, `alice`. Tracks are
/// synchronized by their capture times, according to their sender's reports of its clocks. The file can be played, with
/// seeking, at every moment, even if the program is killed: then only the last second is missing.
///
/// A program passes it to the objects whose media it records, `AttendeeSession` or `SharingRoom`, and closes it at the
/// end. Disks can be slow: the recorder writes on a thread of its own, and neither encoder nor network waits for it.
public final class WebMRecorder: Sendable {
    /// The path of the recording.
    public let path: String
    private let writing: Writing
    private let thread: WorkerThread

    /// Creates the file, which must not exist yet. If writing fails, usually because the disk is full, `onFailure` is
    /// called once, on a thread of the recorder. The recording up to that time is kept. It is also called with
    /// `unsuitableVideo` for each video whose codec the file can't contain, and with `tooManyTracks` for the first track
    /// that has no space in it, while everything else is still recorded.
    public init(
        path: String, onFailure: @escaping @Sendable (MediaFileError) -> Void = { _ in }
    ) throws(MediaFileError) {
        self.path = path
        let writing = Writing(
            try WebMMuxer(path: path, unixTimeAtZero: MonotonicClock.unixTimeAtZero), path: path, onFailure: onFailure)
        self.writing = writing
        do throws(WorkerThreadError) {
            thread = try WorkerThread(named: "recorder") { writing.run() }
        } catch {
            throw .cannotWrite(path: path, reason: systemMessage(error.errorNumber))
        }
    }

    deinit {
        _ = writing.close()
    }

    /// Returns the reason why a file with this path can't contain a video of a codec; nil if it can.
    package static func problem(withCodec name: String, in path: String) -> MediaFileError? {
        WebMMuxer.canContain(codec: name, in: path)
            ? nil : .unsuitableVideo(path: path, name: "the video", codec: name)
    }

    /// The duration of the recording so far.
    public var duration: Duration { writing.mailbox.read { $0.duration } }

    /// Writes the waiting media, and ends the file, or removes it if it is empty. Does nothing the second time.
    /// - Throws: The reason why the recording ended before, or has not all tracks.
    public func close() async throws(MediaFileError) {
        guard writing.close() else { return }
        await thread.finish()
        if let failure = writing.mailbox.read({ $0.failure ?? $0.omission }) { throw failure }
    }

    /// Adds the media of one sender, whose clocks are synchronized.
    package func addSource() -> RecordingSource { RecordingSource(recorder: self, sender: nextID()) }

    /// Calls `body` when the recording has ended; at once if that is already the case.
    package func onEnd(_ body: @escaping @Sendable () -> Void) {
        let isOpen = writing.mailbox.post { state in
            if state.isOpen { state.endings.append(body) }
            return state.isOpen
        }
        if !isOpen { body() }
    }

    /// Whether the recording is still active.
    package var isOpen: Bool { writing.mailbox.read { $0.isOpen } }

    func nextID() -> Int {
        writing.mailbox.post { state in
            state.idsSoFar += 1
            return state.idsSoFar
        }
    }

    /// Runs a job with the muxer on the recorder's thread; the job holds so many bytes until then.
    func enqueue(
        _ byteCount: Int = 0, _ body: @escaping @Sendable (WebMMuxer) throws(MediaFileError) -> Void
    ) {
        writing.enqueue(Job(byteCount: byteCount, body: body))
    }
}

/// A job with the muxer.
private struct Job: Sendable {
    let byteCount: Int
    let body: @Sendable (WebMMuxer) throws(MediaFileError) -> Void
}

/// The muxer for its thread, and the waiting jobs.
private final class Writing: Sendable {
    struct State {
        var jobs: [Job] = []
        /// The number of bytes of the jobs that are not done.
        var waitingBytes = 0
        var failure: MediaFileError?
        /// The reason why a track is not recorded.
        var omission: MediaFileError?
        var isClosed = false
        var duration = Duration.zero
        var idsSoFar = 0
        /// Called at the end of the recording.
        var endings: [@Sendable () -> Void] = []

        var isOpen: Bool { !isClosed && failure == nil }
    }

    let mailbox = Mailbox(State())
    /// Used only by the thread.
    private nonisolated(unsafe) let muxer: WebMMuxer
    private let path: String
    private let onFailure: @Sendable (MediaFileError) -> Void

    /// The maximum number of bytes that wait for the disk: minutes of usual media.
    private static let maximumWaitingBytes = 64 << 20
    /// The interval at which blocks are written.
    private static let interval = Duration.milliseconds(100)

    init(_ muxer: WebMMuxer, path: String, onFailure: @escaping @Sendable (MediaFileError) -> Void) {
        self.muxer = muxer
        self.path = path
        self.onFailure = onFailure
    }

    private static var now: Duration { .nanoseconds(MonotonicClock.now.nanoseconds) }

    func enqueue(_ job: Job) {
        let failure = MediaFileError.cannotWrite(path: path, reason: "the disk is too slow, record to another")
        let isTooSlow = mailbox.post { state in
            guard state.isOpen else { return false }
            guard state.waitingBytes + job.byteCount <= Self.maximumWaitingBytes else {
                state.failure = failure
                return true
            }
            state.waitingBytes += job.byteCount
            state.jobs.append(job)
            return false
        }
        // Received media arrive on an event loop, which a program's closure must not block.
        if isTooSlow { WorkerThread.start(named: "recorder") { [self] in report(failure) } }
    }

    /// Requests the thread to write the waiting media and to end the file. Returns false if that was requested before.
    func close() -> Bool {
        let isFirst = mailbox.post { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
        if isFirst { callEndings() }
        return isFirst
    }

    func run() {
        do throws(MediaFileError) {
            var advance: Duration?
            while let jobs = nextJobs(orAt: advance) {
                for job in jobs {
                    try carryOut(job)
                    mailbox.post { $0.waitingBytes -= job.byteCount }
                }
                let now = Self.now
                guard advance ?? .zero <= now else { continue }
                if advance != nil {
                    try carryOut(Job(byteCount: 0) { muxer throws(MediaFileError) in try muxer.advance(to: now) })
                }
                advance = now + Self.interval
                showDuration()
            }
        } catch {
            fail(error)
        }
        do throws(MediaFileError) {
            try carryOut(Job(byteCount: 0) { muxer throws(MediaFileError) in try muxer.close() })
        } catch {
            mailbox.post { $0.failure = $0.failure ?? error }
        }
        showDuration()
    }

    private func carryOut(_ job: Job) throws(MediaFileError) {
        do throws(MediaFileError) {
            try job.body(muxer)
        } catch {
            switch error {
            case .unsuitableVideo, .tooManyTracks:
                mailbox.post { $0.omission = $0.omission ?? error }
                onFailure(error)
            default: throw error
            }
        }
    }

    /// Returns the waiting jobs, or none at `time`; nil when all are done and the recording has ended.
    private func nextJobs(orAt time: Duration?) -> [Job]? {
        mailbox.take { state in
            guard state.jobs.isEmpty else {
                defer { state.jobs = [] }
                return .done(state.jobs)
            }
            guard state.isOpen else { return .done(nil) }
            return time.map { $0 <= Self.now } ?? false ? .done([]) : .wait(until: time)
        }
    }

    private func showDuration() {
        let duration = muxer.duration
        mailbox.post { $0.duration = duration }
    }

    private func fail(_ error: MediaFileError) {
        let isFirst = mailbox.post { state in
            guard state.failure == nil else { return false }
            state.failure = error
            return true
        }
        if isFirst { report(error) }
    }

    private func report(_ failure: MediaFileError) {
        callEndings()
        onFailure(failure)
    }

    private func callEndings() {
        let endings = mailbox.post { state in
            defer { state.endings = [] }
            return state.endings
        }
        for ending in endings { ending() }
    }
}
