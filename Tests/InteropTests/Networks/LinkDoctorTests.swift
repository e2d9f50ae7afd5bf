import Foundation
import Testing
import TestSupport

extension Interop.NetworkTests {
    /// `rtcshare doctor LINK` on the viewer's host.
    @Suite(.serialized)
    struct LinkDoctorTests {
        /// The part of `--json` that is checked.
        private struct Diagnosis: Decodable {
            struct Page: Decodable {
                let obstacle: String?
                let error: String?
            }
            struct Route: Decodable {
                let kind: String
                let works: Bool
                let targets: [String]
                let remote: String?
                let bitsPerSecond: Int?
            }
            let page: Page
            let needsAdmission: Bool
            let routes: [Route]
            let advice: [String]

            /// The kinds of routes that work.
            var working: [String] { routes.filter(\.works).map(\.kind) }
        }

        private static let link = "http://\(TestNetwork.senderRouterV4):8080/"

        private func share(_ options: [String] = [], on network: TestNetwork) async throws -> RunningProgram {
            let share = try network.start(
                try #require(Peers.rtcshare),
                [
                    "serve", "--no-control", "--no-token", "--listen", "8080", "--source", "test:640x360@15", "--audio",
                    "none",
                ] + options, on: .sender, environment: ["DISPLAY": "", "WAYLAND_DISPLAY": ""])
            try await share.wait(for: "the link", timeout: .seconds(30)) { share.standardOutput.contains("http://") }
            return share
        }

        private func examine(
            _ link: String = link, on network: TestNetwork
        ) async throws -> (diagnosis: Diagnosis, status: Int32?) {
            let program = try network.start(
                try #require(Peers.rtcshare), ["doctor", "--json", link], on: .viewer)
            let outcome = try await program.outcome(timeout: .seconds(60))
            let diagnosis = try #require(
                try? JSONDecoder().decode(Diagnosis.self, from: Data(outcome.standardOutput.utf8)),
                "\(outcome.standardOutput)\(outcome.standardError)")
            return (diagnosis, outcome.status)
        }

        /// Drops the viewer's packets that match, at the share's host.
        private func drop(_ match: String, on network: TestNetwork) async throws {
            try await network.run(
                """
                on $sender nft -f - <<'RULES'
                table inet blocked {
                    chain in { type filter hook input priority 0; ip saddr \(TestNetwork.viewerRouterV4) \(match) drop; }
                }
                RULES
                """)
        }

        @Test("In an open network UDP, TCP and the TURN server work, and every viewer leaves")
        func open() async throws {
            let folder = try TemporaryFolder()
            let network = try await TestNetwork(in: folder)
            try await network.startServer()
            let share = try await share(RelayedPathTests.turn, on: network)
            let (diagnosis, status) = try await examine(on: network)
            #expect(status == 0 && diagnosis.working == ["direct", "tcp", "relay"], "\(diagnosis)")
            #expect(diagnosis.routes.filter(\.works).allSatisfy { ($0.bitsPerSecond ?? 0) > 50_000 }, "\(diagnosis)")
            try await share.wait(for: "the last viewer's end", timeout: .seconds(10)) {
                share.standardError.components(separatedBy: "(rtcshare-doctor, 203.0.113.2) left.").count == 4
            }
        }

        @Test("Where UDP is dropped, TCP works, and the advice names the address for UDP")
        func droppedUDP() async throws {
            let folder = try TemporaryFolder()
            let network = try await TestNetwork(viewer: .udpBlocked, in: folder)
            _ = try await share(on: network)
            let (diagnosis, status) = try await examine(on: network)
            #expect(status == 0 && diagnosis.working == ["tcp"], "\(diagnosis)")
            let target = "UDP to \(TestNetwork.senderRouterV4):8080"
            #expect(diagnosis.advice.last?.contains(target) == true, "\(diagnosis)")
        }

        @Test("Where only the TURN server can be reached, it is the only route")
        func relayOnly() async throws {
            let folder = try TemporaryFolder()
            let network = try await TestNetwork(viewer: .udpBlocked, in: folder)
            try await network.startServer()
            _ = try await share(RelayedPathTests.turnOverTCP + ["--no-ice-tcp"], on: network)
            let (diagnosis, status) = try await examine(on: network)
            #expect(status == 0 && diagnosis.working == ["relay"], "\(diagnosis)")
        }

        @Test("Two routers with NAT are passed with the share's STUN server")
        func reflexive() async throws {
            let folder = try TemporaryFolder()
            let network = try await TestNetwork(sender: .portRestricted, viewer: .portRestricted, in: folder)
            try await network.startServer()
            // The router forwards the page's port, and nothing else.
            try await network.run(
                """
                on $sender_router nft add rule ip translation inward iifname wan tcp dport 8080 dnat to 10.0.1.2
                """)
            _ = try await share(Interop.NetworkTests.stun + ["--no-ice-tcp"], on: network)
            let (diagnosis, status) = try await examine(on: network)
            #expect(status == 0 && diagnosis.working == ["reflexive"], "\(diagnosis)")
        }

        @Test("Where nothing but the page can be reached, the advice has each cure, and the status is 69")
        func nothing() async throws {
            let folder = try TemporaryFolder()
            let network = try await TestNetwork(viewer: .udpBlocked, in: folder)
            _ = try await share(["--no-ice-tcp"], on: network)
            let (diagnosis, status) = try await examine(on: network)
            #expect(status == 69 && diagnosis.working.isEmpty, "\(diagnosis)")
            for words in ["outgoing UDP to", "--ice-tcp", "--ice-server turns:"] {
                #expect(diagnosis.advice.contains { $0.contains(words) }, "\(words): \(diagnosis.advice)")
            }
        }

        @Test("A page that is refused is distinguished from one whose packets are dropped")
        func page() async throws {
            let folder = try TemporaryFolder()
            let network = try await TestNetwork(in: folder)
            let refused = try await examine(on: network)
            #expect(refused.status == 69 && refused.diagnosis.page.obstacle == "refused", "\(refused.diagnosis)")
            _ = try await share(on: network)
            try await drop("tcp dport 8080", on: network)
            let dropped = try await examine(on: network)
            #expect(dropped.status == 69 && dropped.diagnosis.page.obstacle == "silent", "\(dropped.diagnosis)")
            #expect(dropped.diagnosis.advice.first?.contains("outgoing TCP to") == true, "\(dropped.diagnosis)")
        }

        @Test("The routes to a share that admits viewers are examined before the admission")
        func admission() async throws {
            let folder = try TemporaryFolder()
            let network = try await TestNetwork(in: folder)
            _ = try await share(["--ask"], on: network)
            let (diagnosis, status) = try await examine(on: network)
            #expect(status == 0 && diagnosis.needsAdmission && diagnosis.working == ["direct", "tcp"], "\(diagnosis)")
            #expect(diagnosis.routes.allSatisfy { $0.bitsPerSecond == nil }, "\(diagnosis)")
        }
    }
}
