import RTCShareICE
import RTCShareSTUN
import RTCShareWireFormat

/// A TURN server on the virtual network: allocations with credentials, permissions, channels, Send and Data.
struct TURNServerModel {
    static let username = "ann"
    static let password = "correct horse"
    static let realm = "relay.example"

    /// A message that leaves the server: to a client, or from a relayed address to a peer.
    struct Output {
        let source: TransportAddress
        let destination: TransportAddress
        let bytes: [UInt8]
        /// The transport to a client; datagrams to peers are of UDP.
        var transport = TransportProtocol.udp
    }

    /// A client: its address as the server sees it, and the transport.
    struct Client: Hashable {
        let address: TransportAddress
        let transport: TransportProtocol
    }

    struct Allocation {
        let user: String
        let relayed: TransportAddress
        var expiry: Instant
        var permissions: [IPAddress: Instant] = [:]
        var channels: [UInt16: TransportAddress] = [:]
    }

    let address: TransportAddress
    let transport: TransportProtocol
    /// The addresses to relay from, by IP version.
    var relays: [IPAddress]
    var allocations: [Client: Allocation] = [:]
    var nonce = Array("nonce 1".utf8)
    /// Peers that no permission is given for.
    var forbidden: Set<IPAddress> = []
    /// The user whose requests are accepted. Allocations belong to the user who requested them.
    var user = Self.username
    /// The user names in requests.
    var users: Set<String> = []
    /// The longest lifetime that is granted; coturn's default.
    var longestLifetime = Duration.seconds(3600)
    /// The error with which every Allocate request is rejected.
    var refusal: ErrorCode?
    /// The server to which Allocate requests are redirected.
    var alternate: TransportAddress?
    var isSilent = false
    /// The requests and indications that came, by method, answered or not.
    var log: [(method: RTCShareSTUN.Method, lifetime: Duration?)] = []
    /// Packets relayed, by how they came or left.
    var relayedOnChannels = 0
    var relayedInIndications = 0
    /// Packets that no permission let through.
    var dropped = 0
    private var nextPort: UInt16 = 50_000

    init(_ address: TransportAddress, transport: TransportProtocol = .udp, relays: [IPAddress]? = nil) {
        self.address = address
        self.transport = transport
        self.relays = relays ?? [address.ip]
    }

    var credentials: LongTermCredentials? {
        LongTermCredentials(username: user, password: Self.password)
    }

    var server: ICEServerAddress? {
        credentials.map { ICEServerAddress(kind: .turn($0), address: address, transport: transport) }
    }

    func owns(_ destination: TransportAddress) -> Bool {
        allocations.values.contains { $0.relayed == destination }
    }

    /// A message from a client.
    mutating func receive(_ bytes: [UInt8], from client: Client, now: Instant) -> [Output] {
        guard !isSilent else { return [] }
        allocations = allocations.filter { $0.value.expiry > now }
        if ChannelData.isChannelData(bytes.span.bytes) {
            guard let data = ChannelData(parsing: bytes.span.bytes), let allocation = allocations[client],
                let peer = allocation.channels[data.channel.rawValue]
            else {
                dropped += 1
                return []
            }
            relayedOnChannels += 1
            return [Output(source: allocation.relayed, destination: peer, bytes: Array(bytes[data.payload]))]
        }
        guard let message = try? STUNMessage(parsing: bytes.span.bytes) else { return [] }
        if message.method == .binding {
            guard message.messageClass == .request else { return [] }
            return answer(message, [.xorMappedAddress(client.address)], to: client, isAuthentic: false)
        }
        log.append((message.method, message.lifetime))
        if message.method == .send {
            guard let allocation = allocations[client], let peer = message.peerAddress,
                let range = STUNMessage.range(of: .data, in: bytes.span.bytes), allocation.permissions[peer.ip] != nil
            else {
                dropped += 1
                return []
            }
            relayedInIndications += 1
            return [Output(source: allocation.relayed, destination: peer, bytes: Array(bytes[range]))]
        }
        return grant(message, from: client, now: now)
    }

