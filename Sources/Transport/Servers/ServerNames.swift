internal import RTCShareLocks
package import RTCShareWireFormat

/// The addresses of servers' names, kept across connections, so that a name server that does not answer delays only the
/// first of them.
///
/// Names with addresses are resolved again after a minute, and keep their old addresses until then, even if the name
/// server does not answer any more (RFC 8767). Names without addresses are resolved again after some seconds.
package final class ServerNames: Sendable {
    /// The state of a name.
    private struct Entry {
        var addresses: [IPAddress] = []
        /// The time of the newest answer; nil during the first lookup.
        var answered: Instant?
        /// Whether no name server answered the newest lookup.
        var isUnanswered = false
        var lookUp: Task<[IPAddress], Never>?
    }

    /// The names of this process.
    static let system = ServerNames()

    /// The time for which an answer is new: one with addresses, and one without.
    static let (lifetime, emptyLifetime) = (Duration.seconds(60), Duration.seconds(15))
    /// The maximum number of names: servers can name others.
    static let limit = 64

    private let entries = Locked<[String: Entry]>([:])
    private let ask: @Sendable (_ name: String) async -> [IPAddress]?
    private let hasOnlyIPv6: @Sendable () -> Bool
    private let now: @Sendable () -> Instant

    init(
        asking ask:
            @escaping @Sendable (_ name: String) async -> [IPAddress]? = HostNameResolver.systemAddresses(ofServer:),
        hasOnlyIPv6: @escaping @Sendable () -> Bool = { NetworkInterfaces.hasOnlyIPv6 },
        now: @escaping @Sendable () -> Instant = { MonotonicClock.now }
    ) {
        self.ask = ask
        self.hasOnlyIPv6 = hasOnlyIPv6
        self.now = now
    }

    /// The number of names.
    var count: Int { entries.withLock { $0.count } }

    /// Returns the addresses of a host, a name or an address, that are known without waiting, or nil while it is being
    /// resolved. Starts a lookup if necessary.
    func knownAddresses(of host: String) -> [IPAddress]? {
        guard let address = IPAddress(host) else { return read(host).known }
        guard address.isV4, hasOnlyIPv6() else { return [address] }
        return read(NAT64Prefix.discoveryName).known.map { [Self.translate(address, by: Self.prefix(in: $0))] }
    }

    /// Returns the host's addresses, after waiting for them; empty if it has none, or no name server answers. If this
    /// machine has only IPv6, an IPv4 address is translated to the one by which the network reaches it.
    func addresses(of host: String) async -> [IPAddress] {
        guard let address = IPAddress(host) else { return await resolve(host) }
        guard address.isV4, hasOnlyIPv6() else { return [address] }
        return [Self.translate(address, by: await translation())]
    }

    /// Returns the address by which this machine reaches a host that is named by an IPv4 address, if the network
    /// translates it (NAT64); nil for all other hosts.
    package static func translation(ofHost host: String) async -> IPAddress? {
        guard let address = IPAddress(host) else { return nil }
        return await system.addresses(of: host).first { $0 != address }
    }

    /// Returns the prefix by which the network translates IPv4 addresses, if it does (RFC 7050 §3).
    func translation() async -> NAT64Prefix? { Self.prefix(in: await resolve(NAT64Prefix.discoveryName)) }

    private static func prefix(in addresses: [IPAddress]) -> NAT64Prefix? {
        addresses.lazy.compactMap { NAT64Prefix(discoveredIn: $0) }.first
    }

    private static func translate(_ address: IPAddress, by prefix: NAT64Prefix?) -> IPAddress {
        prefix?.translate(address) ?? address
    }

    private func resolve(_ name: String) async -> [IPAddress] {
        let (known, lookUp) = read(name)
        if let known { return known }
        return await lookUp?.value ?? []
    }

    /// Returns the reason why a name has no addresses, by its last complete lookup.
    func failure(of name: String) -> ICEServerError {
        let isUnanswered = entries.withLock { $0[name]?.isUnanswered ?? false }
        return isUnanswered ? .unanswered(host: name) : .unresolvable(host: name)
    }

    private func read(_ name: String) -> (known: [IPAddress]?, lookUp: Task<[IPAddress], Never>?) {
        let time = now()
        return entries.withLock { entries in
            var entry = entries[name] ?? Entry()
            let lifetime = entry.addresses.isEmpty ? Self.emptyLifetime : Self.lifetime
            let isNew = entry.answered.map { time - $0 < lifetime } ?? false
            if !isNew, entry.lookUp == nil {
                entry.lookUp = Task { [self] in
                    let found = await ask(name)
                    return note(found, of: name)
                }
                if entries.count >= Self.limit { Self.makeRoom(in: &entries) }
                entries[name] = entry
            }
            let known = isNew || !entry.addresses.isEmpty ? entry.addresses : nil
            return (known, entry.lookUp)
        }
    }

    private func note(_ found: [IPAddress]?, of name: String) -> [IPAddress] {
        let time = now()
        return entries.withLock { entries in
            guard var entry = entries[name] else { return found ?? [] }
            if let found, !found.isEmpty { entry.addresses = found }
            entry.isUnanswered = found == nil
            entry.answered = time
            entry.lookUp = nil
            entries[name] = entry
            return entry.addresses
        }
    }

    /// Removes the name with the oldest answer, but not one that is being resolved.
    private static func makeRoom(in entries: inout [String: Entry]) {
        let answers = entries.compactMap { name, entry in
            entry.lookUp == nil ? entry.answered.map { (name, $0) } : nil
        }
        if let oldest = answers.min(by: { $0.1 < $1.1 }) { entries[oldest.0] = nil }
    }
}
