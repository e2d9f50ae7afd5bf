import Testing
import TestSupport

extension Interop.NetworkTests {
    /// What is said where nothing gets through.
    @Suite(.serialized)
    struct UnreachableTests {
        @Test("Two NATs that need a relay and have none end with 69 and that advice")
        func relayNeeded() async throws {
            let folder = try TemporaryFolder()
            let network = try await TestNetwork(sender: .symmetric, viewer: .portRestricted, in: folder)
            try await network.startServer()
            let share = try await NetworkShare(
                over: network, sender: Interop.NetworkTests.stun, viewer: Interop.NetworkTests.stun, in: folder)
            let outcome = try await share.sending.outcome(timeout: .seconds(45))
            #expect(outcome.status == 69, "\(outcome.standardError)")
            #expect(outcome.standardError.contains("--ice-server turn:"), "\(outcome.standardError)")
        }
    }
}
