internal import Glibc
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
