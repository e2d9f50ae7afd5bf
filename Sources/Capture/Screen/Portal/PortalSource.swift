internal import Glibc
internal import RTCShareLocks
public import RTCShareMedia

/// Gives what a person chooses to share on a Wayland desktop: a monitor or a window, by the ScreenCast portal and PipeWire.
///
/// The desktop asks the person at the first ``start()``, or before it at ``open()``. While it asks, the source is muted, and
/// observers are told (``CaptureInterruption/awaitingChoice``); a no ends the source with ``CaptureError/shareDeclined``,
/// which observers are told as a failure of the system, and the next start asks again.
///
/// Frames come as those of a ``DisplaySource`` do: when something changes, with what did, and with the pointer drawn in. A
/// window or monitor that changes its size is followed. The share ends with an error where the desktop ends it.
public final class PortalSource: CaptureSource, BroadcastingVideoSource {
    /// The size, 1920x1080 until the person has chosen, and the rate.
    public var captureFormat: CaptureFormat { grant.format }
    /// What has the same shared at the next start without a question, once; nil before the person has chosen, and where the
    /// desktop gives none. Whoever has it can share the screen as this user: it is a secret.
    public var restoreToken: String? { grant.restoreToken }
    /// The sinks and observers.
    public let broadcaster = VideoBroadcaster()
    private let grant: PortalGrant
    private let thread = CaptureThread()

    /// A source of what the person will choose. Nobody is asked where `restoreToken`, the one of a source before, still
    /// holds.
    public convenience init(
        _ kind: ScreenCastPortal.Kind = .any, restoreToken: String? = nil, framesPerSecond: Double = 30
    ) throws(CaptureError) {
        try self.init(kind, restoreToken: restoreToken, framesPerSecond: framesPerSecond) {
            () throws(ScreenCastPortal.Problem) in try ScreenCastPortal.bus()
        }
    }

    /// The same with the portal of a bus.
    init(
        _ kind: ScreenCastPortal.Kind, restoreToken: String?, framesPerSecond: Double,
        on bus: @escaping @Sendable () throws(ScreenCastPortal.Problem) -> SessionBus
    ) throws(CaptureError) {
        try CaptureFormat.check(framesPerSecond: framesPerSecond)
        grant = PortalGrant(kind, restoreToken: restoreToken, framesPerSecond: framesPerSecond, on: bus)
    }

    /// Has the desktop ask the person what to share, and waits for the answer; does nothing where there is one already.
    /// - Throws: ``CaptureError/shareDeclined`` where the answer is no, or what keeps the desktop from asking.
    public func open() throws(CaptureError) { _ = try grant.cast(until: nil) }

    /// Begins to give frames, once the person has chosen.
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

    /// Nil where the signal was raised before the person had chosen.
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

    /// Ends it; sinks are told that nothing follows. The desktop goes on showing that the screen is shared until the source
    /// is let go.
    public func stop() { thread.stop() }
}

/// What the person has allowed, from the first question on.
final class PortalGrant: Sendable {
    private struct State {
        var cast: ScreenCast?
        /// With this the desktop does not ask; good for one share.
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

    /// What was chosen, or will be; nil where `signal` was raised before that.
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

    /// The desktop has ended it: the next start asks again.
    func forget() { state.withLock { $0.cast = nil } }
}

/// What the desktop has allowed, and the pictures of it.
final class ScreenCast: Sendable {
    let session: ScreenCastSession
    private let stream: NodeStream

    /// Within this time a stream that has been allowed tells its format.
    private static let patience = Duration.seconds(10)
    /// A stream without a picture for so long is of a screen that stands still: some desktops give none of that.
    private static let firstPicturePatience = Duration.seconds(1)
    /// A stream is paused for a moment whenever its pictures change their size; for longer, it is held.
    private static let holdPatience = Duration.milliseconds(700)
    /// How often is looked for an end while nobody wants pictures.
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

    /// The size of the pictures, as soon as it is told. Throws where `signal` was raised before that.
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

    /// Gives frames until the signal is raised; throws where the desktop ends the share.
    func run(
        as format: CaptureFormat, to broadcaster: VideoBroadcaster, until signal: StopSignal
    ) throws(CaptureError) {
        var pictures = CastPictures()
        var newest: NodePicture?
        var reporter = CaptureReporter(broadcaster: broadcaster, size: format.size)
        // What comes after the end, or after another start, is not held back by this.
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
            // The one before goes back when the next is there.
            while let picture = stream.take() {
                if pictures.receive(picture.content) { newest = picture }
            }
            let now = monotonicNow()
            let isAwaited = isLate && pictures.size == nil
            pausedSince = pictures.size != nil && stream.isPaused ? pausedSince ?? now : nil
            let isHeld = pausedSince.map { now - $0 > Self.holdPatience } ?? false
            // Who waits for a first picture of a screen that stands still is no source that is silent.
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
                // Whoever is busy, or wants the picture anew, tells nobody; what changes comes by itself.
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
