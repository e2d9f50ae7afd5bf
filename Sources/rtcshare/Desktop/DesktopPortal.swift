internal import RTCShareCapture

/// The portals of the desktop, over a connection that is registered as this application's.
final class DesktopPortal {
    /// The name of the menu entry's file, without its extension.
    static let applicationID = "io.github.rtcshare"

    private var service: BusService
    private let bus: SessionBus
    /// Whether the portal knows this process. It remembers that for each connection.
    private var isIdentified = false
    private var isRegistered = false
    private let prefix = "rtcshare\(UInt32.random(in: .min ... .max))"
    private var count = 0

    init(on bus: SessionBus) {
        self.bus = bus
        service = BusService(PortalRequests.service, on: bus)
    }

    /// Calls a method of a portal.
    func call(_ interface: String, _ method: String, _ arguments: [BusValue]) -> BusService.Outcome {
        let isUnknown = !isIdentified
        if isUnknown { PortalIdentification.begin() }
        defer { if isUnknown { PortalIdentification.end() } }
        if !isRegistered {
            isRegistered = true
            // It must be the first call. Portals before 1.19.4 don't have it, and others reject a program without a menu
            // entry. Both know the application from the place where the desktop started it, or not at all.
            _ = service.call(
                PortalRequests.path, "org.freedesktop.host.portal.Registry", "Register",
                [.string(Self.applicationID), .dictionary([:])])
        }
        let outcome = service.call(PortalRequests.path, interface, method, arguments)
        isIdentified = isIdentified || outcome.values != nil
        return outcome
    }

    /// Calls a method of one of the portal's objects, without an answer.
    func notify(_ path: String, _ interface: String, _ method: String) { service.notify(path, interface, method) }

    /// Returns whether this signal says that another program is the portal now, which knows nothing of the calls before.
    func isReplaced(by signal: SessionBus.Signal) -> Bool {
        guard service.isReplaced(by: signal) else { return false }
        (isIdentified, isRegistered) = (false, false)
        return true
    }

    /// Whether there is a portal that runs.
    var isPresent: Bool { service.owner != nil }

    /// Returns whether a signal is from the portal.
    func hasSent(_ signal: SessionBus.Signal) -> Bool { service.hasSent(signal) }

    /// A new token for an object of the portal.
    func token() -> String {
        count += 1
        return "\(prefix)_\(count)"
    }

    /// The object of the request that was called with a token.
    func requestPath(_ token: String) -> String { "\(PortalRequests.path)/request/\(bus.pathName)/\(token)" }
}
