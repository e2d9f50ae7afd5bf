import Testing
import TestSupport

extension Interop.NetworkTests {
    /// What a share lives through while it runs.
    @Suite(.serialized)
    struct RecoveryTests {
        @Test("A share goes on when the cable is pulled and put back")
        func pulledCable() async throws {
            let folder = try TemporaryFolder()
            let network = try await TestNetwork(sender: .portRestricted, in: folder)
            try await network.startServer()
            let share = try await NetworkShare(
                over: network, sender: Interop.NetworkTests.stun, viewFor: 60, in: folder)
            try await share.waitForPictures(10, timeout: .seconds(20))
            // The other end goes down: the sender's interface loses its carrier, and keeps its address.
            try await network.run("ip -n $sender_router link set lan down")
            try await share.sending.wait(for: "the news of the silence", timeout: .seconds(15)) {
                share.sending.standardError.contains("does not answer")
            }
            try await network.run("ip -n $sender_router link set lan up")
            try await share.waitForPictures(20, timeout: .seconds(20))
            #expect(share.sending.standardError.contains("is back"), "\(share.said)")
            share.stop()
        }
    }
}
