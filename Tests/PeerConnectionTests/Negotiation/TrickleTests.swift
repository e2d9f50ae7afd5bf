import RTCShareICE
import RTCShareSDP
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCSharePeerConnection

/// Candidates that are told one by one, in virtual time.
@Suite struct TrickleTests {
    private static let now = Instant(nanoseconds: 1_000_000_000)
    private static let second = TransportAddress(ip: .v4(0xC000_0203), port: 5003)
    private static let line = "candidate:7 1 udp 2130706431 192.0.2.9 4009 typ host"

    private static func open(
        as part: PeerConnection.Part, seed: UInt64, trickles: Bool = true,
        change: (inout PeerConnection.Configuration) -> Void = { _ in }
    ) throws -> PeerConnection {
        var random = SeededGenerator(seed: seed)
        let media: [LocalIdentity.MediaKind] =
            part == .offerer ? [.video(streamID: "alice#content", isContent: true)] : []
        var configuration = PeerConnection.Configuration()
        configuration.trickles = trickles
        change(&configuration)
        var peer = try PeerConnection(
            as: part, identity: LocalIdentity(media: media, unixTime: 1_700_000_000, random: &random),
            configuration: configuration, random: SeededGenerator(seed: seed + 1))
        peer.addLocalAddress(
            part == .offerer ? SimulatedCall.senderAddress : SimulatedCall.viewerAddress, now: now)
        return peer
    }

    private static func bare(_ description: String) -> String {
        description.split(separator: "\r\n")
            .filter { !$0.hasPrefix("a=candidate") && !$0.hasPrefix("a=end-of-candidates") }
            .map { $0 + "\r\n" }.joined()
    }

    private static func candidates(_ description: SessionDescription) throws -> [CandidateAttribute] {
        try description.media.flatMap { try $0.candidates() }
    }

    /// The `a=mid` of the first section, and the user name fragment.
    private static func section(_ description: SessionDescription) throws -> (mid: String, ufrag: String) {
        let section = try #require(description.media.first)
        return (
            try #require(try section.mid()), try #require(try description.iceAttributes(of: section)).usernameFragment
        )
    }

    private static func told(_ peer: inout PeerConnection) -> [PeerConnection.Event] {
        var events: [PeerConnection.Event] = []
        while let event = peer.pollEvent() {
            switch event {
            case .localCandidate, .localCandidatesEnded: events.append(event)
            default: continue
            }
        }
        return events
    }

    @Test("Candidates found after the description are reported once, followed by their end")
    func foundLater() throws {
        var peer = try Self.open(as: .offerer, seed: 901)
        let offer = try peer.makeOffer()
        #expect(offer.description.contains("a=ice-options:ice2 trickle"))
        #expect(!offer.description.contains("a=end-of-candidates"))
        #expect(Self.told(&peer).isEmpty, "it is in the description")
        peer.addLocalAddress(Self.second, now: Self.now)
        let events = Self.told(&peer)
        guard case .localCandidate(let candidate, let mid, let ufrag) = events.first, events.count == 1 else {
            Issue.record("\(events)")
            return
        }
        let (section, fragment) = try Self.section(offer)
        #expect(mid == section && ufrag == fragment)
        #expect(candidate.host == .address(Self.second.ip) && candidate.port == Self.second.port)
        peer.gather(servers: [], now: Self.now)
        guard case .localCandidatesEnded = Self.told(&peer).first else {
            Issue.record("the end is not told")
            return
        }
        let next = try peer.makeOffer()
        #expect(try Self.candidates(next).count == 2 && next.description.contains("a=end-of-candidates"))
    }

    @Test("The end of candidates is reported once the last servers are known")
    func laterServers() throws {
        var peer = try Self.open(as: .offerer, seed: 903)
        _ = try peer.makeOffer()
        peer.gather(servers: [], moreFollow: true, now: Self.now)
        #expect(Self.told(&peer).isEmpty)
        peer.gather(servers: [], now: Self.now)
        #expect(Self.told(&peer).count == 1)
    }

