/// Asks a desktop's portal one thing after the other (`org.freedesktop.portal.Request`): each answer comes as a signal of an
/// object that the question names, once a person has decided.
final class PortalRequests {
    /// Why something was not had.
    enum Refusal: Error {
        /// The person said no, or closed the question.
        case declined
        /// Nobody answers as a portal.
        case noPortal
        /// The portal has no such part, for none of its backends does.
        case noInterface
        /// The portal or its backend failed.
        case failed(reason: String)

        fileprivate init(_ failure: SessionBus.Failure) {
            self = failure.isUnknownService ? .noPortal : .failed(reason: failure.reason)
        }
    }

    static let service = "org.freedesktop.portal.Desktop"
    static let path = "/org/freedesktop/portal/desktop"
    private static let request = "org.freedesktop.portal.Request"

    private let bus: SessionBus
    private let interface: String
    private let signal: StopSignal?
    private let prefix: String
    private var count = 0

    /// Asks the portal's part of this name; no answer is waited for once the signal is raised.
    init(_ interface: String, on bus: SessionBus, until signal: StopSignal? = nil) {
        self.bus = bus
        self.signal = signal
        self.interface = interface
        // Tokens are unique among those of a caller: it may have several sessions.
        prefix = "rtcshare\(UInt32.random(in: .min ... .max))"
        // Before anything is asked: an answer may be there before its question has returned.
        bus.subscribe("type='signal',interface='\(Self.request)'")
        bus.subscribe(
            "type='signal',interface='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(Self.service)'")
    }

    /// A token for what is the `number`th thing of its kind here.
    func token(_ number: Int) -> String { "\(prefix)_\(number)" }

    /// What a part of the portal says of itself.
    static func properties(of interface: String, on bus: SessionBus) throws(Refusal) -> BusValue {
        do throws(SessionBus.Failure) {
            let answer = try bus.call(
                service, path, "org.freedesktop.DBus.Properties", "GetAll", [.string(interface)])
            return answer.first ?? .dictionary([:])
        } catch {
            throw error.name.hasSuffix(".InvalidArgs") ? .noInterface : Refusal(error)
        }
    }

    /// What was answered; throws where it was a no.
    @discardableResult
    func ask(
        _ method: String, _ session: String? = nil, parent: String? = nil, options: [String: BusValue] = [:]
    ) throws(Refusal) -> BusValue {
        count += 1
        let name = bus.uniqueName.dropFirst().replacing(".", with: "_")
        var path = "\(Self.path)/request/\(name)/\(token(count))"
        let arguments = [session.map(BusValue.objectPath), parent.map(BusValue.string)].compactMap { $0 }
        if let other = try call(method, arguments, options) { path = other }
        let response = try awaitResponse(path)
        switch response.first?.number {
        case 0: return response.count > 1 ? response[1] : .dictionary([:])
        case 1: throw .declined
        default: throw .failed(reason: "the desktop's part of the portal ended the question")
        }
    }

    /// Asks, and returns the object that the answer comes from, where the portal chooses it.
    private func call(
        _ method: String, _ arguments: [BusValue], _ options: [String: BusValue]
    ) throws(Refusal) -> String? {
        // Whom it has seen once over a connection, a portal remembers.
        let isFirst = count == 1
        if isFirst { PortalIdentification.begin() }
        defer { if isFirst { PortalIdentification.end() } }
        do throws(SessionBus.Failure) {
            // Portals of before 0.9 choose the object themselves.
            return try bus.call(
                Self.service, Self.path, interface, method,
                arguments + [.dictionary(options.merging(["handle_token": .string(token(count))]) { $1 })]
            ).first?.text
        } catch {
            throw Refusal(error)
        }
    }

    /// A person takes the time that it takes; whoever waits on the portal, though, hears when it is gone.
    private func awaitResponse(_ path: String) throws(Refusal) -> [BusValue] {
        while bus.isConnected {
            if let signal, signal.isRaised { throw .failed(reason: "the question was withdrawn") }
            guard let answer = bus.nextSignal(within: signal == nil ? .seconds(60) : .milliseconds(100)) else {
                continue
            }
            if answer.path == path, answer.member == "Response" { return answer.arguments }
            if answer.member == "NameOwnerChanged", answer.arguments.last?.text == "" { break }
        }
        throw .failed(reason: "the portal is gone")
    }

    /// A socket that a part of the portal gives; the caller's to close.
    static func openRemote(
        _ interface: String, on bus: SessionBus, _ arguments: [BusValue]
    ) throws(Refusal) -> Int32 {
        do throws(SessionBus.Failure) {
            return try bus.callForDescriptor(
                service, path, interface, "OpenPipeWireRemote", arguments + [.dictionary([:])])
        } catch {
            throw Refusal(error)
        }
    }
}
