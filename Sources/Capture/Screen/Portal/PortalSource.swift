internal import Glibc
internal import RTCShareLocks
public import RTCShareMedia

/// Captures a monitor or a window that the user chooses on a Wayland desktop, through the ScreenCast portal and
/// PipeWire.
///
/// The desktop asks the user at the first ``start()``, or at ``open()``. While it asks, the source is muted, and
/// observers are notified (``CaptureInterruption/awaitingChoice``). If the user declines, the source ends with
/// ``CaptureError/shareDeclined``, which observers receive as a system failure, and the next start asks again.
///
/// Frames are like those of a ``DisplaySource``: sent on a change, with the changed parts, and with the pointer. If a
/// window or monitor changes its size, later frames have the new size. The share ends with an error if the desktop ends
/// it.
public final class PortalSource: CaptureSource, BroadcastingVideoSource {
    /// The size, 1920x1080 until the user has chosen, and the rate.
    public var captureFormat: CaptureFormat { grant.format }
    /// The token that shares the same at the next start without a question, once; nil before the user has chosen, and
    /// if the desktop provides none. It is a secret: anyone who has it can share this user's screen.
    public var restoreToken: String? { grant.restoreToken }
    /// The sinks and observers.
    public let broadcaster = VideoBroadcaster()
    private let grant: PortalGrant
    private let thread = CaptureThread()

    /// Creates a source of the user's choice. The desktop does not ask if `restoreToken`, from an earlier source, is
    /// still valid.
    public convenience init(
        _ kind: ScreenCastPortal.Kind = .any, restoreToken: String? = nil, framesPerSecond: Double = 30
    ) throws(CaptureError) {
        try self.init(kind, restoreToken: restoreToken, framesPerSecond: framesPerSecond) {
            () throws(ScreenCastPortal.Problem) in try ScreenCastPortal.bus()
        }
    }

    /// Creates a source with the portal of a bus.
    init(
        _ kind: ScreenCastPortal.Kind, restoreToken: String?, framesPerSecond: Double,
        on bus: @escaping @Sendable () throws(ScreenCastPortal.Problem) -> SessionBus
    ) throws(CaptureError) {
        try CaptureFormat.check(framesPerSecond: framesPerSecond)
        grant = PortalGrant(kind, restoreToken: restoreToken, framesPerSecond: framesPerSecond, on: bus)
    }

    /// Makes the desktop ask the user what to share, and waits for the answer. Does nothing if there is one already.
    /// - Throws: ``CaptureError/shareDeclined`` if the user declines, or the reason why the desktop can't ask.
    public func open() throws(CaptureError) { _ = try grant.cast(until: nil) }

    /// Starts the delivery of frames, after the user has chosen.
    public func start() throws {
        let (grant, broadcaster) = (grant, broadcaster)
        try thread.start { signal in
            broadcaster.run(until: signal) { () throws(CaptureError) in
                guard let cast = try Self.opened(grant, for: broadcaster, until: signal) else { return }
                do throws(CaptureError) {
                    try cast.run(as: grant.format, to: broadcaster, until: signal)
                } catch {
                    grant.forget()
                    throw error
                }
            }
        }
    }

    /// Returns the user's choice; nil if the signal was raised before.
    private static func opened(
        _ grant: PortalGrant, for broadcaster: VideoBroadcaster, until signal: StopSignal
    ) throws(CaptureError) -> ScreenCast? {
        var reporter = CaptureReporter(broadcaster: broadcaster, size: grant.format.size)
        defer { reporter.setMuted(false) }
        if !grant.isGiven {
            reporter.setMuted(true)
            reporter.report(.awaitingChoice, size: nil, now: monotonicNow())
        }
        let cast = try grant.cast(until: signal)
        if cast != nil { reporter.report(nil, size: grant.format.size, now: monotonicNow()) }
        return cast
    }

    /// Stops capture and notifies the sinks. The desktop still shows that the screen is shared until the source is
    /// released.
    public func stop() { thread.stop() }
}

/// The user's permission, from the first question on.
final class PortalGrant: Sendable {
    private struct State {
        var cast: ScreenCast?
        /// The token with which the desktop does not ask; valid for one share.
        var storedToken: String?
        var size = PixelSize(width: 1920, height: 1080)
    }

    private let state: Locked<State>
    private let kind: ScreenCastPortal.Kind
    private let framesPerSecond: Double
    private let bus: @Sendable () throws(ScreenCastPortal.Problem) -> SessionBus

    init(
        _ kind: ScreenCastPortal.Kind, restoreToken: String?, framesPerSecond: Double,
        on bus: @escaping @Sendable () throws(ScreenCastPortal.Problem) -> SessionBus
    ) {
        (self.kind, self.framesPerSecond, self.bus) = (kind, framesPerSecond, bus)
        state = Locked(State(storedToken: restoreToken))
    }

    var format: CaptureFormat {
        CaptureFormat(size: state.withLock { $0.size }, framesPerSecond: framesPerSecond)
    }

    var isGiven: Bool { state.withLock { $0.cast != nil } }
    var restoreToken: String? { state.withLock { $0.cast?.session.grant.restoreToken } }

    /// Returns the user's choice, after waiting for it; nil if `signal` was raised before.
    func cast(until signal: StopSignal?) throws(CaptureError) -> ScreenCast? {
        let (known, token) = state.withLock { ($0.cast, $0.storedToken) }
        if let known { return known }
        do throws(CaptureError) {
            let cast = try ask(token, until: signal)
            let size = try cast.awaitFormat(until: signal)
            state.withLock { ($0.cast, $0.size, $0.storedToken) = (cast, size, nil) }
            return cast
        } catch {
            if signal?.isRaised == true { return nil }
            throw error
        }
    }

    private func ask(_ token: String?, until signal: StopSignal?) throws(CaptureError) -> ScreenCast {
        let bus: SessionBus
        do throws(ScreenCastPortal.Problem) {
            bus = try self.bus()
        } catch {
            throw .portalUnavailable(error)
        }
        return try ScreenCast(kind, restoreToken: token, framesPerSecond: framesPerSecond, on: bus, until: signal)
    }

    /// Removes the permission after the desktop has ended it: the next start asks again.
    func forget() { state.withLock { $0.cast = nil } }
}

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
