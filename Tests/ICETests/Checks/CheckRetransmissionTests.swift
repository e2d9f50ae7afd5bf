import RTCShareICE
import RTCShareSTUN
import RTCShareWireFormat
import Testing

/// The retransmission times of an unanswered check (RFC 8489 §6.2.1, RFC 8445 §14.3).
@Suite struct CheckRetransmissionTests {
    /// The milliseconds at which checks leave, to one destination where one is given.
    private func checks(
        of peer: inout ScriptedPeer, for milliseconds: Int, to destination: TransportAddress? = nil
    ) throws -> [(at: Int, message: STUNMessage)] {
        let start = peer.now
        var found: [(at: Int, message: STUNMessage)] = []
        for elapsed in 0...milliseconds {
            for (message, address) in try peer.received()
            where message.messageClass == .request && (destination == nil || address == destination) {
                found.append((elapsed, message))
            }
            if elapsed < milliseconds { peer.wait(.milliseconds(1)) }
        }
        #expect(peer.now - start == .milliseconds(milliseconds))
        return found
    }

    @Test("A check is retransmitted after 50 ms, after 50 ms more, and then after twice as long each time")
    func schedule() throws {
        var peer = try ScriptedPeer(role: .controlling)
        peer.meet()
        _ = peer.announce()
        let found = try checks(of: &peer, for: 4000)
        #expect(found.map(\.at) == [0, 50, 100, 200, 400, 800, 1600, 3200])
        #expect(Set(found.map(\.message.transactionID)).count == 1)
    }

    @Test(
        "With many pairs, the retransmission timeout is the time to check each, at most 200 ms",
        arguments: [(1, 50), (4, 80), (20, 200)])
    func manyPairs(count: Int, wait: Int) throws {
        var peer = try ScriptedPeer(role: .controlling)
        let first = TransportAddress(ip: peer.address.ip, port: 7000)
        for index in 0..<count {
            _ = peer.agent.addRemoteCandidate(
                foundation: "\(index)", component: 1, transport: "UDP", priority: 2_130_706_431 - UInt32(index),
                address: TransportAddress(ip: peer.address.ip, port: 7000 + UInt16(index)), type: "host",
                now: peer.now)
        }
        peer.meet()
        #expect(try checks(of: &peer, for: 250, to: first).map(\.at).prefix(2) == [0, wait])
    }

    @Test(
        "With a known round-trip time, the timeout is a little longer than that, 50 to 200 ms",
        arguments: [(30, 50), (110, 125), (200, 200)])
    func knownRoundTrip(trip: Int, wait: Int) throws {
        var peer = try ScriptedPeer(role: .controlling)
        peer.meet()
        _ = peer.announce()
        let check = try #require(checks(of: &peer, for: trip).first?.message)
        try peer.deliver(
            STUNMessage(
                .successResponse, transactionID: check.transactionID, attributes: [.xorMappedAddress(peer.base)]),
            key: Array(peer.credentials.password.utf8))
        let nominating = try checks(of: &peer, for: 300)
        #expect(nominating.allSatisfy { $0.message.usesCandidate })
        let first = try #require(nominating.first?.at)
        #expect(nominating.dropFirst().first?.at == first + wait)
    }

    @Test("A peer's check causes the immediate retransmission of ours, unless that was just sent")
    func hastened() throws {
        var peer = try ScriptedPeer(role: .controlling)
        peer.meet()
        _ = peer.announce()
        _ = try checks(of: &peer, for: 1700)
        _ = try peer.request([.iceControlled(0)])
        #expect(try checks(of: &peer, for: 60).map(\.at) == [0, 50])
        for _ in 0..<5 {
            _ = try peer.request([.iceControlled(0)])
            #expect(try checks(of: &peer, for: 1).isEmpty)
        }
    }
}
