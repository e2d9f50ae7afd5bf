internal import Dispatch
internal import RTCShareLocks
package import RTCShareRecording
public import RTCShareVideoCoding
internal import RTCShareWireFormat

/// Records what is sent or received in a WebM file as it is, VP8 and Opus, without encoding it again.
///
/// Each picture and each sound is a track with its attendee's name: `alice#content`, `alice`. They stand together as they
/// were taken, by what their sender says of its clocks. The file can be played and looked through at every moment, also
/// where the program is killed: all but the last second is there then.
///
/// A program gives it to those whose media it is to record, `AttendeeSession` or `SharingRoom`, and closes it at the end.
/// Disks can be slow: all is written on a queue of the recorder's own, and neither encoder nor network waits for it.
public final class WebMRecorder: Sendable {
    private struct State {
        var waitingBytes = 0
        var failure: MediaFileError?
        var isClosed = false
        var duration = Duration.zero
        var idsSoFar = 0
        /// Told that nothing is recorded any more.
        var endings: [@Sendable () -> Void] = []

        var isOpen: Bool { !isClosed && failure == nil }
    }

    /// Where the recording goes.
    public let path: String
    private let worker: QueueBound<Worker>
    private let state = Locked(State())
    private let onFailure: @Sendable (MediaFileError) -> Void

    /// As much waits for the disk at most: minutes of what is usual.
    private static let maximumWaitingBytes = 64 << 20

    /// Makes the file, which must not be there yet. Where it can't be written any more, a full disk being the usual reason,
    /// `onFailure` is called once, from a thread of the recorder's: what was recorded until then is kept.
    public init(
        path: String, onFailure: @escaping @Sendable (MediaFileError) -> Void = { _ in }
    ) throws(MediaFileError) {
        self.path = path
        self.onFailure = onFailure
        let muxer = try WebMMuxer(path: path, unixTimeAtZero: MonotonicClock.unixTimeAtZero)
        worker = QueueBound(Worker(muxer), to: DispatchQueue(label: "rtcshare.recorder", qos: .utility))
    }

    /// How long the film is so far.
    public var duration: Duration { state.withLock { $0.duration } }

    /// Writes what came, and ends the file; one in which nothing is, is removed. Does nothing the second time.
    /// - Throws: why the recording has ended before.
    public func close() throws(MediaFileError) {
        let isFirst = state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
        guard isFirst else { return }
        tellEnd()
        let outcome = worker.queue.sync { [worker] in worker.value.close() }
        state.withLock { $0.duration = outcome.duration }
        if let failure = state.withLock({ $0.failure }) ?? outcome.failure { throw failure }
    }

    /// Media of one sender, whose clocks go together.
    package func addSource() -> RecordingSource { RecordingSource(recorder: self, sender: nextID()) }

    /// Calls `body` once nothing is recorded any more; at once where that is so.
    package func onEnd(_ body: @escaping @Sendable () -> Void) {
        let isOpen = state.withLock { state in
            if state.isOpen { state.endings.append(body) }
            return state.isOpen
        }
        if !isOpen { body() }
    }

    /// Whether anything is still recorded.
    package var isOpen: Bool { state.withLock { $0.isOpen } }

    fileprivate func nextID() -> Int {
        state.withLock { state in
            state.idsSoFar += 1
            return state.idsSoFar
        }
    }

    /// Does something with the muxer on the recorder's queue, which holds so many bytes until then.
    fileprivate func enqueue(
        _ byteCount: Int = 0, _ body: @escaping @Sendable (WebMMuxer) throws(MediaFileError) -> Void
    ) {
        let isTooSlow = state.withLock { state in
            state.waitingBytes += byteCount
            return state.waitingBytes > Self.maximumWaitingBytes
        }
        if isTooSlow { fail(.cannotWrite(path: path, reason: "the disk is too slow, record to another")) }
        worker.queue.async { [self] in
            state.withLock { $0.waitingBytes -= byteCount }
            let worker = worker.value
            worker.startTimer(on: self.worker.queue) { [weak self] in self?.advance() }
            do throws(MediaFileError) {
                try worker.perform(body)
            } catch {
                fail(error)
            }
        }
    }

    /// Has what can't change any more be written. On the queue.
    private func advance() {
        do throws(MediaFileError) {
            let duration = try worker.value.advance(to: .nanoseconds(MonotonicClock.now.nanoseconds))
            state.withLock { $0.duration = duration }
        } catch {
            fail(error)
        }
    }

    private func fail(_ error: MediaFileError) {
        let isFirst = state.withLock { state in
            guard state.failure == nil else { return false }
            state.failure = error
            return true
        }
        guard isFirst else { return }
        // What is there gets its end.
        worker.queue.async { [worker] in _ = worker.value.close() }
        tellEnd()
        onFailure(error)
    }

    private func tellEnd() {
        let endings = state.withLock { state in
            defer { state.endings = [] }
            return state.endings
        }
        for ending in endings { ending() }
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

/// The muxer, and the timer that has it write.
private final class Worker {
    private let muxer: WebMMuxer
    private var timer: (any DispatchSourceTimer)?
    private var isClosed = false

    /// How long what can be written waits for that.
    private static let interval = DispatchTimeInterval.milliseconds(100)

    init(_ muxer: WebMMuxer) {
        self.muxer = muxer
    }

    deinit {
        timer?.cancel()
        if !isClosed { try? muxer.close() }
    }

    func perform(_ body: (WebMMuxer) throws(MediaFileError) -> Void) throws(MediaFileError) {
        if !isClosed { try body(muxer) }
    }

    /// Calls `advance` again and again, on the queue.
    func startTimer(on queue: DispatchQueue, _ advance: @escaping @Sendable () -> Void) {
        guard timer == nil, !isClosed else { return }
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + Self.interval, repeating: Self.interval, leeway: .milliseconds(10))
        timer.setEventHandler(handler: advance)
        timer.resume()
        self.timer = timer
    }

    /// Writes what can be written; returns how long the film is.
    func advance(to now: Duration) throws(MediaFileError) -> Duration {
        try perform { muxer throws(MediaFileError) in try muxer.advance(to: now) }
        return muxer.duration
    }

    /// Ends the file; returns how long it is, and what of it could not be written.
    func close() -> (duration: Duration, failure: MediaFileError?) {
        timer?.cancel()
        timer = nil
        guard !isClosed else { return (muxer.duration, nil) }
        isClosed = true
        do throws(MediaFileError) {
            try muxer.close()
            return (muxer.duration, nil)
        } catch {
            return (muxer.duration, error)
        }
    }
}
