import RTCSharePeerConnection
import RTCShareSDP
import RTCShareWireFormat
import Testing

@testable import RTCShareTransport

/// The explanation of a connection that found no route: from given facts.
@Suite struct ConnectivityAdviceTests {
    private typealias Candidate = ConnectivityFacts.Candidate
    private typealias Pair = ConnectivityFacts.Pair

    private static func candidate(
        _ type: ConnectivityFacts.CandidateType, _ ip: String
    ) throws -> Candidate {
        Candidate(type, try #require(TransportAddress(ip, port: 5000)))
    }

    /// Returns the facts of these candidates if no pair is answered.
    private static func silence(_ local: [Candidate], _ remote: [Candidate]) -> ConnectivityFacts {
        var facts = ConnectivityFacts()
        facts.localCandidates = local
        facts.remoteCandidates = remote
        facts.pairs = local.filter { $0.type == .host || $0.type == .relayed }.flatMap { ours in
            remote.map { Pair(local: ours, remote: $0, fate: .unanswered, checksSent: 7) }
        }
        return facts
    }

    @Test("Two sides behind NATs without a relay are advised to use TURN")
    func twoNATs() throws {
        let facts = Self.silence(
            [try Self.candidate(.host, "10.0.1.2"), try Self.candidate(.serverReflexive, "203.0.113.1")],
            [try Self.candidate(.host, "10.0.2.2"), try Self.candidate(.serverReflexive, "203.0.113.2")])
        let advice = ConnectivityAdvice.lines(for: facts)
        #expect(advice.first?.description.contains("use a TURN server, turn:") == true, "\(advice)")
        #expect(advice.first?.settings == [.relay])
        #expect(advice.count <= 3)
    }

    @Test("A side with only private addresses is advised to use STUN if the peer is outside")
    func privateSide() throws {
        let home = try Self.candidate(.host, "192.168.1.2")
        let outside = try Self.candidate(.host, "198.51.100.7")
        let inside = ConnectivityAdvice.lines(for: Self.silence([home], [outside]))
        #expect(inside[0].settings == [.reflexive, .relayOverTCP])
        let beyond = ConnectivityAdvice.lines(for: Self.silence([outside], [home]))
        #expect(beyond[0].description.contains("use a STUN"))
    }

    @Test("An address in the offer counts as this side's, also if another process gathered it")
    func offeredAddress() throws {
        let offer = """
            v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r
            c=IN IP4 0.0.0.0\r
            a=candidate:1 1 udp 2130706431 10.0.1.2 5000 typ host\r
            a=candidate:2 1 udp 1694498815 203.0.113.1 5000 typ srflx raddr 10.0.1.2 rport 5000\r\n
            """
        let told = ConnectivityFacts.reflexiveCandidates(of: try SessionDescription.parse(offer))
        #expect(told == [try Self.candidate(.serverReflexive, "203.0.113.1")])
        var facts = Self.silence(
            [try Self.candidate(.host, "10.0.1.2")],
            [try Self.candidate(.host, "10.0.2.2"), try Self.candidate(.serverReflexive, "203.0.113.2")])
        facts.add(told)
        facts.add(told)
        #expect(facts.localCandidates.count == 2)
        #expect(ConnectivityAdvice.lines(for: facts)[0].description.contains("use a TURN server"))
    }

    @Test("An absent peer is the first explanation if nothing blocks the route")
    func absentPeer() throws {
        let facts = Self.silence([try Self.candidate(.host, "10.0.1.2")], [try Self.candidate(.host, "10.0.1.3")])
        #expect(ConnectivityAdvice.lines(for: facts)[0].description.contains("still running"))
    }

    @Test("A relay without answers leads to the advice to use TCP")
    func unansweredRelay() throws {
        let facts = Self.silence(
            [try Self.candidate(.host, "10.0.1.2"), try Self.candidate(.relayed, "203.0.113.10")],
            [try Self.candidate(.host, "10.0.2.2")])
        #expect(ConnectivityAdvice.lines(for: facts)[0].settings.first == .relayOverTCP)
    }

    @Test("TCP is advised if no server answers over UDP, and the report has their answers")
    func blockedUDP()
        throws
    {
        var facts = Self.silence(
            [try Self.candidate(.host, "10.0.1.2")], [try Self.candidate(.host, "203.0.113.2")])
        facts.servers = [
            ConnectivityFacts.Server(
                text: "stun:203.0.113.10:3478: no answer", isDatagram: true, hasAnswered: false, isSilent: true)
        ]
        #expect(ConnectivityAdvice.lines(for: facts)[0].settings.first == .relayOverTCP)
        #expect(ConnectivityReport.text(for: facts).contains("\n  stun:203.0.113.10:3478: no answer\n"))
        facts.servers[0].isSilent = false
        #expect(!ConnectivityAdvice.lines(for: facts)[0].description.contains("blocks"))
    }

    @Test("TCP is advised if no side accepts it, and reported if it was tried without success")
    func streams() throws {
        let (ours, theirs) = (try Self.candidate(.host, "10.0.1.2"), try Self.candidate(.host, "203.0.113.2"))
        var facts = Self.silence([ours], [theirs])
        #expect(ConnectivityAdvice.lines(for: facts).last?.settings == [.acceptsTCP])
        let passive = Candidate(.host, theirs.address, isTCP: true)
        facts.remoteCandidates.append(passive)
        facts.pairs.append(
            Pair(local: Candidate(.host, ours.address, isTCP: true), remote: passive, fate: .connectionLost))
        let advice = ConnectivityAdvice.lines(for: facts)
        #expect(advice.last?.description.contains("allow TCP connections to 203.0.113.2:5000") == true, "\(advice)")
        #expect(ConnectivityReport.text(for: facts).contains("→ host tcp 203.0.113.2:5000: no TCP connection"))
    }

    @Test("Unresolved names are reported as the reason")
    func unresolvedNames() throws {
        var facts = ConnectivityFacts()
        facts.localCandidates = [try Self.candidate(.host, "10.0.1.2")]
        facts.unresolvedNames = 2
        #expect(ConnectivityAdvice.lines(for: facts)[0].description.contains("multicast DNS"))
        #expect(ConnectivityReport.text(for: facts).contains("2 names that were not found"))
    }

    @Test("Names that were not resolved are reported with the option that permits it")
    func unaskedNames() throws {
        var facts = ConnectivityFacts()
        facts.localCandidates = [try Self.candidate(.host, "10.0.1.2")]
        facts.namesLeftOut = 3
        #expect(ConnectivityAdvice.lines(for: facts)[0].settings == [.resolvesHostNames])
        #expect(ConnectivityReport.text(for: facts).contains("3 names that were not looked up"))
        facts.isRelayOnly = true
        #expect(ConnectivityAdvice.lines(for: facts)[0].description.contains("use a TURN server on the peer too"))
    }

    @Test("Descriptions without a common version of IP are distinguished from those without an address")
    func noCommonVersion() throws {
        var facts = ConnectivityFacts()
        facts.localCandidates = [try Self.candidate(.host, "10.0.1.2")]
        #expect(ConnectivityAdvice.lines(for: facts)[0].description.contains("has no address"))
        facts.remoteCandidates = [try Self.candidate(.host, "2001:db8::1")]
        let advice = ConnectivityAdvice.lines(for: facts)
        #expect(advice[0].description.contains("The peer has only IPv6, and this machine only IPv4"))
    }

    @Test(
        "The advice depends on the packets that one side received",
        arguments: [
            (ConnectivityFacts.Fate.refused(code: 401, reason: "Unauthenticated"), 0, 0, "ICE password"),
            (.fellSilent, 3, 0, "answered at first"),
            (.unanswered, 0, 2, "in only one direction"),
            (.unroutable, 0, 0, "no route"),
        ])
    func heardOnOneSide(
        fate: ConnectivityFacts.Fate, answered: Int, received: Int, words: String
    ) throws {
        let ours = try Self.candidate(.host, "10.0.1.2")
        let theirs = try Self.candidate(.host, "10.0.1.3")
        var facts = Self.silence([ours], [theirs])
        facts.pairs = [
            Pair(
                local: ours, remote: theirs, fate: fate, checksSent: 7, checksAnswered: answered,
                checksReceived: received)
        ]
        let advice = ConnectivityAdvice.lines(for: facts)
        #expect(advice.count == 1 && advice[0].description.contains(words), "\(advice)")
    }

    @Test("A report has a line for each pair with its counts, up to a bound")
    func linePerPair() throws {
        let ours = try Self.candidate(.host, "10.0.1.2")
        let pair = Pair(
            local: ours, remote: try Self.candidate(.serverReflexive, "203.0.113.2"), fate: .unanswered, checksSent: 7,
            checksReceived: 1)
        #expect(
            ConnectivityReport.line(for: pair)
                == "host 10.0.1.2:5000 → srflx 203.0.113.2:5000: no answer to 7 checks, 1 check came from there")
        var facts = ConnectivityFacts()
        facts.pairs = Array(repeating: pair, count: 40)
        let text = ConnectivityReport.text(for: facts)
        #expect(text.split(separator: "\n").count < 24)
        #expect(text.contains("and 24 more"))
    }

    @Test(
        "Private addresses are those of RFC 1918, 6598 and 4193, and link-local ones",
        arguments: [
            ("10.255.0.1", true), ("11.0.0.1", false), ("172.16.0.1", true), ("172.31.255.255", true),
            ("172.32.0.1", false),
            ("192.168.0.1", true), ("192.169.0.1", false), ("100.64.0.1", true), ("100.127.255.255", true),
            ("100.128.0.1", false), ("169.254.1.1", true), ("127.0.0.1", true), ("fd00::1", true), ("fc00::1", true),
            ("fe80::1", true), ("2001:db8::1", false), ("203.0.113.1", false),
        ])
    func privateAddresses(text: String, isPrivate: Bool) throws {
        #expect(try #require(IPAddress(text)).isPrivate == isPrivate)
    }

    @Test("A handshake timeout is not reported as a wrong fingerprint")
    func handshakeTookLong() {
        let error = ConnectionError.insecure(reason: "no DTLS handshake within 30 s")
        #expect(error.description == "no secure connection to the peer: no DTLS handshake within 30 s")
    }
}
