/// Sends requests to a desktop's portal, one after the other (`org.freedesktop.portal.Request`): each answer is a
/// signal of an object that the request names, after the user's decision.
package final class PortalRequests {
    /// The reason why a request failed.
    enum Refusal: Error {
        /// The user declined, or closed the dialog.
        case declined
        /// No portal answers.
        case noPortal
        /// The portal has no such interface, because none of its backends has it.
        case noInterface
        /// The portal or its backend failed.
        case failed(reason: String)

        fileprivate init(_ failure: SessionBus.Failure) {
            self = failure.isUnknownService ? .noPortal : .failed(reason: failure.reason)
        }
    }

    /// The name of the portals on the session bus.
    package static let service = "org.freedesktop.portal.Desktop"
    /// The object of the portals.
    package static let path = "/org/freedesktop/portal/desktop"
    /// The interface of the objects that send answers.
    package static let request = "org.freedesktop.portal.Request"

    private let bus: SessionBus
    private let interface: String
    private let signal: StopSignal?
    private let prefix: String
    private var count = 0

    /// Creates requests to the portal's interface of this name. Does not wait for answers any more when the signal is
    /// raised.
    init(_ interface: String, on bus: SessionBus, until signal: StopSignal? = nil) {
        self.bus = bus
        self.signal = signal
        self.interface = interface
        // Tokens are unique among those of a caller, which may have several sessions.
        prefix = "rtcshare\(UInt32.random(in: .min ... .max))"
        // Before any request: an answer may arrive before the call has returned.
        bus.subscribe("type='signal',interface='\(Self.request)'")
        bus.subscribe(
            "type='signal',interface='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(Self.service)'")
    }

    /// Returns a token for the object with this number.
    func token(_ number: Int) -> String { "\(prefix)_\(number)" }

    /// Returns the properties of a portal interface.
    static func properties(of interface: String, on bus: SessionBus) throws(Refusal) -> BusValue {
        do throws(SessionBus.Failure) {
            let answer = try bus.call(
                service, path, "org.freedesktop.DBus.Properties", "GetAll", [.string(interface)])
            return answer.first ?? .dictionary([:])
        } catch {
            throw error.name.hasSuffix(".InvalidArgs") ? .noInterface : Refusal(error)
        }
    }

    /// Sends a request and returns the answer. Throws if the user declined.
    @discardableResult
    func ask(
        _ method: String, _ session: String? = nil, parent: String? = nil, options: [String: BusValue] = [:]
    ) throws(Refusal) -> BusValue {
        count += 1
        var path = "\(Self.path)/request/\(bus.pathName)/\(token(count))"
        let arguments = [session.map(BusValue.objectPath), parent.map(BusValue.string)].compactMap { $0 }
        if let other = try call(method, arguments, options) { path = other }
        let response = try awaitResponse(path)
        switch response.first?.number {
        case 0: return response.count > 1 ? response[1] : .dictionary([:])
        case 1: throw .declined
        default: throw .failed(reason: "the desktop's part of the portal ended the question")
        }
    }

    /// Sends a request, and returns the object that sends the answer, if the portal chooses it.
    private func call(
        _ method: String, _ arguments: [BusValue], _ options: [String: BusValue]
    ) throws(Refusal) -> String? {
        // A portal remembers the identity of a connection.
        let isFirst = count == 1
        if isFirst { PortalIdentification.begin() }
        defer { if isFirst { PortalIdentification.end() } }
        do throws(SessionBus.Failure) {
            // Portals before 0.9 choose the object themselves.
            return try bus.call(
                Self.service, Self.path, interface, method,
                arguments + [.dictionary(options.merging(["handle_token": .string(token(count))]) { $1 })]
            ).first?.text
        } catch {
            throw Refusal(error)
        }
    }

    /// Waits for the user's answer without a timeout, until the portal disappears.
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

    /// Returns a socket from a portal interface, which the caller closes.
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
