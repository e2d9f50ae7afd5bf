import RTCShareICE
import RTCShareSTUN
import RTCShareWireFormat
import TestSupport

/// A message of a TURN server, as it came and with the right key and transaction, to allocations at each of their stages.
struct TURNTarget: FuzzTarget {
    private static let server = TransportAddress(ip: .v4(0xC000_0201), port: 3478)
    private static let relayed = TransportAddress(ip: .v4(0xC000_0201), port: 50_000)
    private static let reflexive = TransportAddress(ip: .v4(0xC633_6407), port: 4000)
    private static let peer = TransportAddress(ip: .v4(0xCB00_7109), port: 9000)
    private static let realm = "relay.example"

    private struct Scene {
        var allocation: TURNAllocation
        /// The newest requests that wait for an answer.
        var open: [STUNMessage] = []

        mutating func drain() {
            while let transmit = allocation.pollTransmit() {
                guard let message = try? STUNMessage(parsing: transmit.bytes.span.bytes),
                    message.messageClass == .request
                else { continue }
                open.append(message)
            }
            while allocation.pollEvent() != nil {}
        }

        mutating func answer(
            _ messageClass: MessageClass, _ attributes: [Attribute], key: [UInt8]?, now: Instant
        ) throws {
            let requests = open
            open = []
            for request in requests {
                let message = STUNMessage(
                    messageClass, method: request.method, transactionID: request.transactionID, attributes: attributes)
                let bytes = try message.encoded(integrityKey: key)
                _ = allocation.handle(bytes.span.bytes, from: TURNTarget.server, now: now)
            }
            drain()
        }
    }

    private let scenes: [Scene]
    private let key: [UInt8]
    private let now = Instant(nanoseconds: 1_000_000_000)

    init() throws {
        guard let credentials = LongTermCredentials(username: "ann", password: "correct horse") else {
            fatalError("credentials of plain letters are none")
        }
        key = try STUNMessage.longTermKey(username: "ann", realm: Self.realm, password: "correct horse")
        var scenes: [Scene] = []
        for transport in [TransportProtocol.udp, .tcp] {
            var scene = Scene(
                allocation: TURNAllocation(
                    configuration: TURNConfiguration(
                        server: Self.server, transport: transport, credentials: credentials),
                    generator: SeededGenerator(seed: 7)))
            scene.allocation.start(now: now)
            scene.drain()
            scenes.append(scene)
            try scene.answer(
                .errorResponse,
                [
                    .errorCode(ErrorCode(code: 401, reason: "Unauthorized")), .realm(Self.realm),
                    .nonce(Array("nonce".utf8)),
                ], key: nil, now: now)
            scenes.append(scene)
            try scene.answer(
                .successResponse,
                [
                    .xorRelayedAddress(Self.relayed), .xorMappedAddress(Self.reflexive), .lifetime(.seconds(600)),
                ], key: key, now: now)
            scene.allocation.permit(Self.peer.ip, now: now)
            scene.drain()
            scenes.append(scene)
            try scene.answer(.successResponse, [], key: key, now: now)
            scene.allocation.bind(Self.peer, now: now)
            scene.drain()
            scenes.append(scene)
            try scene.answer(.successResponse, [], key: key, now: now)
            scene.allocation.verify(now: now)
            scene.drain()
            scenes.append(scene)
        }
        self.scenes = scenes
    }

    func run(_ input: [UInt8]) throws {
        for scene in scenes { deliver(input, to: scene) }
        if let data = ChannelData(parsing: input.span.bytes) {
            expect(data.payload.upperBound <= input.count, "channel data lies within its message")
        }
        let message = try STUNMessage(parsing: input.span.bytes)
        for scene in scenes {
            for request in scene.open {
                let signed = STUNMessage(
                    message.messageClass, method: request.method, transactionID: request.transactionID,
                    attributes: message.attributes)
                deliver(try signed.encoded(integrityKey: key), to: scene)
                deliver(try signed.encoded(), to: scene)
            }
        }
    }

    private func deliver(_ bytes: [UInt8], to scene: Scene) {
        var scene = scene
        var now = now
        if let data = scene.allocation.handle(bytes.span.bytes, from: scene.allocation.server, now: now) {
            expect(data.payload.upperBound <= bytes.count, "relayed data lies within its message")
        }
        scene.drain()
        for _ in 0..<4 {
            guard let due = scene.allocation.nextDeadline else { break }
            now = max(now, due)
            scene.allocation.handleTimeout(now: now)
            scene.drain()
        }
        _ = scene.allocation.reclaim(now: now)
        scene.allocation.send(bytes.span.bytes, to: Self.peer, now: now)
        scene.drain()
        scene.allocation.release(now: now)
    }

    func seeds() throws -> [String: [UInt8]] {
        var random = SeededGenerator(seed: 3)
        let id = TransactionID(using: &random)
        func message(
            _ messageClass: MessageClass, _ method: RTCShareSTUN.Method, _ attributes: [Attribute]
        ) throws -> [UInt8] {
            try STUNMessage(messageClass, method: method, transactionID: id, attributes: attributes).encoded()
        }
        func refusal(_ code: Int, _ attributes: [Attribute] = []) throws -> [UInt8] {
            try message(
                .errorResponse, .allocate, [.errorCode(ErrorCode(code: code, reason: "No"))] + attributes)
        }
        return [
            "grant": try message(
                .successResponse, .allocate,
                [.xorRelayedAddress(Self.relayed), .xorMappedAddress(Self.reflexive), .lifetime(.seconds(600))]),
            "challenge": try refusal(
                401,
                [
                    .realm(Self.realm), .nonce(Array("obMatJos2AAABnonce".utf8)),
                    .passwordAlgorithms([PasswordAlgorithm(number: 2), PasswordAlgorithm(number: 1)]),
                ]),
            "elsewhere": try refusal(300, [.alternateServer(Self.reflexive), .alternateDomain("b.example")]),
            "stale": try refusal(438, [.realm(Self.realm), .nonce([1, 2, 3])]),
            "mismatch": try refusal(437),
            "data": try message(.indication, .data, [.xorPeerAddress(Self.peer), .data([1, 2, 3])]),
            "channel": [0x40, 0, 0, 4, 1, 2, 3, 4],
        ]
    }
}
