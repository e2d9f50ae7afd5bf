import RTCShareICE
import RTCShareSTUN
import RTCShareWireFormat
import TestSupport

/// A STUN message as it came, and as somebody who has the password would have sent it: to an agent that checks, and to one
/// that is connected.
struct STUNTarget: FuzzTarget {
    private static let base = TransportAddress(ip: .v4(0xC000_0201), port: 4000)
    private static let peer = TransportAddress(ip: .v4(0xC000_0202), port: 5000)

    /// An agent, and the transactions in which it waits for an answer.
    private struct Scene {
        var agent: Agent
        var open: [TransactionID] = []

        /// Takes what the agent sends.
        mutating func drain() {
            while let transmit = agent.pollTransmit() {
                guard let message = try? STUNMessage(parsing: transmit.bytes.span.bytes),
                    message.messageClass == .request
                else { continue }
                open.append(message.transactionID)
            }
            while agent.pollEvent() != nil {}
        }
    }

    private let scenes: [Scene]
    private let local: Credentials
    private let remote: Credentials
    private let now: Instant

    init() throws {
        var random = SeededGenerator(seed: 1)
        let (local, remote) = (Credentials.random(using: &random), Credentials.random(using: &random))
        var now = Instant(nanoseconds: 1_000_000_000)
        var scenes: [Scene] = []
        for role in [Role.controlling, .controlled] {
            var scene = Scene(
                agent: Agent(
                    configuration: RTCShareICE.Configuration(role: role, credentials: local),
                    generator: SeededGenerator(seed: 2)))
            scene.agent.addLocalHost(Self.base, now: now)
            // Before the peer is known, while it is checked, and when it has answered.
            scenes.append(scene)
            scene.agent.setRemote(credentials: remote, now: now)
            _ = scene.agent.addRemoteCandidate(
                foundation: "1", component: 1, transport: "UDP", priority: 2_130_706_431, address: Self.peer,
                type: "host", now: now)
            scene.drain()
            scenes.append(scene)
            for _ in 0..<8 {
                for id in scene.open {
                    let answer = STUNMessage(
                        .successResponse, transactionID: id, attributes: [.xorMappedAddress(Self.base)])
                    let bytes = try answer.encoded(integrityKey: Array(remote.password.utf8))
                    scene.agent.handle(datagram: bytes.span.bytes, from: Self.peer, to: Self.base, now: now)
                }
                scene.open = []
                now = now.advanced(by: .milliseconds(50))
                scene.agent.handleTimeout(now: now)
                scene.drain()
            }
            scenes.append(scene)
        }
        self.scenes = scenes
        (self.local, self.remote) = (local, remote)
        self.now = now
    }

    func run(_ input: [UInt8]) throws {
        for scene in scenes { deliver(input, to: scene) }
        let message = try STUNMessage(parsing: input.span.bytes)
        let bytes = try message.encoded()
        let written = try STUNMessage(parsing: bytes.span.bytes)
        expect(written.attributes == message.attributes, "a message is the same once it was written and read")
        expect(written.hasFingerprint, "a message that was written has a fingerprint")
        for scene in scenes {
            switch message.messageClass {
            case .request, .indication:
                var attributes = message.attributes.filter { $0.type != .username }
                attributes.insert(.username("\(local.usernameFragment):\(remote.usernameFragment)"), at: 0)
                try deliver(message, attributes, in: message.transactionID, key: local.password, to: scene)
            case .successResponse, .errorResponse:
                for id in scene.open {
                    try deliver(message, message.attributes, in: id, key: remote.password, to: scene)
                }
            }
        }
    }

    /// Delivers a message of another transaction that bears the right key.
    private func deliver(
        _ message: STUNMessage, _ attributes: [Attribute], in id: TransactionID, key: String, to scene: Scene
    ) throws {
        let signed = STUNMessage(
            message.messageClass, method: message.method, transactionID: id, attributes: attributes)
        deliver(try signed.encoded(integrityKey: Array(key.utf8)), to: scene)
    }

    private func deliver(_ bytes: [UInt8], to scene: Scene) {
        var scene = scene
        var now = now
        // Twice, as what is repeated is known again.
        for _ in 0..<2 {
            scene.agent.handle(datagram: bytes.span.bytes, from: Self.peer, to: Self.base, now: now)
            scene.drain()
        }
        for _ in 0..<4 {
            guard let due = scene.agent.nextDeadline else { break }
            now = max(now, due)
            scene.agent.handleTimeout(now: now)
            scene.drain()
        }
        let limits = Limits()
        expect(scene.agent.remoteCandidates.count <= limits.remoteCandidates, "the peer's candidates are bounded")
        expect(scene.agent.localCandidates.count <= limits.localCandidates, "our candidates are bounded")
    }

    func seeds() throws -> [String: [UInt8]] {
        var random = SeededGenerator(seed: 3)
        let id = TransactionID(using: &random)
        let request = STUNMessage(
            .request, transactionID: id,
            attributes: [
                .username("\(local.usernameFragment):\(remote.usernameFragment)"), .priority(1_862_270_975),
                .iceControlling(7), .useCandidate,
            ])
        let conflict = STUNMessage(
            .errorResponse, transactionID: id, attributes: [.errorCode(ErrorCode(code: 487, reason: "Role Conflict"))])
        let answer = STUNMessage(.successResponse, transactionID: id, attributes: [.xorMappedAddress(Self.peer)])
        return [
            "request": try request.encoded(integrityKey: Array(local.password.utf8)),
            "conflict": try conflict.encoded(integrityKey: Array(remote.password.utf8)),
            "answer": try answer.encoded(integrityKey: Array(remote.password.utf8)),
        ]
    }
}