    private mutating func grant(_ message: STUNMessage, from client: Client, now: Instant) -> [Output] {
        guard message.messageClass == .request else { return [] }
        if let name = message.username { users.insert(name) }
        guard let key, message.isAuthentic(key: key), message.username == user else {
            return refuse(message, 401, to: client)
        }
        guard message.nonce == nonce else { return refuse(message, 438, to: client) }
        if message.method != .allocate, let allocation = allocations[client], allocation.user != user {
            return refuse(message, 441, to: client)
        }
        switch message.method {
        case .allocate:
            if let alternate {
                return refuse(message, 300, [.alternateServer(alternate)], to: client)
            }
            if let refusal { return refuse(message, refusal.code, to: client) }
            guard allocations[client] == nil else { return refuse(message, 437, to: client) }
            let isV6 = message.attributes.contains(.requestedAddressFamily(.v6))
            guard let ip = relays.first(where: { $0.isV4 != isV6 }) else { return refuse(message, 440, to: client) }
            let relayed = TransportAddress(ip: ip, port: nextPort)
            nextPort += 1
            let lifetime = min(message.lifetime ?? .seconds(600), longestLifetime)
            allocations[client] = Allocation(user: user, relayed: relayed, expiry: now.advanced(by: lifetime))
            return answer(
                message, [.xorRelayedAddress(relayed), .xorMappedAddress(client.address), .lifetime(lifetime)],
                to: client)
        case .refresh:
            guard allocations[client] != nil else { return refuse(message, 437, to: client) }
            let lifetime = min(message.lifetime ?? .seconds(600), longestLifetime)
            allocations[client]?.expiry = now.advanced(by: lifetime)
            if lifetime == .zero { allocations[client] = nil }
            return answer(message, [.lifetime(lifetime)], to: client)
        case .createPermission:
            guard let peer = message.peerAddress, allocations[client] != nil else {
                return refuse(message, 437, to: client)
            }
            guard !forbidden.contains(peer.ip) else { return refuse(message, 403, to: client) }
            allocations[client]?.permissions[peer.ip] = now.advanced(by: .seconds(300))
            return answer(message, [], to: client)
        case .channelBind:
            guard let peer = message.peerAddress, let number = message.channelNumber, allocations[client] != nil else {
                return refuse(message, 400, to: client)
            }
            allocations[client]?.channels[number.rawValue] = peer
            allocations[client]?.permissions[peer.ip] = now.advanced(by: .seconds(300))
            return answer(message, [], to: client)
        default: return refuse(message, 400, to: client)
        }
    }

    /// A datagram from a peer at a relayed address.
    mutating func receive(
        _ bytes: [UInt8], from peer: TransportAddress, at relayed: TransportAddress, now: Instant
    ) -> [Output] {
        guard !isSilent, let (client, allocation) = allocations.first(where: { $0.value.relayed == relayed }),
            allocation.expiry > now, allocation.permissions[peer.ip].map({ $0 > now }) ?? false
        else {
            dropped += 1
            return []
        }
        if let channel = allocation.channels.first(where: { $0.value == peer }).flatMap({
            ChannelNumber(rawValue: $0.key)
        }),
            let data = ChannelData.encoded(bytes.span.bytes, channel: channel, isPadded: transport.isStream)
        {
            return [Output(source: address, destination: client.address, bytes: data, transport: client.transport)]
        }
        var generator = SeededGenerator(seed: UInt64(now.nanoseconds))
        let indication = STUNMessage(
            .indication, method: .data, transactionID: TransactionID(using: &generator),
            attributes: [.xorPeerAddress(peer), .data(bytes)])
        guard let data = try? indication.encoded() else { return [] }
        return [Output(source: address, destination: client.address, bytes: data, transport: client.transport)]
    }

    private var key: [UInt8]? {
        try? STUNMessage.longTermKey(username: user, realm: Self.realm, password: Self.password)
    }

    private func answer(
        _ request: STUNMessage, _ attributes: [Attribute], to client: Client, isAuthentic: Bool = true
    ) -> [Output] {
        let message = STUNMessage(
            .successResponse, method: request.method, transactionID: request.transactionID, attributes: attributes)
        guard let bytes = try? message.encoded(integrityKey: isAuthentic ? key : nil) else { return [] }
        return [Output(source: address, destination: client.address, bytes: bytes, transport: client.transport)]
    }

    private func refuse(
        _ request: STUNMessage, _ code: Int, _ attributes: [Attribute] = [], to client: Client
    ) -> [Output] {
        let message = STUNMessage(
            .errorResponse, method: request.method, transactionID: request.transactionID,
            attributes: [
                .errorCode(ErrorCode(code: code, reason: "Words")), .realm(Self.realm), .nonce(nonce),
            ] + attributes)
        let isKnown = code != 401 && code != 438
        guard let bytes = try? message.encoded(integrityKey: isKnown ? key : nil) else { return [] }
        return [Output(source: address, destination: client.address, bytes: bytes, transport: client.transport)]
    }
}