    @Test("Candidates are complete in descriptions when one end does not support trickling")
    func withoutTrickle() throws {
        for (ours, theirs) in [(false, true), (true, false)] {
            var peer = try Self.open(as: .offerer, seed: 902, trickles: ours)
            var viewer = try Self.open(as: .answerer, seed: 904, trickles: theirs)
            let offer = try peer.makeOffer()
            let answer = try viewer.answer(offer: offer, now: Self.now)
            #expect(answer.description.contains("a=end-of-candidates"))
            try peer.accept(answer: answer, to: offer, now: Self.now)
            _ = Self.told(&peer)
            peer.addLocalAddress(Self.second, now: Self.now)
            peer.gather(servers: [], now: Self.now)
            #expect(Self.told(&peer).isEmpty)
        }
    }

    @Test("A remote candidate is accepted, or rejected with a reason")
    func remoteCandidates() throws {
        var peer = try Self.open(as: .offerer, seed: 905)
        var viewer = try Self.open(as: .answerer, seed: 907)
        #expect(throws: RemoteCandidateError.noDescription) {
            try viewer.addRemoteCandidate(Self.line, now: Self.now)
        }
        let offer = try peer.makeOffer()
        let (mid, ufrag) = try Self.section(offer)
        // Early: it waits for its description.
        let early = try viewer.addRemoteCandidate(Self.line, mid: mid, ufrag: ufrag, now: Self.now)
        #expect(early == .kept)
        _ = try viewer.answer(offer: offer, now: Self.now)
        #expect(viewer.ice.agent.remoteCandidates.map(\.address.port) == [SimulatedCall.senderAddress.port, 4009])
        for text in ["a=\(Self.line)\r\n", Self.line, String(Self.line.dropFirst("candidate:".count))] {
            let again = try viewer.addRemoteCandidate(text, mid: mid, ufrag: ufrag, now: Self.now)
            #expect(again == .taken)
        }
        #expect(viewer.ice.agent.remoteCandidates.count == 2, "known")
        let other = try viewer.addRemoteCandidate(
            Self.line.replacing("4009", with: "4010"), mid: mid, now: Self.now)
        #expect(other == .taken && viewer.ice.agent.remoteCandidates.count == 3)
        #expect(throws: RemoteCandidateError.unknownSection("nine")) {
            try viewer.addRemoteCandidate(Self.line, mid: "nine", now: Self.now)
        }
        for text in ["candidate:", "candidate:7 1 udp", "candidate:7 1 udp 1 192.0.2.9 99999 typ host", "hello"]
        where text != "candidate:" {
            #expect(throws: RemoteCandidateError.malformed(text)) {
                try viewer.addRemoteCandidate(text, mid: mid, now: Self.now)
            }
        }
        for number in 0..<97 {
            _ = try viewer.addRemoteCandidate(
                Self.line.replacing("4009", with: "\(5100 + number)"), mid: mid, now: Self.now)
        }
        #expect(throws: RemoteCandidateError.tooMany(limit: viewer.ice.agent.maximumRemoteCandidates)) {
            try viewer.addRemoteCandidate(Self.line.replacing("4009", with: "6000"), mid: mid, now: Self.now)
        }
        for number in 0..<PendingCandidates.maximumEarly {
            _ = try viewer.addRemoteCandidate(Self.line, ufrag: "next\(number)", now: Self.now)
        }
        #expect(throws: RemoteCandidateError.tooMany(limit: PendingCandidates.maximumEarly)) {
            try viewer.addRemoteCandidate(Self.line, ufrag: "more", now: Self.now)
        }
        viewer.close(now: Self.now)
        #expect(throws: RemoteCandidateError.ended) {
            try viewer.addRemoteCandidate(Self.line, mid: mid, now: Self.now)
        }
    }

    @Test(
        "Host names are resolved only for mDNS, or when configured",
        arguments: [
            (ICETransportPolicy.all, false, ["0f2e-4f.local", "HIDDEN.local."]),
            (.all, true, ["0f2e-4f.local", "HIDDEN.local.", "a.hidden.local", "viewer.example", "local"]),
            (.relay, false, []), (.relay, true, []),
        ])
    func nameLookups(
        policy: ICETransportPolicy, resolves: Bool, asked: [String]
    ) throws {
        let names = ["0f2e-4f.local", "HIDDEN.local.", "a.hidden.local", "viewer.example", "local"]
        var peer = try Self.open(as: .offerer, seed: 911)
        var viewer = try Self.open(as: .answerer, seed: 913) {
            $0.iceTransportPolicy = policy
            $0.resolvesHostNames = resolves
        }
        var offer = try peer.makeOffer().description
        let line = try #require(offer.split(separator: "\r\n").first { $0.hasPrefix("a=candidate") })
        let described = names.dropLast().map { line.replacing("192.0.2.1", with: $0) }.joined(separator: "\r\n")
        offer = offer.replacing(line, with: described)
        _ = try viewer.answer(offer: SessionDescription.parse(offer), now: Self.now)
        #expect(viewer.namedCandidates.map(\.host.description) == asked.filter { $0 != "local" })
        // The last comes by itself.
        let fate = try viewer.addRemoteCandidate(Self.line.replacing("192.0.2.9", with: "local"), now: Self.now)
        let isNamed = if case .named = fate { true } else { false }
        #expect(isNamed == asked.contains("local"))
        #expect(viewer.connectivityFacts.unresolvedNames == asked.count)
        #expect(viewer.connectivityFacts.namesLeftOut == names.count - asked.count)
        #expect(viewer.connectivityFacts.isRelayOnly == (policy == .relay))
        viewer.endRemoteCandidates(now: Self.now)
        #expect(viewer.connectivityFacts.unresolvedNames == asked.count)
        #expect(viewer.connectivityFacts.namesLeftOut == names.count - asked.count)
    }

    @Test("A description keeps only as many candidates as are checked, over any number of descriptions")
    func boundedCandidates() throws {
        var peer = try Self.open(as: .offerer, seed: 915)
        var viewer = try Self.open(as: .answerer, seed: 917)
        let limit = viewer.ice.agent.maximumRemoteCandidates
        for round in 0..<3 {
            let offer = try peer.makeOffer()
            let text = offer.description
            let line = try #require(text.split(separator: "\r\n").first { $0.hasPrefix("a=candidate") })
            let lines = (0..<3000).map { number in
                line.replacing("192.0.2.1", with: number % 2 == 0 ? "h\(round)-\(number).local" : "192.0.2.1")
                    .replacing(" \(SimulatedCall.senderAddress.port) ", with: " \(10_000 * (round + 1) + number) ")
            }
            let many = text.replacing(line, with: lines.joined(separator: "\r\n"))
            let answer = try viewer.answer(offer: SessionDescription.parse(many), now: Self.now)
            try peer.accept(answer: answer, to: offer, now: Self.now)
            #expect(viewer.negotiated?.remoteCandidates.count == limit)
            #expect(viewer.ice.agent.remoteCandidates.count <= limit)
            #expect(viewer.ice.pending.unresolvedNames.count <= limit)
            #expect(viewer.namedCandidates.count <= limit)
        }
    }

    @Test("A candidate of the previous description is stale, and one of the next waits for it")
    func staleAndEarlyCandidates() throws {
        let call = try SimulatedCall(conditions: PathTests.clean, seed: 908)
        call.run(for: .seconds(2))
        let fragment = call.viewer.remoteUsernameFragment
        let former = try #require(fragment)
        call.sender.restartICE()
        let offer = try call.makeOffer()
        let next = try Self.section(offer).ufrag
        let early = try call.viewer.addRemoteCandidate(Self.line, ufrag: next, now: call.now)
        #expect(early == .kept)
        let answer = try call.viewer.answer(offer: offer, now: call.now)
        try call.sender.accept(answer: answer, to: offer, now: call.now)
        #expect(call.viewer.ice.agent.remoteCandidates.contains { $0.address.port == 4009 })
        let late = try call.viewer.addRemoteCandidate(
            Self.line.replacing("4009", with: "4010"), ufrag: former, now: call.now)
        #expect(late == .stale)
        let marked = try call.viewer.addRemoteCandidate(
            Self.line.replacing("4009", with: "4011") + " ufrag \(former)", now: call.now)
        #expect(marked == .stale)
        #expect(!call.viewer.ice.agent.remoteCandidates.contains { $0.address.port == 4010 || $0.address.port == 4011 })
    }

    @Test("Only a peer's newest username fragments are remembered, however often it restarts")
    func formerFragments() throws {
        let call = try SimulatedCall(conditions: PathTests.clean, seed: 918)
        call.run(for: .seconds(1))
        var fragments: [String] = []
        for _ in 0..<12 {
            let fragment = call.viewer.remoteUsernameFragment
            fragments.append(try #require(fragment))
            call.sender.restartICE()
            try call.renegotiate()
            call.run(for: .seconds(1))
        }
        #expect(call.record.failures.isEmpty && Set(fragments).count == 12)
        #expect(call.viewer.ice.pending.formerFragments == fragments.suffix(PendingCandidates.maximumFormer))
        #expect(PendingCandidates.maximumFormer == 8)
        let late = try call.viewer.addRemoteCandidate(Self.line, ufrag: fragments[11], now: call.now)
        #expect(late == .stale)
    }

    @Test("Peers without candidates in their descriptions connect by trickled ones", arguments: [false, true])
    func connectsByTrickle(isNamed: Bool) throws {
        var options = SimulatedCall.Options()
        options.sender.trickles = true
        options.viewer.trickles = true
        options.editOffer = Self.bare
        options.editAnswer = Self.bare
        let call = try SimulatedCall(conditions: PathTests.clean, seed: 909, options: options)
        call.run(for: .seconds(2))
        #expect(call.record.connected == nil && call.record.failures.isEmpty)
        let own = try #require(try Self.candidates(call.makeOffer()).first)
        if isNamed {
            let text = own.description.replacing("192.0.2.1", with: "0f2e-4f.local")
            let fate = try call.viewer.addRemoteCandidate(text, now: call.now)
            guard case .named(let named) = fate else {
                Issue.record("\(fate)")
                return
            }
            #expect(named.host == .name("0f2e-4f.local"))
            call.run(for: .seconds(2))
            #expect(call.record.connected == nil)
            call.viewer.addRemoteCandidate(named, at: SimulatedCall.senderAddress.ip, now: call.now)
        } else {
            let fate = try call.viewer.addRemoteCandidate(own, now: call.now)
            #expect(fate == .taken)
        }
        let end = try call.viewer.addRemoteCandidate("", now: call.now)
        #expect(end == .end)
        let told = call.now
        call.run(for: .seconds(3))
        let connected = try #require(call.record.connected)
        #expect(connected - told < .seconds(1))
        #expect(call.record.frames.count > 50)
    }

    @Test("The connection fails early when the peer has no more candidates and no pair works")
    func earlyFailure() throws {
        var options = SimulatedCall.Options()
        options.sender.trickles = true
        options.viewer.trickles = true
        options.editAnswer = Self.bare
        let call = try SimulatedCall(conditions: PathTests.clean, seed: 910, options: options)
        call.isCut = true
        _ = try call.sender.addRemoteCandidate(Self.line, now: call.now)
        call.sender.endRemoteCandidates(ufrag: "other", now: call.now)
        call.sender.endRemoteCandidates(ufrag: call.sender.remoteUsernameFragment, now: call.now)
        call.run(for: .seconds(25))
        #expect(call.record.failures.contains(.unreachable))
    }
}
