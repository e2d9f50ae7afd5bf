import Foundation
import Testing
import TestSupport

extension Interop.NetworkTests {
    /// What takes a relay, and what is said where there is none.
    @Suite(.serialized)
    struct RelayedPathTests {
        static let turn = [
            "--ice-server", "turn:\(TestNetwork.username):\(TestNetwork.password)@\(TestNetwork.serverV4)",
        ]
        static let turnOverTCP = [
            "--ice-server",
            "turn:\(TestNetwork.username):\(TestNetwork.password)@\(TestNetwork.serverV4)?transport=tcp",
        ]

        /// One of the two has a relay; the other has STUN at most.
        struct Relay: CustomTestStringConvertible, Sendable {
            let sender: Attachment
            let viewer: Attachment
            let isSenders: Bool
            var testDescription: String {
                "\(sender.rawValue) and \(viewer.rawValue), the \(isSenders ? "sender" : "viewer") with a relay"
            }
        }

        @Test(
            "A symmetric NAT is got through with a relay on one side",
            arguments: [
                Relay(sender: .symmetric, viewer: .portRestricted, isSenders: true),
                Relay(sender: .portRestricted, viewer: .symmetric, isSenders: false),
                Relay(sender: .symmetric, viewer: .symmetric, isSenders: true),
            ])
        func symmetricNAT(relay: Relay) async throws {
            let folder = try TemporaryFolder()
            let network = try await TestNetwork(sender: relay.sender, viewer: relay.viewer, in: folder)
            try await network.startServer()
            let path = try await NetworkShare(
                over: network, sender: relay.isSenders ? Self.turn : Interop.NetworkTests.stun,
                viewer: relay.isSenders ? Interop.NetworkTests.stun : Self.turn, in: folder
            ).seen()
            let isRelayed = relay.isSenders ? path.local == "relay" : path.remoteAddress == TestNetwork.serverV4
            #expect(isRelayed, "\(path)")
        }

        @Test("Where UDP is blocked, TURN over TCP gets through")
        func relayOverTCP() async throws {
            let folder = try TemporaryFolder()
            let network = try await TestNetwork(sender: .udpBlocked, viewer: .portRestricted, in: folder)
            try await network.startServer()
            let path = try await NetworkShare(
                over: network, sender: Self.turnOverTCP, viewer: Interop.NetworkTests.stun, in: folder
            ).seen()
            #expect(path.local == "relay" && path.localAddress == TestNetwork.serverV4, "\(path)")
        }

        @Test("Where UDP is blocked, TURN over TLS gets through at the port of HTTPS")
        func relayOverTLS() async throws {
            let folder = try TemporaryFolder()
            let network = try await TestNetwork(sender: .udpBlocked, in: folder)
            let certificate = try await TestCertificate(for: "IP:\(TestNetwork.serverV4)", in: folder)
            try await network.startServer(certificate: certificate)
            let path = try await NetworkShare(
                over: network,
                sender: [
                    "--ice-server",
                    "turns:\(TestNetwork.username):\(TestNetwork.password)@\(TestNetwork.serverV4):443",
                ], environment: ["SSL_CERT_FILE": certificate.certificate.path], in: folder
            ).seen()
            #expect(path.local == "relay" && path.localAddress == TestNetwork.serverV4, "\(path)")
        }

        @Test("Where UDP is blocked on both sides, two relays over TCP meet")
        func twoRelays() async throws {
            let folder = try TemporaryFolder()
            let network = try await TestNetwork(sender: .udpBlocked, viewer: .udpBlocked, in: folder)
            try await network.startServer()
            let path = try await NetworkShare(
                over: network, sender: Self.turnOverTCP, viewer: Self.turnOverTCP, in: folder
            ).seen()
            #expect(path.local == "relay", "\(path)")
        }

        /// A share whose viewer, for whom UDP is blocked, gets a relay with credentials from a shared secret.
        private func sharedSecret() throws -> (folder: TemporaryFolder, options: [String]) {
            let folder = try TemporaryFolder()
            let file = try folder.write("sesame\n", to: "turn.secret")
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
            let url = "turn:\(TestNetwork.serverV4)?transport=tcp"
            // The viewer could reach the page's port by TCP, too.
            return (folder, ["--ice-server", url, "--ice-secret-file", file.path, "--no-ice-tcp"])
        }

