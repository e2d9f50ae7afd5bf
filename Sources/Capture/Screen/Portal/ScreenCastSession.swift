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

    private static let request = "org.freedesktop.portal.Request"
    private static let session = "org.freedesktop.portal.Session"

    /// Can be read when ``isClosed()`` may have changed.
    var descriptor: Int32 { bus.descriptor }
    let grant: Grant
    private let bus: SessionBus
    private let path: String

    /// Asks the person what to share, and waits for the answer; nobody is asked where the token still holds.
    init(_ kind: ScreenCastPortal.Kind, restoreToken: String?) throws(Refusal) {
        do throws(ScreenCastPortal.Problem) {
            bus = try ScreenCastPortal.bus()
            // Before anything is asked: an answer may be there before its question has returned.
            bus.subscribe("type='signal',interface='\(Self.request)'")
            bus.subscribe("type='signal',interface='\(Self.session)'")
            bus.subscribe(
                "type='signal',interface='org.freedesktop.DBus',member='NameOwnerChanged',"
                    + "arg0='\(ScreenCastPortal.service)'")
        } catch {
            throw .problem(error)
        }
        let portal: ScreenCastPortal
        let bits: UInt32
        do throws(ScreenCastPortal.Problem) {
            portal = try ScreenCastPortal(on: bus)
            bits = try portal.bits(of: kind)
        } catch {
            throw .problem(error)
        }
        let questions = Questions(bus: bus)
        let created = try questions.ask(
            "CreateSession", options: ["session_handle_token": .string(questions.token(0))])
        guard let path = created["session_handle"]?.text else {
            throw .problem(.failed(reason: "the portal named no session"))
        }
        var options: [String: BusValue] = ["types": .uint32(bits), "multiple": .boolean(false)]
        if let mode = portal.pointerMode { options["cursor_mode"] = .uint32(mode) }
        if portal.version >= 4 { options["persist_mode"] = .uint32(2) }
        if portal.version >= 4, let restoreToken {
            do throws(Refusal) {
                try questions.ask(
                    "SelectSources", path,
                    options: options.merging(["restore_token": .string(restoreToken)]) { $1 })
            } catch .problem {
                // Tokens that the desktop doesn't know are refused by some: the person is asked anew.
                try questions.ask("SelectSources", path, options: options)
            }
        } else {
            try questions.ask("SelectSources", path, options: options)
        }
        let started = try questions.ask("Start", path, parent: "", options: [:])
        guard let node = started["streams"]?[0]?[0]?.number else {
            throw .problem(.failed(reason: "the portal gave no pictures"))
        }
        grant = Grant(node: UInt32(truncatingIfNeeded: node), restoreToken: started["restore_token"]?.text)
        self.path = path
    }

    deinit {
        _ = try? bus.call(ScreenCastPortal.service, path, Self.session, "Close", [], patience: .seconds(1))
    }

    /// A socket to the PipeWire that has the node; the caller's to close.
    func openRemote() throws(ScreenCastPortal.Problem) -> Int32 {
        do throws(SessionBus.Failure) {
            return try bus.callForDescriptor(
                ScreenCastPortal.service, ScreenCastPortal.path, ScreenCastPortal.interface, "OpenPipeWireRemote",
                [.objectPath(path), .dictionary([:])])
        } catch {
            throw .failed(reason: error.reason)
        }
    }

    /// Whether the desktop, or the person by way of it, has ended the share since.
    func isClosed() -> Bool {
        while let signal = bus.nextSignal() {
            if signal.interface == Self.session, signal.member == "Closed", signal.path == path { return true }
        }
        return !bus.isConnected
    }

    /// Asks the portal one thing after the other: each answer comes as a signal of an object that the question names.
    private final class Questions {
        private let bus: SessionBus
        private let prefix: String
        private var count = 0

        init(bus: SessionBus) {
            self.bus = bus
            // Tokens are unique among those of a caller: it may have several sessions.
            prefix = "rtcshare\(UInt32.random(in: .min ... .max))"
        }

        func token(_ number: Int) -> String { "\(prefix)_\(number)" }

        /// What was answered; throws where it was a no.
        @discardableResult
        func ask(
            _ method: String, _ session: String? = nil, parent: String? = nil, options: [String: BusValue]
        ) throws(Refusal) -> BusValue {
            count += 1
            let name = bus.uniqueName.dropFirst().replacing(".", with: "_")
            var path = "\(ScreenCastPortal.path)/request/\(name)/\(token(count))"
            let arguments = [session.map(BusValue.objectPath), parent.map(BusValue.string)].compactMap { $0 }
            do throws(SessionBus.Failure) {
                let answer = try bus.call(
                    ScreenCastPortal.service, ScreenCastPortal.path, ScreenCastPortal.interface, method,
                    arguments + [.dictionary(options.merging(["handle_token": .string(token(count))]) { $1 })])
                // Portals of before 0.9 choose the object themselves.
                if let other = answer.first?.text { path = other }
            } catch {
                throw .problem(error.isUnknownService ? .noPortal : .failed(reason: error.reason))
            }
            let response = try awaitResponse(path)
            switch response.first?.number {
            case 0: return response.count > 1 ? response[1] : .dictionary([:])
            case 1: throw .declined
            default: throw .problem(.failed(reason: "the desktop's part of the portal ended the question"))
            }
        }

        /// A person takes the time that it takes; whoever waits on the portal, though, hears when it is gone.
        private func awaitResponse(_ path: String) throws(Refusal) -> [BusValue] {
            while bus.isConnected {
                guard let signal = bus.nextSignal(within: .seconds(60)) else { continue }
                if signal.path == path, signal.member == "Response" { return signal.arguments }
                if signal.member == "NameOwnerChanged", signal.arguments.last?.text == "" { break }
            }
            throw .problem(.failed(reason: "the portal is gone"))
        }
    }
}
