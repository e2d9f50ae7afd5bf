package import FoundationEssentials
package import RTCShareICE
internal import RTCShareSTUN
internal import RTCShareWireFormat

/// A relayed address as a file keeps it between two programs. The file keeps the server's credentials beside it; here
/// are none.
package struct StoredRelay: Codable, Hashable, Sendable {
    /// The server, without credentials.
    package let url: String
    /// When the server lets go of it, unless it is taken up before.
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

    /// What is kept of a relayed address, at `now`.
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

    /// The relayed address again, with the credentials of its server among `servers`; nil where that is missing or an
    /// address is none.
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
