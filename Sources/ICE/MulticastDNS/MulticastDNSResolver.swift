package import RTCShareWireFormat

/// Finds the addresses behind the `.local` names of a peer's candidates by multicast queries, without doing input or
/// output itself: what ``pollTransmit()`` returns goes to ``MulticastDNSMessage/groupV4`` and
/// ``MulticastDNSMessage/groupV6``, and what arrives at port 5353 of a socket in those groups comes in.
package struct MulticastDNSResolver: Sendable {
    /// What became of a name.
    package enum Event: Hashable, Sendable {
        /// The name has this address; more may follow.
        case resolved(MulticastDNSName, IPAddress)
        /// Nobody answered for the name.
        case unresolved(MulticastDNSName)
    }

    /// Names that are looked for at one time; more are refused.
    package static let nameLimit = 32
    /// Addresses that one name may have.
    package static let addressLimit = 8
    /// When a query is sent, from the first on (RFC 6762 §5.2 asks for a second at least between the first two; a
    /// lost query would then cost the connection that second).
    static let schedule: [Duration] = [.zero, .milliseconds(250), .seconds(1)]
    /// When nobody is expected to answer any more.
    static let patience: Duration = .seconds(3)

    private struct Search: Sendable {
        let name: MulticastDNSName
        let start: Instant
        var sent = 0
        var addresses: [IPAddress] = []

        /// When the search next has to act: an answered name is listened for, but no longer asked for.
        var due: Instant {
            let isAsking = addresses.isEmpty && sent < schedule.count
            return start.advanced(by: isAsking ? schedule[sent] : patience)
        }
    }

    private let wantsUnicast: Bool
    private var searches: [Search] = []
    private var transmits: [[UInt8]] = []
    private var events: [Event] = []
    /// Datagrams that were no DNS message.
    package private(set) var malformedMessages = 0

    /// A resolver that looks for nothing yet; `wantsUnicast` sets the QU bit, which not every browser heeds.
    package init(wantsUnicast: Bool = false) {
        self.wantsUnicast = wantsUnicast
    }

    /// Begins to look for a name; false where ``nameLimit`` names are being looked for.
    @discardableResult
    package mutating func resolve(_ name: MulticastDNSName, now: Instant) -> Bool {
        guard !searches.contains(where: { $0.name == name }) else { return true }
        guard searches.count < Self.nameLimit else { return false }
        searches.append(Search(name: name, start: now))
        handleTimeout(now: now)
        return true
    }

    /// When ``handleTimeout(now:)`` is wanted.
    package var nextDeadline: Instant? { searches.map(\.due).min() }

    /// Asks again, or gives up.
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

    /// Takes in a datagram from port 5353; queries, and answers for names that nobody asked for, change nothing.
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

    /// The next query to multicast.
    package mutating func pollTransmit() -> [UInt8]? {
        transmits.isEmpty ? nil : transmits.removeFirst()
    }

    /// The next thing found out.
    package mutating func pollEvent() -> Event? {
        events.isEmpty ? nil : events.removeFirst()
    }
}
