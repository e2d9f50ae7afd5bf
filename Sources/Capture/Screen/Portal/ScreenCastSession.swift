internal import Glibc

/// A share that a person has allowed: as long as it lives, the desktop gives pictures, and shows that it does.
final class ScreenCastSession: Sendable {
    /// Why there is none.
    enum Refusal: Error {
        /// The person said no, or closed the question.
        case declined
        case problem(ScreenCastPortal.Problem)
    }

    /// What PipeWire calls the pictures' node, and what is to be given to it at the next start so that nobody is asked.
    struct Grant: Sendable {
        let node: UInt32
        let restoreToken: String?
    }

    private static let session = "org.freedesktop.portal.Session"

    /// Can be read when ``isClosed()`` may have changed.
    var descriptor: Int32 { bus.descriptor }
    let grant: Grant
    private let bus: SessionBus
    private let path: String

    /// Asks the person what to share, and waits for the answer; nobody is asked where the token still holds.
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
                // Tokens that the desktop doesn't know are refused by some: the person is asked anew.
                if case .declined = error { throw error }
            }
        }
        try requests.ask("SelectSources", path, options: options)
    }

    deinit {
        _ = try? bus.call(PortalRequests.service, path, Self.session, "Close", [], patience: .seconds(1))
    }

    /// A socket to the PipeWire that has the node; the caller's to close.
    func openRemote() throws(ScreenCastPortal.Problem) -> Int32 {
        do throws(PortalRequests.Refusal) {
            return try PortalRequests.openRemote(ScreenCastPortal.interface, on: bus, [.objectPath(path)])
        } catch {
            throw ScreenCastPortal.Problem(error)
        }
    }

    /// Whether the desktop, or the person by way of it, has ended the share since.
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
