package import FoundationEssentials
package import RTCShareICE
internal import RTCShareSTUN
internal import RTCShareWireFormat

/// A relayed address in a file between two programs. The file has the server's credentials elsewhere, not in this
/// value.
package struct StoredRelay: Codable, Hashable, Sendable {
    /// The server, without credentials.
    package let url: String
    /// The time at which the server releases it, unless it is resumed before.
    package let expiresAt: Date

    private let username: String?
    private let server: Endpoint
    private let base: Endpoint
    private let relayed: Endpoint
    private let reflexive: Endpoint
    private let challenge: LongTermChallenge

    /// An address in JSON.
    private struct Endpoint: Codable, Hashable {
        let address: String
        let port: UInt16

        init(_ address: TransportAddress) {
            self.address = address.ip.description
            port = address.port
        }

        var transportAddress: TransportAddress? { TransportAddress(address, port: port) }
    }

    /// Creates the stored form of a relayed address at `now`.
    package init(_ relay: RelayState, now: Date) {
        url = relay.server.description
        expiresAt = now.addingTimeInterval(relay.allocation.lifetime.seconds)
        if case .turn(let credentials) = relay.server.kind { username = credentials.username } else { username = nil }
        server = Endpoint(relay.server.address)
        base = Endpoint(relay.base)
        relayed = Endpoint(relay.allocation.relayed)
        reflexive = Endpoint(relay.allocation.reflexive)
        challenge = relay.allocation.challenge
    }

    /// Returns the relayed address, with the credentials of its server among `servers`; nil if that is missing, or an
    /// address is invalid.
    package func relay(servers: [ICEServer], now: Date) -> RelayState? {
        let asked = servers.first { $0.description == url && $0.credentials?.username == username }
        guard let credentials = asked?.credentials,
            let server = server.transportAddress, let base = base.transportAddress,
            let relayed = relayed.transportAddress, let reflexive = reflexive.transportAddress
        else { return nil }
        return RelayState(
            server: ICEServerAddress(kind: .turn(credentials), address: server, url: url), base: base,
            allocation: AllocationState(
                relayed: relayed, reflexive: reflexive, challenge: challenge,
                lifetime: .seconds(max(0, expiresAt.timeIntervalSince(now)))))
    }
}