        private static let link = "http://\(TestNetwork.senderRouterV4):8080/"

        @Test("A viewer of a link gets through a relay with credentials of its own from a shared secret")
        func sharedSecretOfLink() async throws {
            let (folder, options) = try sharedSecret()
            let network = try await TestNetwork(viewer: .udpBlocked, in: folder)
            let server = try await network.startServer(secret: "sesame")
            let share = try await NetworkShare(
                servedOver: network, at: Self.link, port: 8080, servers: options, viewer: [], in: folder)
            let path = try await share.seenByViewer()
            #expect(path.local == "relay" && path.localAddress == TestNetwork.serverV4, "\(path)")
            #expect(Self.users(server).count == 1, "\(server.standardOutput)")
            #expect(!share.said.contains("sesame"))
        }

        @Test(
            "A browser gets through a relay with credentials of its own from a shared secret",
            .enabled(if: Peers.canDriveBrowsers, "no Python to drive browsers"),
            arguments: [Viewer.chromium, .firefox].filter(Peers.has))
        func sharedSecretOfPage(browser: Viewer) async throws {
            let (folder, options) = try sharedSecret()
            let network = try await TestNetwork(viewer: .udpBlocked, in: folder)
            let server = try await network.startServer(secret: "sesame")
            let share = try network.start(
                try #require(Peers.rtcshare),
                [
                    "serve", "--no-control", "--no-token", "--listen", "8080", "--source", "test:640x360@15", "--audio",
                    "none",
                ] + options, on: .sender, environment: ["DISPLAY": "", "WAYLAND_DISPLAY": ""])
            try await share.wait(for: "the link", timeout: .seconds(20)) { share.standardOutput.contains("http://") }
            let page = try await BrowserPage(browser, on: network, in: folder)
            try await page.go(to: Self.link)
            try await page.wait(state: "live")
            let first = try #require(Self.users(server).first)
            // Its connection to the relay ends. The page restarts ICE with the servers of the answer to that.
            server.stop()
            let again = try await network.startServer(secret: "sesame")
            try await again.wait(for: "the page's allocation", timeout: .seconds(60)) { !Self.users(again).isEmpty }
            #expect(!Self.users(again).contains(first), "the same credentials")
            try await page.wait(until: "document.querySelector('video').readyState >= 3", seconds: 30)
            try await page.wait(state: "live")
        }

        /// The user names of the first viewer's relayed addresses.
        private static func users(_ server: RunningProgram) -> [String] {
            server.standardOutput.matches(of: /user <([0-9]+:1)>: incoming packet ALLOCATE processed, success/)
                .map { String($0.output.1) }
        }

        @Test(
            "Other programs see a share that uses relays alone",
            .enabled(if: Peers.canDriveBrowsers, "no Python to drive browsers"),
            arguments: [Viewer.chromium, .firefox, .gstreamer].filter(Peers.has))
        func relaysAlone(in viewer: Viewer) async throws {
            let folder = try TemporaryFolder()
            let network = try await TestNetwork(viewer: .portRestricted, in: folder)
            try await network.startServer()
            let statistics = folder.file("stats.jsonl")
            let share = try await TCPPathTests.ServedPage(
                Self.turn + ["--ice-transport-policy", "relay", "--stats", statistics.path], over: network, in: folder)
            _ = try await share.show(in: viewer, path: "relayed", over: network)
            share.program.interrupt()
            #expect(try await share.program.outcome(timeout: .seconds(20)).status == 0)
            let local = try #require(StatisticsEntry.newest(in: statistics).route?.local)
            #expect(local.candidateType == "relay" && local.address == TestNetwork.serverV4, "\(local)")
        }

        @Test("Told to use relays alone, a sender shows nobody its own address")
        func relaysAlone() async throws {
            let folder = try TemporaryFolder()
            let network = try await TestNetwork(in: folder)
            try await network.startServer()
            let share = try await NetworkShare(
                over: network, sender: Self.turn + ["--ice-transport-policy", "relay"], in: folder)
            let path = try await share.seen()
            #expect(path.local == "relay", "\(path)")
            // The blank tells it from 203.0.113.10.
            #expect(!share.sending.standardOutput.contains(TestNetwork.senderRouterV4 + " "), "a relay alone is named")
        }
    }
}
