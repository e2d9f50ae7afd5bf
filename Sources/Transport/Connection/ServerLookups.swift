internal import FoundationEssentials
internal import RTCShareICE
internal import RTCSharePeerConnection

/// The STUN and TURN servers of a connection, and their failures.
struct ServerLookups: Sendable {
    /// The servers with known addresses. Local addresses that are added later ask them too.
    private(set) var known: [ICEServerAddress] = []
    /// The number of names that are being resolved.
    var lookUps = 0
    /// The servers whose names have no address.
    private var unresolvable: [(url: String, error: ICEServerError)] = []
    /// The servers with a shared secret, each with credentials from it and the first half of their lifetime.
    private var grants: [ICEServer: (server: ICEServer, period: Range<Date>)] = [:]
    /// The reasons for the end of streams to servers.
    private(set) var streamFailures: [DedicatedSocket.Endpoint: String] = [:]

    /// The maximum number of streams for which a reason is kept: a peer can name any number of them.
    private static let mostStreamFailures = 64
    /// The maximum number of credentials for one address, of which the newest are kept.
    private static let mostCredentials = 4

    /// Whether there are servers to ask, including failed ones.
    var areAsked: Bool { !known.isEmpty || !unresolvable.isEmpty || lookUps > 0 }

    /// Returns the server, with credentials if it has a shared secret: the same ones as before, or new ones after half
    /// of their lifetime, which replace the former ones in ``known``.
    mutating func granted(_ server: ICEServer, now: Date) -> ICEServer {
        guard let lifetime = server.credentialLifetime else { return server }
        let former = grants[server]
        if let former, former.period.contains(now) { return former.server }
        let granted = server.granted(now: now)
        grants[server] = (granted, now..<now.addingTimeInterval(lifetime / 2))
        if let former = former?.server.credentials, let credentials = granted.credentials {
            for index in known.indices where known[index].kind == .turn(former) {
                known[index].kind = .turn(credentials)
            }
        }
        return granted
    }

    /// Whether ``granted(_:now:)`` returns new credentials for a server.
    func needsGrant(now: Date) -> Bool { grants.values.contains { !$0.period.contains(now) } }

    /// Records the servers that are asked. New credentials come before those that the same server had before.
    mutating func ask(_ servers: [ICEServerAddress]) {
        for server in servers where !known.contains(server) {
            let former = known.indices.filter { known[$0].isSameServer(as: server) && !servers.contains(known[$0]) }
            if former.count == Self.mostCredentials, let oldest = former.last { known.remove(at: oldest) }
            known.insert(server, at: former.first ?? known.endIndex)
        }
        unresolvable.removeAll { failure in servers.contains { $0.url == failure.url } }
    }

    /// Records that a server's name has no address.
    mutating func recordUnresolvable(_ url: String, _ error: ICEServerError) {
        unresolvable.removeAll { $0.url == url }
        unresolvable.append((url, error))
    }

    /// Returns the error of the first of these servers whose name has no address; nil if there is none.
    func unresolvable(of urls: [String]) -> ICEServerError? {
        urls.lazy.compactMap { url in unresolvable.first { $0.url == url }?.error }.first
    }

    /// Removes the failure of a stream that is opened again.
    mutating func streamDidBegin(_ endpoint: DedicatedSocket.Endpoint) {
        streamFailures[endpoint] = nil
    }

    /// Records the reason for the end of a stream.
    mutating func streamDidEnd(_ endpoint: DedicatedSocket.Endpoint, reason: String) {
        if streamFailures.count < Self.mostStreamFailures { streamFailures[endpoint] = reason }
    }

    /// Returns the servers that failed, with the reason, a line each. `reports` are each server's answers to each local
    /// address.
    func failures(_ reports: [ServerReport]) -> [String] {
        var lines = unresolvable.map { "\($0.url): \($0.error)" }
        for report in reports {
            guard case .failed(let error) = report.outcome else { continue }
            let reason = streamFailures.first { endpoint, _ in
                endpoint.base == report.base && endpoint.transport == report.server.transport
                    && endpoint.destination == report.server.address
            }?.value
            let text = reason.map { "no connection: \($0)" } ?? error.description
            let line = "\(report.server): \(text)"
            if !lines.contains(line) { lines.append(line) }
        }
        return lines
    }
}

extension ICEServerAddress {
    /// Whether the two differ in their credentials at most.
    fileprivate func isSameServer(as other: ICEServerAddress) -> Bool {
        address == other.address && transport == other.transport && url == other.url
    }
}
