internal import RTCShareCapture

/// A service on the session bus, which another program can replace at any time.
struct BusService {
    let name: String
    private let bus: SessionBus
    /// The unique name of its program; nil if there is none.
    private(set) var owner: String?

    /// The timeout for an answer. Programs of a desktop answer at once, unless they don't work.
    private static let patience = Duration.seconds(5)

    init(_ name: String, on bus: SessionBus) {
        (self.name, self.bus) = (name, bus)
        bus.subscribe(
            "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(name)'")
        refresh()
    }

    /// The outcome of a call.
    enum Outcome {
        case answered([BusValue])
        /// There is no service, or it can't do this.
        case refused
        /// No answer has come in time. The service may do it later.
        case silent

        /// The values of the answer.
        var values: [BusValue]? { if case .answered(let values) = self { values } else { nil } }
    }

    /// Calls a method, which can start the service.
    mutating func call(
        _ path: String, _ interface: String, _ method: String, _ arguments: [BusValue] = []
    ) -> Outcome {
        do {
            let answer = try bus.call(name, path, interface, method, arguments, patience: Self.patience)
            if owner == nil { refresh() }
            return .answered(answer)
        } catch {
            return error.isTimeout ? .silent : .refused
        }
    }

    /// Calls a method without an answer.
    func notify(_ path: String, _ interface: String, _ method: String, _ arguments: [BusValue] = []) {
        bus.notify(name, path, interface, method, arguments)
    }

    /// Returns whether this signal says that another program is the service now.
    mutating func isReplaced(by signal: SessionBus.Signal) -> Bool {
        guard signal.sender == "org.freedesktop.DBus", signal.member == "NameOwnerChanged",
            signal.arguments.first?.text == name
        else { return false }
        // The signal can be older than an answer of the new program.
        let before = owner
        refresh()
        return owner != before
    }

    /// Returns whether a signal is from this service. Any program of the session can send the same signal.
    func hasSent(_ signal: SessionBus.Signal) -> Bool { owner != nil && signal.sender == owner }

    private mutating func refresh() { owner = bus.owner(of: name) }
}
