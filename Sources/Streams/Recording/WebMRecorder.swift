internal import RTCShareLocks
internal import RTCShareMedia
package import RTCShareRecording
internal import RTCShareTransport
public import RTCShareVideoCoding
internal import RTCShareWireFormat

/// Records what is sent or received in a WebM file as it is, VP8 and Opus, without encoding it again.
///
/// Each picture and each sound is a track with its attendee's name: `alice#content`, `alice`. They stand together as they
/// were taken, by what their sender says of its clocks. The file can be played and looked through at every moment, also
/// where the program is killed: all but the last second is there then.
///
/// A program gives it to those whose media it is to record, `AttendeeSession` or `SharingRoom`, and closes it at the end.
/// Disks can be slow: all is written on a thread of the recorder's own, and neither encoder nor network waits for it.
public final class WebMRecorder: Sendable {
    /// Where the recording goes.
    public let path: String
    private let writing: Writing
    private let thread: WorkerThread

    /// Makes the file, which must not be there yet. Where it can't be written any more, a full disk being the usual reason,
    /// `onFailure` is called once, from a thread of the recorder's: what was recorded until then is kept.
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

    /// How long the film is so far.
    public var duration: Duration { writing.mailbox.read { $0.duration } }

    /// Writes what came, and ends the file; one in which nothing is, is removed. Does nothing the second time.
    /// - Throws: why the recording has ended before.
    public func close() async throws(MediaFileError) {
        guard writing.close() else { return }
        await thread.finish()
        if let failure = writing.mailbox.read({ $0.failure }) { throw failure }
    }

    /// Media of one sender, whose clocks go together.
    package func addSource() -> RecordingSource { RecordingSource(recorder: self, sender: nextID()) }

    /// Calls `body` once nothing is recorded any more; at once where that is so.
    package func onEnd(_ body: @escaping @Sendable () -> Void) {
        let isOpen = writing.mailbox.post { state in
            if state.isOpen { state.endings.append(body) }
            return state.isOpen
        }
        if !isOpen { body() }
    }

    /// Whether anything is still recorded.
    package var isOpen: Bool { writing.mailbox.read { $0.isOpen } }

    fileprivate func nextID() -> Int {
        writing.mailbox.post { state in
            state.idsSoFar += 1
            return state.idsSoFar
        }
    }

    /// Does something with the muxer on the recorder's thread, which holds so many bytes until then.
    fileprivate func enqueue(
        _ byteCount: Int = 0, _ body: @escaping @Sendable (WebMMuxer) throws(MediaFileError) -> Void
    ) {
        writing.enqueue(Job(byteCount: byteCount, body: body))
    }
}

/// The media of one sender, to be recorded.
package struct RecordingSource: Sendable {
    /// What records them.
    package let recorder: WebMRecorder
    fileprivate let sender: Int

    /// Returns the function that takes the VP8 frames of a picture, in the order in which they are decoded, each with the
    /// quarter turns clockwise after which it is upright. A picture of the same name continues in the same track.
    /// `requestKeyFrame` is called where a key frame would make a place to seek to.
    package func picture(
        name: String, isMain: Bool, requestKeyFrame: @escaping @Sendable () -> Void
    ) -> @Sendable ([UInt8], Int, MediaTimes) -> Void {
        let (id, sender, recorder) = (recorder.nextID(), sender, recorder)
        recorder.enqueue { $0.addPicture(id, of: sender, name: name, isMain: isMain) }
        return { [weak recorder] frame, quarterTurns, times in
            recorder?.enqueue(frame.count) { muxer throws(MediaFileError) in
                let asks = try muxer.receive(frame: frame, quarterTurns: quarterTurns, times, ofPicture: id)
                if asks { requestKeyFrame() }
            }
        }
    }

    /// What takes the Opus packets of a sound. One of the same name goes on in the same track.
    package func sound(name: String, isMain: Bool) -> @Sendable ([UInt8], MediaTimes) -> Void {
        let (id, sender, recorder) = (recorder.nextID(), sender, recorder)
        recorder.enqueue { muxer throws(MediaFileError) in
            try muxer.addSound(id, of: sender, name: name, isMain: isMain)
        }
        return { [weak recorder] packet, times in
            recorder?.enqueue(packet.count) { muxer throws(MediaFileError) in
                try muxer.receive(packet: packet, times, ofSound: id)
            }
        }
    }
}

/// Something to be done with the muxer.
private struct Job: Sendable {
    let byteCount: Int
    let body: @Sendable (WebMMuxer) throws(MediaFileError) -> Void
}

/// The muxer, its thread's work, and the jobs that wait.
private final class Writing: Sendable {
    struct State {
        var jobs: [Job] = []
        /// Of the jobs that are not done.
        var waitingBytes = 0
        var failure: MediaFileError?
        var isClosed = false
        var duration = Duration.zero
        var idsSoFar = 0
        /// Called when nothing is recorded any more.
        var endings: [@Sendable () -> Void] = []

        var isOpen: Bool { !isClosed && failure == nil }
    }

    let mailbox = Mailbox(State())
    /// Only the thread uses it.
    private nonisolated(unsafe) let muxer: WebMMuxer
    private let path: String
    private let onFailure: @Sendable (MediaFileError) -> Void

    /// As much waits for the disk at most: minutes of what is usual.
    private static let maximumWaitingBytes = 64 << 20
    /// How long what can be written waits for that.
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
        // Received media come on an event loop, which a program's closure is not to hold up.
        if isTooSlow { WorkerThread.start(named: "recorder") { [self] in report(failure) } }
    }

    /// Asks the thread to write what came, and to end the file; false if somebody did before.
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
                    try job.body(muxer)
                    mailbox.post { $0.waitingBytes -= job.byteCount }
                }
                let now = Self.now
                guard advance ?? .zero <= now else { continue }
                if advance != nil { try muxer.advance(to: now) }
                advance = now + Self.interval
                showDuration()
            }
        } catch {
            fail(error)
        }
        do throws(MediaFileError) {
            try muxer.close()
        } catch {
            mailbox.post { $0.failure = $0.failure ?? error }
        }
        showDuration()
    }

    /// The jobs that wait, of which there are none at `time`; nil when all are done and nothing more is recorded.
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
