import Foundation
import RTCSharePeerConnection
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCShareStreams
@testable import RTCShareTransport
@testable import rtcshare

/// The advice about a network at a terminal, which names options and commands.
@Suite struct NetworkAdviceTests {
    private typealias Candidate = ConnectivityFacts.Candidate

    private static func candidate(_ type: ConnectivityFacts.CandidateType, _ ip: String) throws -> Candidate {
        Candidate(type, try #require(TransportAddress(ip, port: 5000)))
    }

    /// Returns the error of a command if no remote candidate answers a local one.
    private static func report(_ local: [Candidate], _ remote: [Candidate]) -> String {
        var facts = ConnectivityFacts()
        facts.localCandidates = local
        facts.remoteCandidates = remote
        facts.pairs = local.filter { $0.type == .host || $0.type == .relayed }.flatMap { ours in
            remote.map { ConnectivityFacts.Pair(local: ours, remote: $0, fate: .unanswered, checksSent: 7) }
        }
        return CommandFailure(explaining: ConnectionError.unreachable(facts)).message
    }

    @Test("A failed connection names the options that can help")
    func unreachable() throws {
        let home = try Self.candidate(.host, "10.0.1.2")
        let (near, far) = (try Self.candidate(.host, "10.0.2.2"), try Self.candidate(.host, "198.51.100.7"))
        let (seen, theirs) = (
            try Self.candidate(.serverReflexive, "203.0.113.1"), try Self.candidate(.serverReflexive, "203.0.113.2")
        )
        let relayed = try Self.candidate(.relayed, "203.0.113.10")
        #expect(
            Self.report([home, seen], [near, theirs])
                .contains("use a TURN server, --ice-server turn:USER:PASSWORD@HOST.\n"))
        #expect(
            Self.report([home], [far]).contains("make the offer with --ice-server stun:HOST. If that is not enough"))
        #expect(
            Self.report([home, relayed], [near])
                .contains("over TCP: --ice-server 'turn:USER:PASSWORD@HOST?transport=tcp'.\n"))
        var hidden = ConnectivityFacts()
        hidden.localCandidates = [home]
        hidden.namesLeftOut = 3
        let message = CommandFailure(explaining: ConnectionError.unreachable(hidden)).message
        #expect(message.hasSuffix("or allow it with --resolve-host-names."))
        var elsewhere = ConnectivityFacts()
        (elsewhere.localCandidates, elsewhere.remoteCandidates) = ([home], [near])
        #expect(
            CommandFailure(explaining: ConnectionError.unreachable(elsewhere)).message
                .contains("share with --bind ADDRESS of a network that both are in, or with --ice-server."))
    }

    @Test("A failed start names the options that can help")
    func errors() throws {
        let address = try #require(TransportAddress("10.0.1.2", port: 5000))
        for (error, words) in [
            (ConnectionError.portTaken(address), "or choose another --port"),
            (ConnectionError.noAddress, "or use --bind ADDRESS"),
            (ICEServerError.missingCredentials(url: "turn:relay:3478"), "a file of mode 0600 for --ice-credentials"),
        ] as [(any Error, String)] {
            #expect(CommandFailure(explaining: error).remedy?.contains(words) == true)
        }
    }

    @Test("A port that another program listens on is reported as in use")
    func portInUse() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        // The system chooses the port.
        try #require(listen(descriptor, 1) == 0)
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isNamed = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) == 0 }
        }
        try #require(isNamed)
        let port = UInt16(bigEndian: address.sin_port)
        #expect(!MachineDiagnosis.isFree(port) && MachineDiagnosis.isFree(0))
        let machine = MachineDiagnosis(environment: [:], port: port)
        #expect(machine.page == ["port \(port): in use"])
        #expect(machine.advice.contains { $0.contains("Port \(port) is in use") })
    }

    @Test("The doctor shows the sources of options and the errors of the configuration file")
    func configuration() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("max-bitrate = 900\n[send]\nhint = \"text\"\n", to: "config.toml")
        let environment = ["RTCSHARE_CONFIG": file.path, "RTCSHARE_ASK": "true"]
        #expect(
            MachineDiagnosis(environment: environment).configuration == [
                "file: \(file.path)", "send --hint: \(file.path), line 3", "send --max-bitrate: \(file.path), line 1",
                "serve --ask: RTCSHARE_ASK", "serve --max-bitrate: \(file.path), line 1",
            ])
        let none = MachineDiagnosis(environment: ["HOME": folder.url.path])
        #expect(none.configuration == ["no file: \(folder.url.path)/.config/rtcshare/config.toml does not exist"])
        _ = try folder.write("nonsense = 1", to: "config.toml")
        let wrong = MachineDiagnosis(environment: environment)
        #expect(wrong.configuration == ["\(file.path), line 1: unknown option 'nonsense'"])
        #expect(wrong.advice.contains { $0.contains("until the configuration is corrected") })
    }

    @Test("The doctor's advice names commands and options, in JSON too")
    func doctor() throws {
        var diagnosis = NetworkDiagnosis()
        diagnosis.interfaces = [NetworkDiagnosis.Interface(name: "eth0", address: "10.0.1.2")]
        diagnosis.multicastWorks = true
        let machine = MachineDiagnosis(environment: [:])
        let encoded = try JSONText.encode(DiagnosisReport(diagnosis: diagnosis, machine: machine), isPretty: false)
        let report = try #require(try JSONSerialization.jsonObject(with: encoded) as? [String: Any])
        #expect(report["multicastWorks"] as? Bool == true && report["hasWayOut"] as? Bool == true)
        let advice = try #require(report["advice"] as? [String])
        #expect(advice.first?.hasSuffix("outside: rtcshare doctor --ice-server stun:HOST") == true)
        #expect(advice.dropFirst().first?.hasPrefix("No display was found") == true)
        let problems = try #require(report["problems"] as? [String: String])
        for part in ["screens", "sound", "cameras", "window", "page", "configuration"] {
            let found = try #require(report[part] as? [String])
            #expect(found.isEmpty == (problems[part] != nil), "\(part): a list has no reason in it")
        }
        // A machine that lacks one of the codecs has the others.
        #expect((report["codecs"] as? [String])?.contains { $0.hasPrefix("VP8: libvpx v") } == true)
        #expect(
            NetworkAdvice.Setting.examination(["stun:HOST", "turn:HOST?transport=tcp"]).words
                == "rtcshare doctor --ice-server stun:HOST --ice-server 'turn:HOST?transport=tcp'")
    }

    @Test("Servers that can't be used are not reported as a missing network connection")
    func wayOut() throws {
        func problem(_ diagnosis: NetworkDiagnosis) throws -> String {
            try #require(throws: CommandFailure.self) { try DoctorCommand.checkWayOut(diagnosis) }.message
        }
        var diagnosis = NetworkDiagnosis()
        #expect(try problem(diagnosis) == "this machine has no network connection to others")
        diagnosis.interfaces = [.init(name: "eth0", address: "192.0.2.7")]
        #expect(throws: Never.self) { try DoctorCommand.checkWayOut(diagnosis) }
        let server = NetworkDiagnosis.Server(url: "stun:a:3478", isRelay: false, transport: "udp", error: "no answer")
        diagnosis.servers = [server]
        #expect(try problem(diagnosis) == "can't use the server stun:a:3478: no answer")
        diagnosis.servers.append(.init(url: "stun:b:3478", isRelay: false, transport: "udp", error: "no answer"))
        #expect(try problem(diagnosis) == "can't use any of the servers")
    }
}
