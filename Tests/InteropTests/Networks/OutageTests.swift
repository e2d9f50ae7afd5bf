import Foundation
import Testing
import TestSupport

extension Interop.NetworkTests {
    /// What is published at servers, while the network is gone for longer than a connection lasts.
    @Suite(.serialized)
    struct OutageTests {
        /// Consent to send expires after 30 seconds (RFC 7675 §5.1).
        private static let outage = Duration.seconds(31)
        private static let place = "http://\(TestNetwork.serverV4):8000"
        private static let whip = place + "/live/whip"

        @Test("A network that is gone for a while gives a WHIP server and a Janus their share back")
        func outage() async throws {
            let folder = try TemporaryFolder()
            let network = try await TestNetwork(sender: .portRestricted, in: folder)
            let whip = try network.start(
                try #require(Peers.python),
                [Peers.script("whip_server.py"), "--bind", TestNetwork.serverV4, "--port", "8000"], on: .server)
            try await whip.wait(for: "the WHIP server", timeout: .seconds(60)) { whip.standardOutput.contains("\n") }
            let room = try await NetworkRoom(over: network, in: folder)
            let sending = try network.start(
                try #require(Peers.rtcshare),
                [
                    "send", "--attendee", "alice", "--source", "test:320x180@15", "--no-control", "--whip", Self.whip,
                ] + room.options, on: .sender, environment: ["DISPLAY": "", "WAYLAND_DISPLAY": "", "http_proxy": ""])
            func said(_ text: String) -> Int { sending.standardError.components(separatedBy: text).count - 1 }
            try await sending.wait(for: "both places", timeout: .seconds(30)) { said("is published to") == 2 }

            try await network.run("ip -n $sender_router link set lan down")
            try await sending.wait(for: "the news of the silence", timeout: .seconds(15)) {
                said("does not answer. Waiting for it") == 2
            }
            try await Task.sleep(for: Self.outage)
            #expect(sending.isRunning)
            try await network.run("ip -n $sender_router link set lan up")
            // Each is either found again, or published anew.
            try await sending.wait(for: "both places again", timeout: .seconds(60)) {
                [Self.place, room.url].allSatisfy { url in
                    sending.standardError.split(separator: "\n").contains {
                        $0.contains(url) && ($0.hasSuffix(" again.") || $0.hasSuffix("answers again."))
                    }
                }
            }
            sending.interrupt()
            #expect(try await sending.outcome(timeout: .seconds(20)).status == 0, "\(sending.standardError)")
        }

        @Test("A relay that a WHIP server names carries the share where nothing else does")
        func relayedByLink() async throws {
            let folder = try TemporaryFolder()
            let network = try await TestNetwork(sender: .symmetric, in: folder)
            try await network.startServer()
            // UDP reaches the relay alone.
            try await network.run(
                """
                on $sender_router nft add table inet only
                on $sender_router nft add chain inet only forward '{ type filter hook forward priority 0; }'
                on $sender_router nft add rule inet only forward ip saddr 10.0.1.2 udp dport != 3478 drop
                """)
            let whip = try network.start(
                try #require(Peers.python),
                [
                    Peers.script("whip_server.py"), "--bind", TestNetwork.serverV4, "--port", "8000", "--link",
                    "<turn:\(TestNetwork.serverV4):3478?transport=udp>; rel=\"ice-server\"; "
                        + "username=\"\(TestNetwork.username)\"; credential=\"\(TestNetwork.password)\"; "
                        + "credential-type=\"password\"",
                ], on: .server)
            try await whip.wait(for: "the WHIP server", timeout: .seconds(60)) { whip.standardOutput.contains("\n") }
            let sending = try network.start(
                try #require(Peers.rtcshare),
                [
                    "send", "--attendee", "alice", "--source", "test:320x180@15", "--no-control", "--whip", Self.whip,
                    "--stats", folder.file("stats.jsonl").path,
                ], on: .sender, environment: ["DISPLAY": "", "WAYLAND_DISPLAY": "", "http_proxy": ""])
            try await sending.wait(for: "the place", timeout: .seconds(40)) {
                sending.standardError.contains("is published to \(Self.place).")
            }
            try await whip.wait(for: "pictures", timeout: .seconds(30)) {
                whip.standardOutput.contains("\"frames\": 2")
            }
            sending.interrupt()
            #expect(try await sending.outcome(timeout: .seconds(20)).status == 0, "\(sending.standardError)")
            let statistics = try String(contentsOf: folder.file("stats.jsonl"), encoding: .utf8)
            #expect(statistics.contains("\"candidateType\":\"relay\""))
        }
    }
}
