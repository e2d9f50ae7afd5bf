import Foundation
import Testing
import TestSupport

extension Interop.NetworkTests {
    /// A share in a room of Janus, over networks that take more than a direct route.
    @Suite(.serialized, .enabled(if: Peers.mustRun || JanusServer.missing == nil, "needs janus"))
    struct RoomPathTests {
        private static func newest(_ name: String, in folder: TemporaryFolder) -> [StatisticsEntry] {
            StatisticsEntry.newest(in: folder.file("\(name).jsonl"))
        }

        /// Loses each fifteenth packet of VP8 that comes from an interface, and no packet that is sent again.
        private static func losses(
            from interface: String, at router: String, in report: [StatisticsEntry]
        ) throws -> String {
            let type = try #require(report.first { $0.mimeType == "video/VP8" }?.payloadType)
            return """
                on $\(router) nft add table ip lossy
                on $\(router) nft add chain ip lossy forward '{ type filter hook forward priority -2; }'
                on $\(router) nft add rule ip lossy forward iifname \(interface) meta l4proto udp \
                '@th,72,8' and 0x7f == \(type) numgen inc mod 15 0 drop
                """
        }

        private static let routers = ["sender_router", "viewer_router"]

        /// Drops packets on their way through the routers.
        private static func drop(_ packets: String) -> String {
            routers.map { router in
                """
                on $\(router) nft add table ip filtered
                on $\(router) nft add chain ip filtered forward '{ type filter hook forward priority -2; }'
                on $\(router) nft add rule ip filtered forward \(packets) drop
                """
            }.joined(separator: "\n")
        }

        /// Makes the viewer's round trips longer than a millisecond: until it has measured one, Janus keeps no packets to
        /// send again.
        private static func addDistance(to network: TestNetwork) async throws {
            let program = try network.start(
                try #require(RunningProgram.find("python3")),
                [Peers.script("far_host.py"), TestNetwork.serverV4, "lan", "10.0.2.2", "5"], on: .viewer)
            try await program.wait(for: "the distance", timeout: .seconds(10)) {
                program.standardOutput.contains("ready")
            }
        }

        @Test("Packets that are lost on the way to a room, or from it, are sent again")
        func lossy() async throws {
            let folder = try TemporaryFolder()
            let network = try await TestNetwork(sender: .portRestricted, viewer: .portRestricted, in: folder)
            try await Self.addDistance(to: network)
            let room = try await NetworkRoom(over: network, in: folder)
            let sending = try await room.publish()
            // The first one misses what Janus misses, the other one more.
            let viewers = [("near", TestNetwork.Host.server), ("far", .viewer)]
            let programs = try viewers.map { try room.view($0, on: $1) }
            func video(_ name: String) -> StatisticsEntry? { Self.newest(name, in: folder).video }
            for (program, (name, _)) in zip(programs, viewers) {
                try await program.wait(for: "the first frames", timeout: .seconds(30)) {
                    video(name)?.framesDecoded ?? 0 > 10
                }
            }
            /// Waits for frames, and checks that nearly all packets have come in the end.
            func expectFrames() async throws {
                let before = viewers.map { video($0.0) }
                for (program, ((name, _), old)) in zip(programs, zip(viewers, before)) {
                    try await program.wait(for: "more frames", timeout: .seconds(30)) {
                        video(name)?.framesDecoded ?? 0 > (old?.framesDecoded ?? 0) + 40
                    }
                    let new = try #require(video(name))
                    func growth(_ count: KeyPath<StatisticsEntry, Int?>) -> Int {
                        (new[keyPath: count] ?? 0) - (old?[keyPath: count] ?? 0)
                    }
                    // Janus puts the packets that it gets again into the stream, and the viewer counts its own apart.
                    let lost = growth(\.packetsLost) - growth(\.retransmittedPacketsReceived)
                    #expect(lost * 30 < growth(\.packetsReceived), "\(name): \(lost) lost")
                }
            }
            try await network.run(
                Self.losses(from: "lan", at: "sender_router", in: Self.newest("sent", in: folder)))
            try await expectFrames()
            let sent = Self.newest("sent", in: folder)
            #expect(sent.contains { $0.nackCount ?? 0 > 0 && $0.retransmittedPacketsSent ?? 0 > 0 })

            try await network.run(
                Self.losses(from: "wan", at: "viewer_router", in: Self.newest("far", in: folder)))
            try await expectFrames()
            let far = try #require(video("far"))
            #expect(far.nackCount ?? 0 > 0 && far.retransmittedPacketsReceived ?? 0 > 0)
            try await room.end(programs + [sending])
        }

        /// A network, and what a side has for it.
        enum Route: String, CaseIterable {
            case twoRouters, relayOfRtcshare, relayOfJanus, onlyIPv6, onlyTCP
        }

