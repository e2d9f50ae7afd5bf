import RTCShareCongestionControl
import RTCShareICE
import RTCShareRTP
import RTCShareSDP
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCSharePeerConnection

/// Whoever is not on the path, and guesses addresses but no credentials, neither takes over, nor stops, nor slows a share.
@Suite struct OffPathAttackTests {
    /// A call that is attacked, or its twin that is not: apart from the attack both do the same at the same instants.
    final class Attacked {
        let call: SimulatedCall
        private var attackers: [OffPathAttacker] = []
        private let forgesPeer: Bool
        private let random = Box(SeededGenerator(seed: 5))
        /// Transactions that an end has answered once.
        private let answered = Box<Set<[UInt8]>>([])
        /// The datagrams that both ends send only because of the attack: answers to the attacker.
        let refusals = Box<(count: Int, bytes: Int)>((0, 0))
        /// All other datagrams that were sent.
        let sent = Box<[(now: Instant, kind: DatagramKind, size: Int)]>([])
        private(set) var forged = (count: 0, bytes: 0)
        /// Those of both twins.
        private static let certificates = Result(catching: SimulatedCall.makeCertificates)

        /// `forgesPeer`: whether the attacker forges the peer's address too, or has those of others alone.
        init(_ attack: OffPathAttack?, forgesPeer: Bool = true, seed: UInt64) throws {
            self.forgesPeer = forgesPeer
            var options = SimulatedCall.Options()
            options.certificates = try Self.certificates.get()
            call = try SimulatedCall(conditions: PathTests.clean, seed: seed, options: options)
            let fragments = [call.sender.ice.local.usernameFragment, call.viewer.ice.local.usernameFragment]
            if let attack {
                attackers = [
                    OffPathAttacker(attack, username: "\(fragments[0]):\(fragments[1])", seed: 6),
                    OffPathAttacker(attack, username: "\(fragments[1]):\(fragments[0])", seed: 7),
                ]
            }
            let captures = attack == .replays || attack == .truncations
            call.tap = { [unowned self] datagram, end in
                let bytes = datagram.bytes
                // An error response, type 0x0111, or a success response that was given before.
                let isResponse = bytes.starts(with: [1, 1]) && bytes.count >= 20
                let isRepeated = isResponse && !answered.value.insert(Array(bytes[8..<20])).inserted
                if bytes.starts(with: [1, 0x11]) || isRepeated {
                    refusals.value.count += 1
                    refusals.value.bytes += bytes.count
                } else {
                    sent.value.append((call.now, DatagramKind(bytes.span.bytes), bytes.count))
                }
                if captures { attackers[end == .left ? 1 : 0].capture(bytes, now: call.now) }
            }
        }

        /// Runs in steps; after each, each end gets `count` forged datagrams.
        func run(for duration: Duration, each step: Duration = .milliseconds(10), count: Int) {
            let end = call.now.advanced(by: duration)
            while call.now < end {
                call.run(for: step)
                for index in attackers.indices {
                    for _ in 0..<count { inject(attackers[index].datagram(now: call.now), to: index) }
                }
            }
        }

        private func inject(_ bytes: [UInt8], to index: Int) {
            let addresses = [SimulatedCall.senderAddress, SimulatedCall.viewerAddress]
            // From where the victim's peer is, and from elsewhere.
            let isElsewhere = Bool.random(using: &random.value) || !forgesPeer
            let stranger = TransportAddress(
                ip: .v4(0xCB00_7107), port: UInt16.random(in: 1...9999, using: &random.value))
            let known = Datagram(
                source: isElsewhere ? stranger : addresses[1 - index], destination: addresses[index], bytes: [])
            forged.count += 1
            forged.bytes += bytes.count
            call.inject(bytes, like: known, to: index == 0 ? .left : .right)
        }
    }

