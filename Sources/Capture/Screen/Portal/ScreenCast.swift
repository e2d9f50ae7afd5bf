internal import Glibc
internal import RTCShareLocks
internal import RTCShareMedia

/// A permission of the desktop, with its frames.
///
/// The desktop writes frames only while there are sinks. Nobody would give its buffers back, and the changes of frames
/// without a buffer are not reported later.
final class ScreenCast: Sendable {
    let session: ScreenCastSession
    private let stream: NodeStream
    /// The frames of the last run. A desktop may send no other before something changes.
    private let kept = Locked(CastPictures())

    /// The timeout for the format of a permitted stream.
    private static let patience = Duration.seconds(10)
    /// The time after which a stream without a new frame is considered to show an idle screen, of which some desktops
    /// send none.
    private static let firstPicturePatience = Duration.seconds(1)
    /// The time after which a paused stream is reported: streams pause briefly when their frames change size.
    private static let holdPatience = Duration.milliseconds(700)
    /// The interval at which the end is polled while the source has no sinks.
    private static let restInterval = Duration.seconds(2)

    init(
        _ kind: ScreenCastPortal.Kind, restoreToken: String?, framesPerSecond: Double, on bus: SessionBus,
        until signal: StopSignal?
    ) throws(CaptureError) {
        do throws(ScreenCastSession.Refusal) {
            session = try ScreenCastSession(kind, restoreToken: restoreToken, on: bus, until: signal)
        } catch {
            switch error {
            case .declined: throw .shareDeclined
            case .problem(let problem): throw .portalUnavailable(problem)
            }
        }
        let remote: Int32
        do throws(ScreenCastPortal.Problem) {
            remote = try session.openRemote()
        } catch {
            throw .portalUnavailable(error)
        }
        do throws(NodeStream.Failure) {
            stream = try NodeStream(
                remote: remote, node: session.grant.node, of: session, framesPerSecond: framesPerSecond)
        } catch {
            throw .screenCastLost(reason: error.reason)
        }
    }

    /// Returns the size of the frames, after waiting for it. Throws if `signal` was raised before.
    func awaitFormat(until signal: StopSignal?) throws(CaptureError) -> PixelSize {
        let deadline = monotonicNow() + Self.patience
        let signal = if let signal { signal } else { try StopSignal() }
        while true {
            try iterate()
            if let size = stream.size {
                stream.setActive(false)
                return PixelRectangle(x: 0, y: 0, size: size).even.size
            }
            guard monotonicNow() < deadline, !signal.isRaised else {
                throw .screenCastLost(reason: "it sent no frame within \(Self.patience.components.seconds) seconds")
            }
            _ = signal.wait(readable: stream.descriptor, or: session.descriptor, until: deadline)
        }
    }

    private func iterate() throws(CaptureError) {
        do throws(NodeStream.Failure) {
            try stream.acknowledge()
        } catch {
            throw .screenCastLost(reason: error.reason)
        }
        if session.isClosed() { throw .screenCastEnded }
    }

    /// Sends frames until the signal is raised. Throws if the desktop ends the share.
    func run(
        as format: CaptureFormat, to broadcaster: VideoBroadcaster, until signal: StopSignal
    ) throws(CaptureError) {
        var pictures = kept.withLock { kept in
            defer { kept = CastPictures() }
            return kept
        }
        var newest: NodePicture?
        defer {
            stream.setActive(false)
            // What was not sent may be meant to stay unseen, and without it the frame before is not the newest.
            if newest == nil, pictures.hasFrame {
                pictures.losePixels()
                kept.withLock { $0 = pictures }
            }
        }
        var reporter = CaptureReporter(broadcaster: broadcaster, size: format.size)
        // Later frames, after the end or after another start, must not be muted.
        defer { reporter.setMuted(false) }
        var pausedSince: Duration?
        var cadence = ScreenCadence(framesPerSecond: format.framesPerSecond, now: monotonicNow())
        let interval = Duration.seconds(1) / format.framesPerSecond
        // The time since which the desktop writes frames; nil without sinks.
        var activeSince: Duration?
        // Whether there was a frame since then: one from before may be old.
        var isFresh = false
        // Whether no frame of this run was sent.
        var isFirst = true
        broadcaster.whenWanted { [weak signal] in signal?.wake() }
        while !signal.isRaised {
            try iterate()
            let isLate = !isFresh && (activeSince.map { monotonicNow() - $0 > Self.firstPicturePatience } ?? false)
            if isLate, pictures.size == nil { stream.lookForMissedPictures() }
            // The buffer before is given back when the next one is available.
            while let picture = stream.take() {
                guard pictures.receive(picture.content) else { continue }
                newest = picture
                isFresh = activeSince != nil
            }
            let now = monotonicNow()
            let isAwaited = isLate && pictures.size == nil
            pausedSince = activeSince != nil && pictures.size != nil && stream.isPaused ? pausedSince ?? now : nil
            let isHeld = pausedSince.map { now - $0 > Self.holdPatience } ?? false
            // A source that waits for the first frame of an idle screen is muted, too.
            reporter.setMuted(isHeld || isAwaited)
            reporter.report(isAwaited ? .awaitingPicture : isHeld ? .heldByDesktop : nil, size: pictures.size, now: now)
            guard broadcaster.hasSinks else {
                if activeSince != nil { stream.setActive(false) }
                (activeSince, isFresh) = (nil, false)
                signal.rest(for: Self.restInterval) { !broadcaster.hasSinks }
                cadence.skip(now: monotonicNow())
                continue
            }
            if activeSince == nil {
                pictures.loseTrack()
                stream.setActive(true)
                activeSince = now
            }
            let demand = broadcaster.demand
            let evenIfOld = demand == .picture || isFirst
            let isAvailable = isFresh || isLate
            let isDue =
                demand > .nothing && isAvailable && (pictures.hasChange || evenIfOld && pictures.hasFrame)
            let deadline = isDue ? cadence.deadline(hasChange: true) : monotonicNow() + ScreenCadence.restInterval
            guard isDue, monotonicNow() >= deadline else {
                // A busy sink, or one that needs the frame again, does not notify; changes arrive by themselves.
                let limit = pictures.hasChange ? min(deadline, monotonicNow() + interval) : deadline
                let wakening = signal.wait(readable: stream.descriptor, or: session.descriptor, until: limit)
                if wakening == .stopped { return }
                continue
            }
            let frame: VideoFrame?
            if let picture = newest {
                newest = nil
                let read = try picture.withMemory { () throws(CaptureError) in
                    try pictures.frame(of: picture.content, evenIfOld: evenIfOld, now: monotonicNow())
                }
                guard let read else {
                    pictures.losePixels()
                    continue
                }
                frame = read
            } else {
                frame = try pictures.frame(of: nil, evenIfOld: evenIfOld, now: monotonicNow())
            }
            if let frame {
                // The kept frame may show changes that no sink has received.
                broadcaster.send(isFirst ? VideoFrame(buffer: frame.buffer, timestamp: frame.timestamp) : frame)
                isFirst = false
            }
            cadence.didLook(isFrame: frame != nil, pointerMoved: false, now: monotonicNow())
        }
    }
}
