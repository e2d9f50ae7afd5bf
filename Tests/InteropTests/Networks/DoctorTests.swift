import Foundation
import Testing
import TestSupport

extension Interop.NetworkTests {
    /// What `rtcshare doctor` makes of each network.
    @Suite(.serialized)
    struct DoctorTests {
        /// The part of `--json` that is judged.
        private struct Diagnosis: Decodable {
            struct Server: Decodable {
                let url: String
                let mappedAddress: String?
                let relayedAddress: String?
                let error: String?
            }
            struct Candidate: Decodable {
                let type: String
                let address: String
            }
            let mapping: String
            let filtering: String
            let hasWayOut: Bool
            let multicastWorks: Bool
            let advice: [String]
            let servers: [Server]
            let candidates: [Candidate]
        }

        private static let turn = "turn:\(TestNetwork.username):\(TestNetwork.password)@\(TestNetwork.serverV4)"

        private func examine(
            _ servers: [String], options: [String] = [], environment: [String: String] = [:], on network: TestNetwork,
            in folder: TemporaryFolder
        ) async throws -> (diagnosis: Diagnosis, status: Int32?) {
            let program = try network.start(
                try #require(Peers.rtcshare),
                ["doctor", "--json"] + options + servers.flatMap { ["--ice-server", $0] },
                on: .sender, environment: environment)
            let outcome = try await program.outcome(timeout: .seconds(30))
            #expect(!outcome.standardOutput.contains(TestNetwork.password), "a password is shown to nobody")
            #expect(!outcome.standardError.contains(TestNetwork.password), "a password is shown to nobody")
            let diagnosis = try #require(
                try? JSONDecoder().decode(Diagnosis.self, from: Data(outcome.standardOutput.utf8)),
                "\(outcome.standardOutput)\(outcome.standardError)")
            return (diagnosis, outcome.status)
        }

        @Test(
            "Each kind of NAT is told by a server with a second address",
            arguments: [
                (Attachment.direct, "none", "endpoint-independent"),
                (.fullCone, "endpoint-independent", "endpoint-independent"),
                (.addressRestricted, "endpoint-independent", "address-dependent"),
                (.portRestricted, "endpoint-independent", "address- and port-dependent"),
                (.symmetric, "address- and port-dependent", "address- and port-dependent"),
            ])
        func kindsOfNAT(
            nat: Attachment, mapping: String, filtering: String
        ) async throws {
            let folder = try TemporaryFolder()
            let network = try await TestNetwork(sender: nat, in: folder)
            try await network.startServer()
            let (diagnosis, status) = try await examine(["stun:\(TestNetwork.serverV4)"], on: network, in: folder)
            #expect(diagnosis.mapping == mapping && diagnosis.filtering == filtering, "\(diagnosis)")
            #expect(diagnosis.servers.first?.mappedAddress?.hasPrefix(TestNetwork.senderRouterV4 + ":") == true)
            #expect(status == 0 && diagnosis.hasWayOut)
            #expect(diagnosis.candidates.contains { $0.type == "srflx" } == nat.hasRouter)
            #expect(diagnosis.multicastWorks, "a segment of Ethernet takes multicast")
        }

        @Test("A relay is asked for an address, over UDP and over TCP", arguments: [turn, turn + "?transport=tcp"])
        func relayAddress(server: String) async throws {
            let folder = try TemporaryFolder()
            let network = try await TestNetwork(sender: .symmetric, in: folder)
            try await network.startServer()
            let (diagnosis, status) = try await examine([server], on: network, in: folder)
            #expect(
                diagnosis.servers.first?.relayedAddress?.hasPrefix(TestNetwork.serverV4 + ":") == true, "\(diagnosis)")
            #expect(diagnosis.candidates.contains { $0.type == "relay" })
            #expect(status == 0)
        }

        @Test("A relay is asked over TLS, by credentials from a file, and its certificate is looked at")
        func relayOverTLS()
            async throws
        {
            let folder = try TemporaryFolder()
            let network = try await TestNetwork(sender: .udpBlocked, in: folder)
            let certificate = try await TestCertificate(for: "IP:\(TestNetwork.serverV4)", in: folder)
            try await network.startServer(certificate: certificate)
            let file = try folder.write("\(TestNetwork.username):\(TestNetwork.password)\n", to: "credentials")
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
            let (servers, options) = (["turns:\(TestNetwork.serverV4):443"], ["--ice-credentials", file.path])
            let (diagnosis, status) = try await examine(
                servers, options: options, environment: ["SSL_CERT_FILE": certificate.certificate.path], on: network,
                in: folder)
            #expect(status == 0 && diagnosis.servers.first?.relayedAddress != nil, "\(diagnosis)")
            let strange = try await examine(
                servers, options: options, environment: ["SSL_CERT_FILE": ""], on: network, in: folder)
            #expect(strange.status == 69)
            #expect(
                strange.diagnosis.servers.first?.error?.contains("certificate is not trusted") == true,
                "\(strange.diagnosis)")
        }

        @Test("A wrong password is told as such, with what to do")
        func wrongPassword() async throws {
            let folder = try TemporaryFolder()
            let network = try await TestNetwork(in: folder)
            try await network.startServer()
            let (diagnosis, _) = try await examine(
                ["turn:\(TestNetwork.username):rabbit@\(TestNetwork.serverV4)"], on: network, in: folder)
            #expect(diagnosis.servers.first?.error?.contains("does not accept user name and password") == true)
        }

        @Test("Where UDP is blocked, a relay over TCP is the way out, and without one there is none")
        func blockedUDP() async throws {
            let folder = try TemporaryFolder()
            let network = try await TestNetwork(sender: .udpBlocked, in: folder)
            try await network.startServer()
            let stun = "stun:\(TestNetwork.serverV4)"
            let alone = try await examine([stun], on: network, in: folder)
            #expect(alone.status == 69 && alone.diagnosis.advice.first?.contains("?transport=tcp") == true)
            let both = try await examine([stun, Self.turn + "?transport=tcp"], on: network, in: folder)
            #expect(both.status == 0 && both.diagnosis.advice.first?.contains("UDP is blocked here") == true)
        }

        @Test("Without a server the local part is told, and how to learn more")
        func withoutServer() async throws {
            let folder = try TemporaryFolder()
            let network = try await TestNetwork(in: folder)
            try await network.run("ip -n $sender address add 203.0.113.77/24 dev wan")
            let (diagnosis, status) = try await examine([], on: network, in: folder)
            #expect(status == 0 && diagnosis.mapping == "unknown" && diagnosis.servers.isEmpty)
            #expect(diagnosis.multicastWorks, "also where an interface has two addresses")
            #expect(diagnosis.advice.first?.contains("--ice-server stun:") == true, "\(diagnosis.advice)")
        }
    }
}
