internal import RTCShareLocks
internal import RTCShareMedia

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