    @Test("A running call continues undisturbed by an off-path attack", arguments: OffPathAttack.allCases)
    func runningShare(attack: OffPathAttack) throws {
        func run(_ attack: OffPathAttack?) throws -> Attacked {
            let attacked = try Attacked(attack, seed: 700)
            attacked.run(for: .seconds(2), count: 0)
            try #require(attacked.call.record.connected != nil)
            attacked.run(for: .seconds(6), count: 10)
            return attacked
        }
        try compare(run(attack), run(nil))
    }

    /// All but whole handshake messages in the peer's name, which DTLS 1.2 can't tell from the peer's.
    @Test(
        "A call is set up undisturbed by an off-path attack",
        arguments: OffPathAttack.allCases.filter { ![.handshakeHellos, .handshakeFragments].contains($0) })
    func beginningShare(attack: OffPathAttack) throws {
        func run(_ attack: OffPathAttack?) throws -> Attacked {
            let attacked = try Attacked(attack, seed: 710)
            attacked.run(for: .seconds(2), each: .milliseconds(3), count: 2)
            return attacked
        }
        try compare(run(attack), run(nil))
    }

    @Test(
        "Handshakes from other addresses than the peer's do not delay the peer's handshake",
        arguments: [OffPathAttack.handshakeHellos, .handshakeFragments])
    func foreignHandshakes(
        attack: OffPathAttack
    ) throws {
        func run(_ attack: OffPathAttack?) throws -> Attacked {
            let attacked = try Attacked(attack, forgesPeer: false, seed: 720)
            attacked.run(for: .seconds(2), each: .milliseconds(3), count: 2)
            return attacked
        }
        try compare(run(attack), run(nil))
    }

    private func compare(_ attacked: Attacked, _ spared: Attacked) throws {
        let (call, twin) = (attacked.call, spared.call)
        #expect(attacked.forged.count > 1000)
        #expect(call.record.connected != nil && call.record.connected == twin.record.connected)
        #expect(call.record.failures.isEmpty && call.record.goodbyes == 0 && call.record.pathEvents.isEmpty)
        let areFramesTheSame = call.record.frames.map(\.data) == twin.record.frames.map(\.data)
        #expect(areFramesTheSame)
        #expect(call.framesSent == twin.framesSent)
        #expect(call.record.keyFrameRequests == twin.record.keyFrameRequests)
        #expect(call.sender.path.pair?.remote.address == SimulatedCall.viewerAddress)
        #expect(call.viewer.path.pair?.remote.address == SimulatedCall.senderAddress)
        #expect(call.sender.ice.agent.role == .controlling && call.viewer.ice.agent.role == .controlled)
        #expect(call.sender.path.changes == 1 && call.viewer.path.changes == 1)
        #expect(
            call.record.targetsOf[0]?.map(\.target.bitrate) == twin.record.targetsOf[0]?.map(\.target.bitrate))
        #expect(call.sender.bandwidth.estimator.target == twin.sender.bandwidth.estimator.target)
        // To the datagram the same. The first sender report leaves with the next thing that happens, and the one ECDSA
        // signature of a flight of DTLS differs in length from run to run.
        let (sent, usual) = (attacked.sent.value, spared.sent.value)
        #expect(sent.count == usual.count)
        let other = zip(sent, usual).first {
            abs($0.now.nanoseconds - $1.now.nanoseconds) > 3_000_000 || $0.kind != $1.kind || abs($0.size - $1.size) > 4
        }
        #expect(other == nil, "\(String(describing: other))")
        // Nobody is amplified.
        #expect(attacked.refusals.value.bytes <= attacked.forged.bytes)
        let agents = [
            (call.sender.ice.agent, twin.sender.ice.agent), (call.viewer.ice.agent, twin.viewer.ice.agent),
        ]
        for (agent, spared) in agents {
            #expect(agent.remoteCandidates == spared.remoteCandidates)
            #expect(agent.localCandidates == spared.localCandidates)
            #expect(agent.pairReports().map(\.state) == spared.pairReports().map(\.state))
        }
    }
}
