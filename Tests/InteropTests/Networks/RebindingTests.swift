import Testing
import TestSupport

extension Interop.NetworkTests.RecoveryTests {
    @Test("A share goes on when the sender's NAT forgets its mapping and makes another")
    func rebinding() async throws {
        let folder = try TemporaryFolder()
        let network = try await TestNetwork(sender: .portRestricted, in: folder)
        try await network.startServer()
        let share = try await NetworkShare(
            over: network, sender: Interop.NetworkTests.stun, viewFor: 60, in: folder)
        try await share.waitForPictures(10, timeout: .seconds(20))
        // As after a restart of the router, and with ports that nobody has seen: a masquerade keeps the sender's own where it
        // can, and none of these is one that the system picks.
        try await network.run(
            """
            on $sender_router nft flush chain ip translation outward
            on $sender_router nft add rule ip translation outward oifname wan meta l4proto udp masquerade to :20000-20999
            on $sender_router conntrack -F 2>/dev/null
            """)
        try await share.waitForPictures(30, timeout: .seconds(20))
        // What the viewer reports and asks for has to get through too, and so has its consent.
        try await share.viewing.wait(for: "a path to the new mapping", timeout: .seconds(25)) {
            (try? share.path(in: "viewer.jsonl")).map { (20000...20999).contains($0.remotePort) } ?? false
        }
        #expect(try share.path(in: "viewer.jsonl")?.remote == "prflx")
        share.stop()
    }
}
