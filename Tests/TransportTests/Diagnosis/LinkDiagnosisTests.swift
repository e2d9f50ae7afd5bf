import RTCSharePeerConnection
import RTCShareSDP
import RTCShareWireFormat
import Testing

@testable import RTCShareTransport

/// The diagnosis of a link: its measure of bitrates, its choice of candidates, and its advice.
@Suite struct LinkDiagnosisTests {
    // MARK: Bitrate

    /// Returns the rate if `bytes(ms)` have arrived after each 20 ms.
    private static func rate(of milliseconds: Int, bytes: (Int) -> Int) -> DataRate? {
        var rate = ArrivalRate()
        for time in stride(from: 0, through: milliseconds, by: 20) {
            rate.add(bytes: UInt64(bytes(time)), at: Instant(nanoseconds: Int64(time) * 1_000_000))
        }
        return rate.highest
    }

    @Test("The arrival rate of a constant stream is its bitrate")
    func constantStream() {
        #expect(Self.rate(of: 3000) { $0 * 125 } == .kilobitsPerSecond(1000))
    }

    @Test("The arrival rate is that of the busiest half second")
    func busiestPart() {
        #expect(Self.rate(of: 3000) { min(max(0, $0 - 1000), 500) * 250 } == .kilobitsPerSecond(2000))
    }

    @Test("An arrival rate needs half a second")
    func tooShort() {
        #expect(Self.rate(of: 480) { $0 * 125 } == nil)
    }

    @Test("A burst that a router passes at once exceeds the route's bitrate by its own size only")
    func burst() throws {
        let rate = try #require(Self.rate(of: 3000) { ($0 > 1000 ? 16_000 : 0) + $0 * 125 })
        #expect(rate == .kilobitsPerSecond(1256))
    }

    @Test("A pause of the program lengthens the window instead of raising the rate")
    func pause() {
        var rate = ArrivalRate()
        for time in [0, 500, 2500] {
            rate.add(bytes: UInt64(time * 125), at: Instant(nanoseconds: Int64(time) * 1_000_000))
        }
        #expect(rate.highest == .kilobitsPerSecond(1000))
    }

    // MARK: Candidates

    private static let answer = """
        v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r
        c=IN IP4 0.0.0.0\r
        a=candidate:1 1 udp 2130706431 10.0.1.2 5000 typ host\r
        a=candidate:2 1 udp 1694498815 203.0.113.1 5001 typ srflx raddr 10.0.1.2 rport 5000\r
        a=candidate:3 1 tcp 1518149375 10.0.1.2 8080 typ host tcptype passive\r
        a=candidate:4 1 udp 16777215 203.0.113.10 5002 typ relay raddr 203.0.113.1 rport 5001\r
        a=mid:0\r\n
        """

    private static func ports(_ kind: RouteKind, hasOwnRelay: Bool = false) throws -> [UInt16] {
        try SessionDescription.parse(answer)
            .keepingCandidates(where: RouteFilter(kind, hasOwnRelay: hasOwnRelay).includes)
            .media.flatMap { try $0.candidates().map(\.port) }
    }

    @Test("Each kind of route keeps only its own candidates of an answer")
    func candidates() throws {
        #expect(try Self.ports(.direct) == [5000])
        #expect(try Self.ports(.reflexive) == [5001])
        #expect(try Self.ports(.tcp) == [8080])
        #expect(try Self.ports(.relay) == [5002])
        #expect(try Self.ports(.relay, hasOwnRelay: true) == [5000, 5001, 5002])
    }

    @Test("The share learns no candidate to which it would make another route")
    func revealed() throws {
        let candidates = try SessionDescription.parse(Self.answer).media[0].candidates()
        let ports = RouteKind.allCases.map { kind in
            candidates.filter(RouteFilter(kind, hasOwnRelay: true).reveals).map(\.port)
        }
        #expect(ports == [[5000], [5000, 5001], [], [5002]])
    }

    // MARK: Advice

    private static func diagnosis(works: RouteKind?, without: [RouteKind] = []) throws -> LinkDiagnosis {
        var diagnosis = LinkDiagnosis(
            link: "http://203.0.113.1:8080/", page: LinkDiagnosis.Page(host: "203.0.113.1", port: 8080))
        for kind in RouteKind.allCases {
            let address = try #require(TransportAddress("203.0.113.1", port: kind == .tcp ? 8080 : 5000))
            var route =
                kind == .relay
                ? LinkDiagnosis.Route(relays: without.contains(kind) ? [] : ["turn:203.0.113.10:3478"])
                : LinkDiagnosis.Route(kind, addresses: without.contains(kind) ? [] : [address])
            route.works = kind == works
            diagnosis.routes.append(route)
        }
        return diagnosis
    }

    @Test("A network that lets UDP through needs no change", arguments: [RouteKind.direct, .reflexive])
    func udp(kind: RouteKind) throws {
        let diagnosis = try Self.diagnosis(works: kind)
        #expect(diagnosis.works)
        #expect(diagnosis.advice == ["UDP gets through to the share. This network needs no change."])
    }

    @Test("A share that works over TCP needs UDP for a shorter delay")
    func tcp() throws {
        let advice = try Self.diagnosis(works: .tcp, without: [.reflexive, .relay]).advice.map(\.description)
        #expect(advice.count == 2 && advice[0].hasPrefix("The share works over TCP"), "\(advice)")
        #expect(advice[1].contains("allow outgoing UDP to 203.0.113.1:5000,"), "\(advice)")
    }

    @Test("Where nothing works, the administrator is asked first for UDP, then for TCP, then for the TURN server")
    func nothing() throws {
        let diagnosis = try Self.diagnosis(works: nil)
        #expect(!diagnosis.works)
        let advice = diagnosis.advice.map(\.description)
        let words = [
            "Nothing gets through", "outgoing UDP to", "outgoing TCP to 203.0.113.1:8080", "turn:203.0.113.10",
        ]
        try #require(advice.count == words.count, "\(advice)")
        for (line, word) in zip(advice, words) { #expect(line.contains(word)) }
    }

    @Test("Where the share offers neither TCP nor a TURN server, the person who shares is asked for them")
    func missingOffers() throws {
        let diagnosis = try Self.diagnosis(works: nil, without: [.tcp, .relay])
        #expect(diagnosis.advice.flatMap(\.settings) == [.acceptsTCP, .relayOverTLS])
    }

    @Test("Private addresses are no request to an administrator")
    func privateAddresses() throws {
        var diagnosis = try Self.diagnosis(works: nil, without: [.reflexive])
        let address = try #require(TransportAddress("10.0.1.2", port: 5000))
        diagnosis.routes[0] = LinkDiagnosis.Route(.direct, addresses: [address])
        #expect(diagnosis.advice[1].settings == [.reflexive], "\(diagnosis.advice)")
    }

    @Test(
        "Each obstacle before the page has its own advice",
        arguments: [
            (LinkDiagnosis.Page.Obstacle.nameUnknown, "DNS"), (.refused, "still runs"), (.silent, "outgoing TCP"),
            (.noRoute, "VPN"),
        ])
    func obstacles(obstacle: LinkDiagnosis.Page.Obstacle, words: String) throws {
        var diagnosis = LinkDiagnosis(link: "http://a/", page: LinkDiagnosis.Page(host: "a", port: 80))
        diagnosis.page.obstacle = obstacle
        #expect(diagnosis.advice.first?.description.contains(words) == true, "\(diagnosis.advice)")
    }
}
