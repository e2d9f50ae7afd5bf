import Foundation
import Testing
import TestSupport

extension Interop.NetworkTests.RelayedPathTests {
    /// What the two programs of a share that begins with `offer` did.
    private func share(
        over network: TestNetwork, in folder: TemporaryFolder, between: () async throws -> Void
    ) async throws -> (offered: RunningProgram.Outcome, sent: RunningProgram.Outcome, viewer: RunningProgram) {
        let rtcshare = try #require(Peers.rtcshare)
        let environment = ["DISPLAY": "", "WAYLAND_DISPLAY": ""]
        let session = ["--session", folder.file("session").path]
        let offered = try await network.start(
            rtcshare,
            ["offer", "--source", "test:640x360@15", "--ice-transport-policy", "relay"] + session + Self.turn,
            on: .sender, environment: environment
        ).outcome(timeout: .seconds(20))
        try #require(offered.status == 0, "\(offered.standardError)")
        let offer = try folder.write(offered.standardOutput, to: "offer.sdp")
        let viewer = try network.start(
            rtcshare, ["view", "--offer", offer.path, "--duration", "1"] + Interop.NetworkTests.stun, on: .viewer,
            environment: environment)
        try await viewer.wait(for: "the answer", timeout: .seconds(20)) {
            viewer.standardOutput.contains("a=end-of-candidates") && viewer.standardOutput.utf8.last == 10
        }
        let answer = try folder.write(viewer.standardOutput, to: "answer.sdp")
        try await between()
        let sent = try await network.start(
            rtcshare, ["send", "--answer", answer.path] + session, on: .sender, environment: environment
        ).outcome(timeout: .seconds(40))
        return (offered, sent, viewer)
    }

    @Test("Behind a symmetric NAT another program takes up the relayed address of the offer")
    func keptRelay() async throws {
        let folder = try TemporaryFolder()
        let network = try await TestNetwork(sender: .symmetric, in: folder)
        try await network.startServer()
        let (offered, sent, viewer) = try await share(over: network, in: folder) {}
        #expect(offered.standardError.contains("the router on the way may forget"), "\(offered.standardError)")
        #expect(sent.status == 0, "\(sent.standardError)")
        let seen = try await viewer.outcome(timeout: .seconds(20))
        #expect(seen.status == 0 && seen.standardError.contains("Video 1 is added"), "\(seen.standardError)")
    }

    @Test("Where the router gives another port meanwhile, the address is told to be gone")
    func lostRelay() async throws {
        let folder = try TemporaryFolder()
        let network = try await TestNetwork(sender: .symmetric, in: folder)
        try await network.startServer()
        let (_, sent, viewer) = try await share(over: network, in: folder) {
            try await network.run("on $sender_router conntrack -F 2>/dev/null")
        }
        viewer.stop()
        #expect(sent.status == 69)
        #expect(sent.standardError.contains("a router on the way has given our port another number"))
    }
}
