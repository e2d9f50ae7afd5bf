import Foundation
import Testing
import TestSupport

extension Interop.NetworkTests {
    /// `rtcshare serve` on machines whose addresses are not all fit for use.
    @Suite(.serialized)
    struct ServingTests {
        @Test(
            "A share starts and is viewed without IPv6, and while an address is not ready",
            arguments: [
                "on $sender sysctl -qw net.ipv6.conf.all.disable_ipv6=1",
                """
                on $sender sysctl -qw net.ipv6.conf.wan.dad_transmits=120
                ip -n $sender address add 2001:db8:113::77/64 dev wan
                """,
            ])
        func unfitAddresses(preparation: String) async throws {
            let folder = try TemporaryFolder()
            let network = try await TestNetwork(in: folder)
            try await network.run(preparation)
            let rtcshare = try #require(Peers.rtcshare)
            let environment = [
                "XDG_RUNTIME_DIR": folder.file("run").path, "XDG_STATE_HOME": folder.file("state").path,
            ]
            let share = try network.start(
                rtcshare,
                [
                    "serve", "--no-control", "--no-token", "--source", "test:160x120@10", "--audio", "none",
                    "--ice-server", "stun:stun.example", "--duration", "40",
                ], on: .sender, environment: environment)
            try await share.wait(for: "a link", timeout: .seconds(20)) { share.standardOutput.contains("localhost") }
            let link = try #require(share.standardOutput.split(separator: "\n").first)
            #expect(link.hasPrefix("http://\(TestNetwork.senderRouterV4):"), "\(share.standardOutput)")
            let viewer = try network.start(
                rtcshare, ["view", "--no-window", "--duration", "1", String(link)], on: .viewer,
                environment: environment)
            let outcome = try await viewer.outcome(timeout: .seconds(30))
            #expect(outcome.status == 0 && outcome.standardError.contains("Connected."), "\(outcome.standardError)")
            let absent = try network.start(
                rtcshare,
                ["serve", "--no-control", "--listen", "[2001:db8:113::77]:8099", "--source", "test:160x120@10"],
                on: .sender, environment: environment)
            let refusal = try await absent.outcome(timeout: .seconds(20))
            #expect(refusal.status == 69, "\(refusal.standardError)")
            #expect(refusal.standardError.contains("can't listen on [2001:db8:113::77]:8099: no interface"))
            share.interrupt()
        }
    }
}
