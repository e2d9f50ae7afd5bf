internal import RTCShareLocks
package import RTCShareMedia
package import RTCShareWireFormat

/// A thread that converts and encodes what a source gives, and never makes the source or the network wait.
///
/// A source hands over its frame and goes on. The thread takes the newest one: what a newer frame replaced is counted in
/// ``VideoEncoderStatistics/framesDropped``. While the source rests, the last picture is sharpened until it is fine and
/// then repeated once a second; a key frame that somebody needs is made of it at once.
///
/// This file and the worker's read the monotonic clock, as it is where time enters: deadlines, pauses and `totalEncodeTime` are about
/// how long things take on this machine. All that follows from a time is decided in `FrameCadence`, which has none.
package final class VideoEncoderThread: VideoSink {
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
        /// How libvpx goes about the pictures; nil has what suits them: those that are said to be `motion` are a camera's.
        package var tuning: VP8Encoder.Tuning?

        /// What suits a screen.
        package init(
            bitrate: DataRate, framesPerSecond: Double = 30,
            maximumSize: PixelSize = PixelSize(width: 1920, height: 1080), hint: ContentHint? = nil,
            turnsPictures: Bool = false, speed: Int? = nil
        ) {
            self.bitrate = bitrate
            self.framesPerSecond = framesPerSecond
            self.maximumSize = maximumSize
            self.hint = hint
            self.turnsPictures = turnsPictures
            self.speed = speed
        }
    }

    /// What happens beside frames.
    package enum Event: Sendable {
        /// A frame could not be encoded. The thread goes on, and tries again with what comes next.
        case failed(VideoCodingError)
        /// Viewers had something else than the encoder built on, by a frame that is not libvpx's. The next one is a key frame.
        case drifted
        /// The source gives nothing more; with an error where that was not asked for.
        case sourceEnded((any Error)?)
    }

    private let mailbox: Mailbox<EncoderThreadState>
    private let thread: WorkerThread

    /// Starts the thread. Both closures are called on it, with no lock held.
    package init(
        settings: Settings, onFrame: @escaping @Sendable (EncodedVideoFrame) -> Void,
        onEvent: @escaping @Sendable (Event) -> Void = { _ in }
    ) throws(VideoCodingError) {
        let mailbox = Mailbox(EncoderThreadState(settings: settings, now: CaptureClock.now))
        self.mailbox = mailbox
        do throws(WorkerThreadError) {
            thread = try WorkerThread(named: "video encoder") {
                EncoderThreadWorker(mailbox: mailbox, onFrame: onFrame, onEvent: onEvent).run()
            }
        } catch {
            throw .threadFailed(reason: systemMessage(error.errorNumber))
        }
    }

    deinit {
        end()
    }

    /// Takes a frame, and returns at once.
    package func receive(_ frame: VideoFrame) {
        let now = CaptureClock.now
        // The replaced frame is let go after the lock is: freeing its memory takes time.
        let replaced = mailbox.post { $0.receive(frame, now: now) }
        withExtendedLifetime(replaced) {}
    }

    /// What a frame given now would be of use for: nothing, while the one that waits is not taken up for long still.
    package var demand: FrameDemand {
        let now = CaptureClock.now
        return mailbox.read { $0.demand(now: now) }
    }

    /// Takes a frame when the one before it has been taken up, so that none is replaced: for a source that can wait, such
    /// as a pipe. Where that takes longer than `patience`, the encoder being paused, the older frame is replaced.
    package func receiveInTurn(_ frame: VideoFrame, patience: Duration) {
        waitForTurn(patience: patience)
        receive(frame)
    }

    /// Returns when the frame that was given last has been taken up, or after `patience`.
    package func waitForTurn(patience: Duration) {
        let deadline = CaptureClock.now + patience
        mailbox.take { state in
            state.slot == nil || state.isStopping || CaptureClock.now >= deadline ? .done(()) : .wait(until: deadline)
        }
    }

    /// Forgets what the source gave so far, for another takes its place: the frame that waits, the last picture, an end
    /// that was not told yet, a mute. Nothing of it is given to `onFrame` after this returns; called from within that
    /// callback, its frame is the last.
    package func forgetPicture() {
        let now = CaptureClock.now
        let forgotten = mailbox.post { $0.forgetPicture(now: now) }
        withExtendedLifetime(forgotten) {}
        guard !thread.isCurrent else { return }
        mailbox.take { $0.isDelivering ? .wait(until: nil) : .done(()) }
    }

    /// Passes the source's end on as an event, after the frame that may still wait.
    package func sourceDidEnd(error: (any Error)?) {
        mailbox.post { $0.endings.append(error) }
    }

    /// Asks for a key frame, which is not made for this before a time on the monotonic clock: how far apart they are is for
    /// who asks to say. However many ask before it is made, one answers them all. Where no frame waits, it is made of the
    /// last picture, at once.
    package func requestKeyFrame(notBefore time: Duration = .zero) {
        mailbox.post { $0.cadence.requestKeyFrame(notBefore: time) }
    }

    /// Follows what the source says of its pictures, unless the settings say it: no new encoder, no key frame.
    package func contentHintDidChange(_ hint: ContentHint) {
        let now = CaptureClock.now
        mailbox.post { $0.sourceHintDidChange(hint, now: now) }
    }

    /// While the source is muted nothing is encoded, and key frames that are asked for wait. Afterwards the newest frame
    /// is encoded at once.
    package func muteDidChange(_ isMuted: Bool) {
        let now = CaptureClock.now
        mailbox.post { $0.muteDidChange(isMuted, now: now) }
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
            statistics.qualityLimitationDurations = state.governor.durations(now: now)
            statistics.qualityLimitationResolutionChanges = state.governor.resolutionChanges
            return statistics
        }
    }

    /// Asks the thread to end, as its last reference's release does too. A frame that it is encoding may still be called back.
    package func end() {
        mailbox.post { $0.isStopping = true }
    }

    /// Ends the thread, and blocks the caller, which is not a task, until it has ended: nothing is called back after this. Can be
    /// called more than once. A callback that calls it is the last.
    package func stop() {
        end()
        thread.join()
    }
}
