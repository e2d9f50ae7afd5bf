package import RTCShareWireFormat

/// Resolves the `.local` names of a peer's candidates by multicast queries, without input or output. The caller sends
/// the queries of ``pollTransmit()`` to ``MulticastDNSMessage/groupV4`` and ``MulticastDNSMessage/groupV6``, and passes
/// datagrams that arrive at port 5353 of a socket in those groups.
package struct MulticastDNSResolver: Sendable {
    /// The result for a name.
    package enum Event: Hashable, Sendable {
        /// The name has this address. More addresses can follow.
        case resolved(MulticastDNSName, IPAddress)
        /// No host answered for the name.
        case unresolved(MulticastDNSName)
    }

    /// The maximum number of names at a time.
    package static let nameLimit = 32
    /// The maximum number of addresses of one name.
    package static let addressLimit = 8
    /// The times of queries, from the first one (RFC 6762 §5.2 requires at least a second between the first two, but a
    /// lost query would then delay the connection by that second).
    static let schedule: [Duration] = [.zero, .milliseconds(250), .seconds(1)]
    /// The time after which no answer is expected.
    static let patience: Duration = .seconds(3)

    private struct Search: Sendable {
        let name: MulticastDNSName
        let start: Instant
        var sent = 0
        var addresses: [IPAddress] = []

        /// The time of the search's next action. A resolved name receives answers, but no more queries.
        var due: Instant {
            let isAsking = addresses.isEmpty && sent < schedule.count
            return start.advanced(by: isAsking ? schedule[sent] : patience)
        }
    }

    private let wantsUnicast: Bool
    private var searches: [Search] = []
    private var transmits: [[UInt8]] = []
    private var events: [Event] = []
    /// The number of datagrams that were not DNS messages.
    package private(set) var malformedMessages = 0

    /// Creates a resolver. `wantsUnicast` sets the QU bit, which not every browser respects.
    package init(wantsUnicast: Bool = false) {
        self.wantsUnicast = wantsUnicast
    }

    /// Starts to resolve a name. Returns false if ``nameLimit`` names are in progress.
    @discardableResult
    package mutating func resolve(_ name: MulticastDNSName, now: Instant) -> Bool {
        guard !searches.contains(where: { $0.name == name }) else { return true }
        guard searches.count < Self.nameLimit else { return false }
        searches.append(Search(name: name, start: now))
        handleTimeout(now: now)
        return true
    }

    /// The time of the next ``handleTimeout(now:)``.
    package var nextDeadline: Instant? { searches.map(\.due).min() }

    /// Sends the next queries, and ends searches without answers.
    package mutating func handleTimeout(now: Instant) {
        var open: [Search] = []
        for var search in searches {
            while search.addresses.isEmpty, search.sent < Self.schedule.count, search.due <= now {
                search.sent += 1
                for type in [MulticastDNSMessage.RecordType.a, .aaaa] {
                    let query = MulticastDNSMessage.query(for: search.name, type: type, wantsUnicast: wantsUnicast)
                    transmits.append(query.encoded())
                }
            }
            if search.due > now {
                open.append(search)
            } else if search.addresses.isEmpty {
                events.append(.unresolved(search.name))
            }
        }
        searches = open
    }

    /// Processes a datagram from port 5353. Queries, and answers for other names, have no effect.
    package mutating func handle(datagram: RawSpan, now: Instant) {
        guard !searches.isEmpty else { return }
        let message: MulticastDNSMessage
        do {
            message = try MulticastDNSMessage(parsing: datagram)
        } catch {
            malformedMessages += 1
            return
        }
        guard message.isResponse else { return }
        for answer in message.answers where answer.timeToLive > .zero {
            guard let index = searches.firstIndex(where: { $0.name == answer.name }),
                searches[index].addresses.count < Self.addressLimit,
                !searches[index].addresses.contains(answer.address)
            else { continue }
            searches[index].addresses.append(answer.address)
            events.append(.resolved(answer.name, answer.address))
        }
    }

    /// Returns the next query to send to the groups.
    package mutating func pollTransmit() -> [UInt8]? {
        transmits.isEmpty ? nil : transmits.removeFirst()
    }

    /// Returns the next result.
    package mutating func pollEvent() -> Event? {
        events.isEmpty ? nil : events.removeFirst()
    }
}