        @Test("A room gets a share, and a viewer gets it from there", arguments: Route.allCases)
        func published(over route: Route) async throws {
            let folder = try TemporaryFolder()
            let isDirect = [.relayOfRtcshare, .onlyIPv6].contains(route)
            let attachment: Attachment = isDirect ? .direct : .portRestricted
            let network = try await TestNetwork(
                sender: attachment, viewer: attachment, versions: route == .onlyIPv6 ? .v6 : .v4, in: folder)
            var (media, nat, options) = ([String](), [String](), [String]())
            switch route {
            case .twoRouters:
                for host in [TestNetwork.Host.sender, .viewer] { try await network.addOuterRouter(of: host) }
            case .relayOfRtcshare:
                try await network.startServer()
                options = RelayedPathTests.turn + ["--ice-transport-policy", "relay"]
            case .relayOfJanus:
                // The relay lets only announced addresses in.
                options = Interop.NetworkTests.stun
                try await network.startServer()
                media = ["rtp_port_range = \"20000-21000\""]
                nat = [
                    "turn_server = \"\(TestNetwork.serverV4)\"", "turn_port = 3478", "turn_type = \"udp\"",
                    "turn_user = \"\(TestNetwork.username)\"", "turn_pwd = \"\(TestNetwork.password)\"",
                ]
                // Janus' own ports can't be reached.
                try await network.run(Self.drop("udp dport 20000-21000"))
            case .onlyIPv6: media = ["ipv6 = true"]
            case .onlyTCP:
                // With libnice, Janus offers TCP only as ICE-lite.
                nat = ["ice_tcp = true", "ice_lite = true"]
                try await network.run(Self.drop("meta l4proto udp"))
            }
            let room = try await NetworkRoom(
                over: network, at: route == .onlyIPv6 ? TestNetwork.serverV6 : TestNetwork.serverV4, media: media,
                nat: nat, in: folder)
            let source = ["--source", "test:160x120@30"]
            let sending = try await room.publish(source + options)
            let viewing = try room.view("seen", on: .viewer, options)
            try await viewing.wait(for: "the frames", timeout: .seconds(30)) {
                Self.newest("seen", in: folder).video?.framesDecoded ?? 0 > 10
            }
            for name in ["sent", "seen"] {
                let (local, remote) = try #require(Self.newest(name, in: folder).route, "no route")
                switch route {
                case .twoRouters: #expect(remote.address == TestNetwork.serverV4)
                case .relayOfRtcshare: #expect(local.candidateType == "relay")
                case .relayOfJanus: #expect(remote.candidateType == "relay")
                case .onlyIPv6: #expect(remote.address == TestNetwork.serverV6)
                case .onlyTCP: #expect(remote.protocol == "tcp")
                }
            }
            try await room.end([viewing, sending])
        }

        @Test("A publisher and a viewer that lose their route restart ICE in the sessions that they have")
        func iceRestarts() async throws {
            let folder = try TemporaryFolder()
            let network = try await TestNetwork(sender: .portRestricted, viewer: .portRestricted, in: folder)
            let room = try await NetworkRoom(over: network, in: folder)
            let sending = try await room.publish()
            let viewing = try room.view("seen", on: .viewer)
            func frames() -> Int { Self.newest("seen", in: folder).video?.framesDecoded ?? 0 }
            try await viewing.wait(for: "the first frames", timeout: .seconds(30)) { frames() > 10 }
            let names = ["sent", "seen"]
            func fragments() -> [String?] {
                names.map { Self.newest($0, in: folder).transport?.iceLocalUsernameFragment }
            }
            let old = fragments()
            try await network.run(Self.drop("meta l4proto udp"))
            try await viewing.wait(for: "other credentials", timeout: .seconds(30)) {
                zip(old, fragments()).allSatisfy { $0 != nil && $1 != nil && $0 != $1 }
            }
            for router in Self.routers { try await network.run("on $\(router) nft delete table ip filtered") }
            let before = frames()
            try await viewing.wait(for: "frames after that", timeout: .seconds(30)) { frames() > before + 30 }
            #expect(sending.standardError.components(separatedBy: "is published to").count == 2)
            #expect(viewing.standardError.components(separatedBy: "Video 1 is added").count == 2)
            try await room.end([viewing, sending])
        }

        @Test(
            "A publisher and a viewer that get another address keep their sessions",
            arguments: [false, true])
        func otherAddress(isWebSocket: Bool) async throws {
            let folder = try TemporaryFolder()
            let network = try await TestNetwork(in: folder)
            let room = try await NetworkRoom(over: network, isWebSocket: isWebSocket, in: folder)
            let sending = try await room.publish()
            let viewing = try room.view("seen", on: .viewer)
            func frames() -> Int { Self.newest("seen", in: folder).video?.framesDecoded ?? 0 }
            try await viewing.wait(for: "the first frames", timeout: .seconds(30)) { frames() > 10 }
            for (host, name, address) in [("sender", "sent", "203.0.113.71"), ("viewer", "seen", "203.0.113.72")] {
                try await network.run(
                    """
                    ip -n $\(host) address flush dev wan
                    ip -n $\(host) address add \(address)/24 dev wan
                    """)
                // By an ICE restart, or without one if the server's answer to it is late.
                try await viewing.wait(for: "the other address of the \(host)", timeout: .seconds(30)) {
                    Self.newest(name, in: folder).route?.local.address == address
                }
                let before = frames()
                try await viewing.wait(for: "frames after that", timeout: .seconds(30)) { frames() > before + 30 }
            }
            #expect(sending.standardError.components(separatedBy: "is published to").count == 2)
            #expect(viewing.standardError.components(separatedBy: "Video 1 is added").count == 2)
            try await room.end([viewing, sending])
        }
    }
}
