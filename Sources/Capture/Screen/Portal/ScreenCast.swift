internal import Glibc
internal import RTCShareMedia

/// A permission of the desktop, with its frames.
final class ScreenCast: Sendable {
    let session: ScreenCastSession
    private let stream: NodeStream

    /// The timeout for the format of a permitted stream.
    private static let patience = Duration.seconds(10)
    /// The time after which a stream without a frame is considered to show an idle screen, of which some desktops send
    /// none.
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
            if let size = stream.size { return PixelRectangle(x: 0, y: 0, size: size).even.size }
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
        var pictures = CastPictures()
        var newest: NodePicture?
        var reporter = CaptureReporter(broadcaster: broadcaster, size: format.size)
        // Later frames, after the end or after another start, must not be muted.
        defer { reporter.setMuted(false) }
        var pausedSince: Duration?
        var cadence = ScreenCadence(framesPerSecond: format.framesPerSecond, now: monotonicNow())
        let interval = Duration.seconds(1) / format.framesPerSecond
        let begin = monotonicNow()
        broadcaster.whenWanted { [weak signal] in signal?.wake() }
        while !signal.isRaised {
            try iterate()
            let isLate = pictures.size == nil && monotonicNow() - begin > Self.firstPicturePatience
            if isLate { stream.lookForMissedPictures() }
            // The buffer before is given back when the next one is available.
            while let picture = stream.take() {
                if pictures.receive(picture.content) { newest = picture }
            }
            let now = monotonicNow()
            let isAwaited = isLate && pictures.size == nil
            pausedSince = pictures.size != nil && stream.isPaused ? pausedSince ?? now : nil
            let isHeld = pausedSince.map { now - $0 > Self.holdPatience } ?? false
            // A source that waits for the first frame of an idle screen is muted, too.
            reporter.setMuted(isHeld || isAwaited)
            reporter.report(isAwaited ? .awaitingPicture : isHeld ? .heldByDesktop : nil, size: pictures.size, now: now)
            guard broadcaster.hasSinks else {
                signal.rest(for: Self.restInterval) { !broadcaster.hasSinks }
                cadence.skip(now: monotonicNow())
                continue
            }
            let demand = broadcaster.demand
            let isDue = demand > .nothing && (pictures.hasChange || demand == .picture)
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
                    try pictures.frame(of: picture.content, evenIfOld: demand == .picture, now: monotonicNow())
                }
                guard let read else {
                    pictures.losePixels()
                    continue
                }
                frame = read
            } else {
                frame = try pictures.frame(of: nil, evenIfOld: demand == .picture, now: monotonicNow())
            }
            if let frame { broadcaster.send(frame) }
            cadence.didLook(isFrame: frame != nil, pointerMoved: false, now: monotonicNow())
        }
    }
}
