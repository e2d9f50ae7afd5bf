import RTCShareSTUN
import RTCShareWireFormat
import Testing

@testable import RTCShareICE

/// The queue of triggered checks (RFC 8445 §6.1.4.1), which a peer's checks fill.
@Suite struct TriggeredCheckTests {
    @Test(
        "However many checks arrive from however many addresses, each pair is queued once",
        arguments: [Role.controlling, .controlled])
    func eachPairOnce(role: Role) throws {
        var peer = try ScriptedPeer(role: role)
        peer.meet()
        for _ in 0..<5 {
            for port in UInt16(1)...300 {
                _ = try peer.request(
                    [role == .controlled ? .iceControlling(.max) : .iceControlled(0)],
                    from: TransportAddress(ip: peer.address.ip, port: port))
                _ = try peer.received()
            }
        }
        let pairs = peer.agent.checklist.triggered.map(\.pair)
        #expect(Set(pairs).count == pairs.count)
        #expect((50...Limits().pairs).contains(pairs.count), "\(pairs.count)")
        #expect(peer.agent.pairReports().count <= Limits().pairs)
        #expect(peer.agent.remoteCandidates.count <= Limits().remoteCandidates)
    }
}
