import Testing
import TestSupport

extension Interop.NetworkTests {
    /// What gets through without a relay.
    @Suite(.serialized)
    struct DirectPathTests {
        /// Two NATs that STUN is enough for.
        struct Pair: CustomTestStringConvertible, Sendable {
            let sender: Attachment
            let viewer: Attachment
            var testDescription: String { "\(sender.rawValue) and \(viewer.rawValue)" }
        }

        @Test("Two hosts of one network meet without a server")
        func oneNetwork() async throws {
            let folder = try TemporaryFolder()
            let network = try await TestNetwork(in: folder)
            let path = try await NetworkShare(over: network, in: folder).seen()
            #expect(path.local == "host" && path.remote == "host", "\(path)")
        }

        @Test(
            "A sender behind a NAT of any kind reaches a viewer on the public segment",
            arguments: [Attachment.fullCone, .addressRestricted, .portRestricted, .symmetric])
        func senderBehindNAT(nat: Attachment) async throws {
            let folder = try TemporaryFolder()
            let network = try await TestNetwork(sender: nat, in: folder)
            try await network.startServer()
            let path = try await NetworkShare(over: network, sender: Interop.NetworkTests.stun, in: folder).seen()
            #expect(path.remote == "host" && path.remoteAddress == TestNetwork.viewerRouterV4, "\(path)")
            #expect(path.localAddress == TestNetwork.senderRouterV4, "what the viewer sees is the router: \(path)")
        }

        @Test(
            "Two NATs let each other in where STUN is enough",
            arguments: [
                Pair(sender: .fullCone, viewer: .fullCone),
                Pair(sender: .addressRestricted, viewer: .addressRestricted),
                Pair(sender: .portRestricted, viewer: .portRestricted), Pair(sender: .fullCone, viewer: .symmetric),
                Pair(sender: .symmetric, viewer: .addressRestricted),
            ])
        func twoNATs(pair: Pair) async throws {
            let folder = try TemporaryFolder()
            let network = try await TestNetwork(sender: pair.sender, viewer: pair.viewer, in: folder)
            try await network.startServer()
            let path = try await NetworkShare(
                over: network, sender: Interop.NetworkTests.stun, viewer: Interop.NetworkTests.stun, in: folder
            ).seen()
            #expect(path.localAddress == TestNetwork.senderRouterV4, "\(path)")
            #expect(path.remoteAddress == TestNetwork.viewerRouterV4, "\(path)")
            #expect(path.local != "relay" && path.remote != "relay", "\(path)")
        }

        @Test("A page behind a NAT that knows a TURN server only is reached without its relay")
        func servedWithRelay() async throws {
            let folder = try TemporaryFolder()
            let network = try await TestNetwork(sender: .portRestricted, viewer: .portRestricted, in: folder)
            try await network.startServer()
            try await network.run(
                "on $sender_router nft add rule ip translation inward iifname wan tcp dport 8080 dnat to 10.0.1.2")
            let share = try await NetworkShare(
                servedOver: network, at: "http://\(TestNetwork.senderRouterV4):8080/", port: 8080,
                servers: Interop.NetworkTests.RelayedPathTests.turn, in: folder)
            let path = try await share.seenByViewer()
            #expect(path.remote == "srflx" && path.remoteAddress == TestNetwork.senderRouterV4, "\(path)")
            #expect(path.local != "relay", "\(path)")
        }

        @Test("A router that forwards port for port needs no server, only its address")
        func routerForwardsPort() async throws {
            let folder = try TemporaryFolder()
            let network = try await TestNetwork(sender: .fullCone, viewer: .symmetric, in: folder)
            let path = try await NetworkShare(
                over: network, sender: ["--public-ip", TestNetwork.senderRouterV4], in: folder
            ).seen()
            #expect(path.local == "srflx" && path.localAddress == TestNetwork.senderRouterV4, "\(path)")
        }

        @Test("Without IPv4, two firewalls let IPv6 through once both sides send")
        func twoFirewalls() async throws {
            let folder = try TemporaryFolder()
            let network = try await TestNetwork(
                sender: .portRestricted, viewer: .portRestricted, versions: .v6, in: folder)
            let path = try await NetworkShare(over: network, in: folder).seen()
            #expect(path.localAddress == "2001:db8:1::2" && path.remoteAddress == "2001:db8:2::2", "\(path)")
        }

        @Test("With both versions of IP the share goes over IPv6, which nobody translates")
        func ipv6IsPreferred() async throws {
            let folder = try TemporaryFolder()
            let network = try await TestNetwork(sender: .symmetric, viewer: .symmetric, versions: .both, in: folder)
            try await network.startServer(versions: .both)
            let path = try await NetworkShare(
                over: network, sender: Interop.NetworkTests.stun, viewer: Interop.NetworkTests.stun, in: folder
            ).seen()
            #expect(path.localAddress == "2001:db8:1::2" && path.remoteAddress == "2001:db8:2::2", "\(path)")
        }
    }
}
