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
