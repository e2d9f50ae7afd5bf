internal import Glibc

/// A share that a user has permitted: while it exists, the desktop provides frames, and indicates that.
final class ScreenCastSession: Sendable {
    /// The reason why there is no session.
    enum Refusal: Error {
        /// The user declined, or closed the dialog.
        case declined
        case problem(ScreenCastPortal.Problem)
    }

    /// The PipeWire node of the frames, and the token with which the next start does not ask.
    struct Grant: Sendable {
        let node: UInt32
        let restoreToken: String?
    }

    private static let session = "org.freedesktop.portal.Session"

    /// A descriptor that is readable when ``isClosed()`` may have changed.
    var descriptor: Int32 { bus.descriptor }
    let grant: Grant
    private let bus: SessionBus
    private let path: String

    /// Asks the user what to share, and waits for the answer. The desktop does not ask if the token is valid.
    init(
        _ kind: ScreenCastPortal.Kind, restoreToken: String?, on bus: SessionBus, until signal: StopSignal?
    ) throws(Refusal) {
        let portal: ScreenCastPortal
        let bits: UInt32
        self.bus = bus
        do throws(ScreenCastPortal.Problem) {
            portal = try ScreenCastPortal(on: bus)
            bits = try portal.bits(of: kind)
        } catch {
            throw .problem(error)
        }
        bus.subscribe("type='signal',interface='\(Self.session)'")
        let requests = PortalRequests(ScreenCastPortal.interface, on: bus, until: signal)
        do throws(PortalRequests.Refusal) {
            let created = try requests.ask(
                "CreateSession", options: ["session_handle_token": .string(requests.token(0))])
            guard let path = created["session_handle"]?.text else {
                throw .failed(reason: "the portal named no session")
            }
            var options: [String: BusValue] = ["types": .uint32(bits), "multiple": .boolean(false)]
            if let mode = portal.pointerMode { options["cursor_mode"] = .uint32(mode) }
            if portal.version >= 4 { options["persist_mode"] = .uint32(2) }
            try Self.select(options, restoreToken: portal.version >= 4 ? restoreToken : nil, of: path, requests)
            let started = try requests.ask("Start", path, parent: "")
            guard let node = started["streams"]?[0]?[0]?.number else {
                throw .failed(reason: "the portal sent no video")
            }
            grant = Grant(node: UInt32(truncatingIfNeeded: node), restoreToken: started["restore_token"]?.text)
            self.path = path
        } catch {
            throw Refusal(error)
        }
    }

    private static func select(
        _ options: [String: BusValue], restoreToken: String?, of path: String, _ requests: PortalRequests
    ) throws(PortalRequests.Refusal) {
        if let restoreToken {
            do throws(PortalRequests.Refusal) {
                try requests.ask(
                    "SelectSources", path, options: options.merging(["restore_token": .string(restoreToken)]) { $1 })
                return
            } catch {
                // Some desktops reject unknown tokens: the user is asked again.
                if case .declined = error { throw error }
            }
        }
        try requests.ask("SelectSources", path, options: options)
    }

    deinit {
        _ = try? bus.call(PortalRequests.service, path, Self.session, "Close", [], patience: .seconds(1))
    }

    /// Returns a socket to the PipeWire daemon that has the node, which the caller closes.
    func openRemote() throws(ScreenCastPortal.Problem) -> Int32 {
        do throws(PortalRequests.Refusal) {
            return try PortalRequests.openRemote(ScreenCastPortal.interface, on: bus, [.objectPath(path)])
        } catch {
            throw ScreenCastPortal.Problem(error)
        }
    }

    /// Returns whether the desktop, or its user, has ended the share.
    func isClosed() -> Bool {
        while let signal = bus.nextSignal() {
            if signal.interface == Self.session, signal.member == "Closed", signal.path == path { return true }
        }
        return !bus.isConnected
    }
}

extension ScreenCastSession.Refusal {
    fileprivate init(_ refusal: PortalRequests.Refusal) {
        if case .declined = refusal { self = .declined } else { self = .problem(ScreenCastPortal.Problem(refusal)) }
    }
}
