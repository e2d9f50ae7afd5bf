import RTCSharePeerConnection
import RTCShareSDP
import RTCShareWireFormat
import TestSupport
import Testing

@Suite("Answers to our offer")
struct AnswerTests {
    private func negotiate(_ answer: String) throws -> NegotiatedSession {
        try Negotiation.negotiate(offer: Samples.offer(), answer: SessionDescription.parse(answer))
    }

    @Test("A Chromium answer: host names, all feedback, all extensions")
    func chromium() throws {
        let session = try negotiate(PeerDescriptions.chromiumAnswer)
        let media = try #require(session.acceptedMedia.first)
        #expect(session.localSetup == .passive)
        #expect(session.remoteICE == ICEAttributes(usernameFragment: "q1Wd", password: "8mN2yqR0p7Vf3ZtL5sXcUeHj"))
        #expect(session.remoteICEOptions == ["trickle"])
        #expect(!session.remoteIsICELite && !session.remoteHasAllCandidates)
        #expect(session.remoteCandidates.count == 2)
        #expect(session.remoteCandidates[0].host == .name("6c1f0d0a-7f2e-4a8e-9d0d-0a2b4c6d8e10.local"))
        #expect(session.remoteFingerprints.map(\.hashFunction) == ["sha-256"])
        #expect(media.mid == "0" && media.direction == .sendOnly)
        #expect(media.payloadType == 96 && media.rtxPayloadType == 97 && media.hasReducedSizeRTCP)
        #expect(media.feedback.count == 5 && media.extensionIDs.count == 6)
        #expect(media.extensionIDs[.transportWideSequenceNumber] == 3)
        #expect(media.local.ssrc == 1111 && media.local.rtxSSRC == 2222 && media.local.cname == "cname1")
        #expect(media.local.isSlides && media.remote.ssrc == nil)
    }

    @Test("A Firefox answer: changed payload types, a session-level fingerprint, extensions with directions")
    func firefox() throws {
        let session = try negotiate(PeerDescriptions.firefoxAnswer)
        let media = try #require(session.acceptedMedia.first)
        #expect(media.payloadType == 120 && media.rtxPayloadType == 124)
        #expect(media.codecs[0].parameters?["max-fr"] == "60")
        #expect(media.extensionIDs.count == 4 && media.extensionIDs[.mid] == 1)
        #expect(session.remoteHasAllCandidates && session.remoteCandidates.count == 3)
    }

    @Test("An aiortc answer: an msid although it only receives")
    func aiortc() throws {
        let media = try #require(try negotiate(PeerDescriptions.aiortcAnswer).acceptedMedia.first)
        #expect(media.feedback == [.nack, .pictureLoss, .receiverEstimatedBitrate])
        #expect(media.extensionIDs == [.mid: 1, .absoluteSendTime: 2])
        #expect(!media.hasReducedSizeRTCP)
    }

    @Test("A GStreamer answer: attributes in any order, few extensions")
    func gstreamer() throws {
        let session = try negotiate(PeerDescriptions.gstreamerAnswer)
        #expect(session.remoteICE.usernameFragment == "bGzhdOaCVM9mLqO+AlOVXN7gE/t9lGxi")
        #expect(session.acceptedMedia.first?.extensionIDs == [.transportWideSequenceNumber: 3])
    }

    static let base = PeerDescriptions.chromiumAnswer

    /// Legal answers: what is replaced, and what must follow from it.
    static let legal: [(name: String, from: String, to: String, holds: @Sendable (NegotiatedSession) -> Bool)] = [
        ("passive peer", "a=setup:active", "a=setup:passive", { $0.localSetup == .active }),
        ("ICE lite", "a=msid-semantic: WMS", "a=ice-lite", { $0.remoteIsICELite }),
        ("no rtx", " 96 97\n", " 96\n", { $0.acceptedMedia[0].rtxPayloadType == nil }),
        ("rtx of another", "apt=96", "apt=98", { $0.acceptedMedia[0].rtxPayloadType == nil }),
        ("no bundle", "a=group:BUNDLE 0\n", "", { $0.acceptedMedia.count == 1 }),
        ("no mid", "a=mid:0\n", "", { $0.acceptedMedia[0].mid == "0" }),
        ("no timing", "s=-\nt=0 0\n", "", { $0.acceptedMedia.count == 1 }),
        ("no connection", "c=IN IP4 192.168.1.23\n", "", { $0.acceptedMedia.count == 1 }),
        ("no direction", "a=recvonly\n", "", { $0.acceptedMedia[0].direction == .sendOnly }),
        ("inactive", "a=recvonly\n", "a=inactive\n", { $0.acceptedMedia[0].direction == .inactive }),
        ("no mapping", "a=rtpmap:96 VP8/90000\n", "", { $0.acceptedMedia[0].payloadType == 96 }),
        ("lower case", "VP8/90000", "vp8/90000", { $0.acceptedMedia[0].payloadType == 96 }),
        ("another protocol", "UDP/TLS/RTP/SAVPF", "RTP/SAVPF", { $0.acceptedMedia.count == 1 }),
        ("a protocol without security", "UDP/TLS/RTP/SAVPF", "RTP/AVP", { $0.acceptedMedia.count == 1 }),
        ("a protocol over TCP", "UDP/TLS/RTP/SAVPF", "TCP/DTLS/RTP/SAVP", { $0.acceptedMedia.count == 1 }),
        ("password in base64", "8mN2yqR0p7Vf3ZtL5sXcUeHj", "R0p7Vf3ZtL5sXcUeHj2mNw==", { $0.acceptedMedia.count == 1 }),
        (
            "password in base64url", "8mN2yqR0p7Vf3ZtL5sXcUeHj", "R0p7Vf3ZtL5sXcUeHj2mN-_w",
            { $0.acceptedMedia.count == 1 }
        ),
        (
            "ufrag of a server", "ufrag:q1Wd", "ufrag:kQ3vB8Lw0aX=_6",
            { $0.remoteICE.usernameFragment == "kQ3vB8Lw0aX=_6" }
        ),
        ("role in capitals", "setup:active", "setup:Passive", { $0.localSetup == .active }),
        ("space after the role", "setup:active", "setup:passive ", { $0.localSetup == .active }),
        ("space after rtcp-mux", "a=rtcp-mux", "a=rtcp-mux ", { $0.acceptedMedia.count == 1 }),
        ("space after the direction", "a=recvonly", "a=recvonly ", { $0.acceptedMedia[0].direction == .sendOnly }),
        ("tab after the mid", "a=mid:0", "a=mid:0\t", { $0.acceptedMedia.count == 1 }),
        ("space after the version", "v=0", "v=0 ", { $0.acceptedMedia.count == 1 }),
        (
            "codecs that nobody can read", " 96 97\n", " 45 96 97\na=rtpmap:45 AV1\na=rtpmap:46 My Codec/x\n",
            { $0.acceptedMedia[0].payloadType == 96 }
        ),
        ("lowest dynamic payload type", "96", "35", { $0.acceptedMedia[0].payloadType == 35 }),
        ("highest before RTCP", "96", "63", { $0.acceptedMedia[0].payloadType == 63 }),
        ("highest", "96", "127", { $0.acceptedMedia[0].payloadType == 127 }),
        (
            "remapped extension", "a=extmap:3 ", "a=extmap:11 ",
            { $0.acceptedMedia[0].extensionIDs[.transportWideSequenceNumber] == 11 }
        ),
        (
            "extension it only sends", "a=extmap:3 ", "a=extmap:3/sendonly ",
            { $0.acceptedMedia[0].extensionIDs[.transportWideSequenceNumber] == nil }
        ),
        (
            "stranger's extension", "urn:3gpp:video-orientation", "urn:x",
            { $0.acceptedMedia[0].extensionIDs[.videoOrientation] == nil }
        ),
        (
            "feedback for all", "a=rtcp-fb:96 nack pli", "a=rtcp-fb:* nack pli",
            { $0.acceptedMedia[0].feedback.contains(.pictureLoss) }
        ),
        ("no pli", "a=rtcp-fb:96 nack pli\n", "", { !$0.acceptedMedia[0].feedback.contains(.pictureLoss) }),
        (
            "bandwidth", "a=rtcp-mux", "b=TIAS:900000\nb=AS:2000\na=rtcp-mux",
            { $0.acceptedMedia[0].maximumRate == .kilobitsPerSecond(900) }
        ),
        (
            "weak hash beside a strong one", "a=setup", "a=fingerprint:sha-1 \(pairs(20))\na=setup",
            { $0.remoteFingerprints.count == 1 }
        ),
        ("an odd msid", "a=rtcp-mux", "a=msid:a b c d\na=rtcp-mux", { $0.acceptedMedia.count == 1 }),
        (
            "codecs that were not offered", " 96 97\n", " 45 96 97\na=rtpmap:45 AV1/90000\n",
            { $0.acceptedMedia[0].payloadType == 96 }
        ),
        ("no candidates", "a=candidate:", "a=x-candidate:", { $0.remoteCandidates.isEmpty }),
        ("component 2", " 2 udp ", " 2 udp ", { $0.remoteCandidates.count == 2 }),
        ("no reduced size", "a=rtcp-rsize\n", "", { !$0.acceptedMedia[0].hasReducedSizeRTCP }),
    ]

    @Test("Every valid answer is accepted", arguments: legal.indices)
    func legalAnswers(_ index: Int) throws {
        let item = Self.legal[index]
        let text = Self.base.replacing(item.from, with: item.to)
        for ends in [text, text.replacing("\n", with: "\r\n")] {
            let session = try negotiate(ends)
            #expect(item.holds(session), "\(item.name)")
        }
    }

    @Test("ICE, DTLS and direction attributes may be at session level")
    func sessionLevel() throws {
        let moved = ["a=ice-ufrag", "a=ice-pwd", "a=fingerprint", "a=setup", "a=recvonly"]
        let lines = Self.base.split(separator: "\n").map(String.init)
        let up = lines.filter { line in moved.contains(where: line.hasPrefix) }
        let rest = lines.filter { !up.contains($0) }
        let text = (rest.prefix(4) + up + rest.dropFirst(4)).joined(separator: "\n")
        let session = try negotiate(text)
        #expect(session == (try negotiate(Self.base)))
    }

    static func pairs(_ count: Int) -> String { Array(repeating: "0F", count: count).joined(separator: ":") }

    /// Wrong answers: what is replaced, the line that must be named, and the rule.
    static let wrong: [(from: String, to: String, line: String, rule: NegotiationError.Rule?)] = [
        ("m=video", "a=x\nm=audio", "m=audio", .sectionKind(offered: "video", answered: "audio")),
        (
            "a=rtpmap:97", "m=video 9 UDP/TLS/RTP/SAVPF 99\na=rtpmap:97", "m=video 9",
            .sectionCount(offered: 1, answered: 2)
        ),
        ("m=video 57842", "m=video 0", "m=video 0", .allRejected),
        ("VP8/90000", "VP9/90000", "m=video", .noCommonCodec(offered: ["VP8"], answered: ["VP9"])),
        ("VP8/90000", "VP8/48000", "m=video", .noCommonCodec(offered: ["VP8"], answered: ["VP8/48000"])),
        ("UDP/TLS/RTP/SAVPF", "UDP/DTLS/SCTP", "m=video", .mediaProtocol("UDP/DTLS/SCTP")),
        ("a=fingerprint:", "a=x-fingerprint:", "m=video", .fingerprintMissing),
        (
            "a=fingerprint:sha-256", "a=fingerprint:sha-1 \(pairs(20))\na=x:", "a=fingerprint:sha-1",
            .fingerprintWeak(["sha-1"])
        ),
        ("a=fingerprint:sha-256 5B:", "a=fingerprint:sha-256 ", "a=fingerprint:sha-256 6A", nil),
        ("a=ice-ufrag:q1Wd\n", "", "m=video", .iceCredentialsMissing),
        ("a=ice-pwd:8mN2yqR0p7Vf3ZtL5sXcUeHj\n", "", "m=video", .iceCredentialsMissing),
        ("a=ice-ufrag:q1Wd", "a=ice-ufrag:q1W", "a=ice-ufrag:q1W", nil),
        ("a=ice-pwd:8mN2yqR0p7Vf3ZtL5sXcUeHj", "a=ice-pwd:8mN2", "a=ice-pwd:(hidden)", nil),
        ("a=setup:active", "a=setup:actpass", "a=setup:actpass", .offerInsteadOfAnswer),
        ("a=setup:active", "a=setup:holdconn", "a=setup:holdconn", .setupHeld),
        ("a=setup:active\n", "", "m=video", .setupMissing),
        ("a=setup:active", "a=setup:ActPass", "a=setup:ActPass", .offerInsteadOfAnswer),
        ("96", "64", "m=video", .payloadTypeOfRTCP(64)),
        ("96", "72", "m=video", .payloadTypeOfRTCP(72)),
        ("97", "95", "m=video", .payloadTypeOfRTCP(95)),
        ("a=ice-ufrag:q1Wd", "a=ice-ufrag:q1:Wd", "a=ice-ufrag:q1:Wd", nil),
        ("a=recvonly", "a=sendonly ", "a=sendonly", .direction(offered: .sendOnly, answered: .sendOnly)),
        ("a=setup:active", "a=setup:x", "a=setup:x", nil),
        ("a=rtcp-mux\n", "", "m=video", .rtcpMuxMissing),
        ("a=recvonly", "a=sendonly", "a=sendonly", .direction(offered: .sendOnly, answered: .sendOnly)),
        ("a=recvonly", "a=sendrecv", "a=sendrecv", .direction(offered: .sendOnly, answered: .sendReceive)),
        ("a=mid:0", "a=mid:1", "a=mid:1", .mid(offered: "0", answered: "1")),
        ("BUNDLE 0", "BUNDLE 0 1", "a=group:BUNDLE 0 1", .bundleStranger("1")),
        ("a=extmap:3 ", "a=extmap:2 ", "a=extmap:2 http://www.ietf.org", .extensionID(2)),
        ("a=extmap:3 ", "a=extmap:4096 ", "a=extmap:4096", .extensionID(4096)),
        ("a=extmap:3 ", "a=extmap:0 ", "a=extmap:0", nil),
        ("57842 typ host", "x typ host", "a=candidate:2214018427", nil),
        ("a=rtpmap:96 VP8/90000", "a=rtpmap:96 VP8", "a=rtpmap:96 VP8", nil),
    ]

    @Test("The error for an invalid answer names its line, the rule and a remedy", arguments: wrong.indices)
    func wrongAnswers(_ index: Int) throws {
        let item = Self.wrong[index]
        let text = Self.base.replacing(item.from, with: item.to)
        let error = try #require(#expect(throws: NegotiationError.self) { try negotiate(text) })
        #expect(error.side == .answer)
        #expect(error.text.hasPrefix(item.line), "\(error)")
        let number = text.split(separator: "\n").firstIndex { $0.hasPrefix(item.line.replacing("(hidden)", with: "")) }
        #expect(error.line == (number ?? -2) + 1)
        if let rule = item.rule {
            #expect(error.rule == rule)
        } else if case .malformed = error.rule {
        } else {
            Issue.record("\(error)")
        }
        #expect(error.description.contains("RFC ") && error.description.contains("; "))
        #expect(!error.description.contains("8mN2"))
    }

    @Test("Our own offer, or another peer's, is not accepted as an answer")
    func offersAsAnswers() throws {
        let own = #expect(throws: NegotiationError.self) { try negotiate(Samples.offer().description) }
        #expect(own?.rule == .ownOffer)
        #expect(own?.line == 2)
        let foreign = #expect(throws: NegotiationError.self) { try negotiate(PeerDescriptions.chromiumOffer) }
        #expect(foreign?.rule == .offerInsteadOfAnswer)
        #expect(foreign?.text == "a=setup:actpass")
        let bare = #expect(throws: NegotiationError.self) { try negotiate("v=0\no=- 1 1 IN IP4 127.0.0.1\n") }
        #expect(bare?.rule == .noMedia)
    }
}

@Suite("Answers to several sections")
struct BundledAnswerTests {
    private func answer(_ change: (String) -> String = { $0 }) throws -> (SessionDescription, SessionDescription) {
        let offer = try Samples.twoSections()
        let answer = try Negotiation.makeAnswer(to: offer, Samples.answering).answer
        return (offer, try SessionDescription.parse(change(answer.description.replacing("\r\n", with: "\n"))))
    }

    private func rule(_ change: (String) -> String) throws -> NegotiationError.Rule? {
        let (offer, answer) = try answer(change)
        return #expect(throws: NegotiationError.self) { try Negotiation.negotiate(offer: offer, answer: answer) }?.rule
    }

    @Test("Both sections are accepted over one transport")
    func both() throws {
        let (offer, answer) = try answer()
        let session = try Negotiation.negotiate(offer: offer, answer: answer)
        #expect(session.acceptedMedia.map(\.mid) == ["0", "cam"])
        #expect(session.acceptedMedia.map(\.local.ssrc) == [1111, 3333])
        #expect(session.remoteCandidates.count == 1)
    }

    @Test("The attributes of the accepted section apply when the other one is rejected")
    func oneRejected() throws {
        let (offer, answer) = try answer {
            $0.replacing("m=video 7000", with: "m=video 0").replacing("BUNDLE 0 cam", with: "BUNDLE cam")
        }
        let session = try Negotiation.negotiate(offer: offer, answer: answer)
        #expect(session.sections.map { $0.media != nil } == [false, true])
        #expect(session.remoteICE.usernameFragment == "aNsW")
    }

    /// The answer with a second section that differs.
    private func negotiateSecond(_ change: (String) -> String) throws -> NegotiatedSession {
        let (offer, answer) = try answer { text in
            let parts = text.split(separator: "m=video 9", maxSplits: 1).map(String.init)
            return parts[0] + change("m=video 9" + parts[1])
        }
        return try Negotiation.negotiate(offer: offer, answer: answer)
    }

    @Test("A section with port 0 is accepted when its bundle carries it, and rejected when no bundle does")
    func bundleOnly() throws {
        let transport = ["a=rtcp-mux", "a=ice-", "a=setup", "a=fingerprint"]
        let bundled = try negotiateSecond { section in
            section.replacing("m=video 9", with: "m=video 0").split(separator: "\n")
                .filter { line in !transport.contains(where: line.hasPrefix) }.joined(separator: "\n")
                + "\na=bundle-only\n"
        }
        #expect(bundled.acceptedMedia.map(\.mid) == ["0", "cam"])
        let (offer, alone) = try answer {
            $0.replacing("m=video 9", with: "m=video 0").replacing("a=mid:cam", with: "a=mid:cam\na=bundle-only")
                .replacing("BUNDLE 0 cam", with: "BUNDLE 0")
        }
        #expect(try Negotiation.negotiate(offer: offer, answer: alone).acceptedMedia.map(\.mid) == ["0"])
    }

    @Test("A rejected section may stay in the bundle unless it is the first")
    func rejectedInBundle() throws {
        let session = try negotiateSecond { $0.replacing("m=video 9", with: "m=video 0") }
        #expect(session.sections.map { $0.media != nil } == [true, false])
        #expect(try rule { $0.replacing("m=video 7000", with: "m=video 0") } == .bundleRejected("0"))
    }

    @Test("The bundle's first section decides about rtcp-mux for the bundle")
    func multiplexing() throws {
        let session = try negotiateSecond { $0.replacing("a=rtcp-mux\n", with: "") }
        #expect(session.acceptedMedia.count == 2)
        #expect(try rule { $0.replacing("a=rtcp-mux\n", with: "") } == .rtcpMuxMissing)
    }

    @Test("The bundle must contain exactly the accepted sections")
    func bundle() throws {
        #expect(try rule { $0.replacing("BUNDLE 0 cam", with: "BUNDLE 0") } == .outsideBundle("cam"))
        #expect(try rule { $0.replacing("a=group:BUNDLE 0 cam\n", with: "") } == .outsideBundle("0"))
        #expect(try rule { $0.replacing("BUNDLE 0 cam", with: "BUNDLE cam 0 x") } == .bundleStranger("x"))
        #expect(
            try rule { $0.replacing("a=mid:0", with: "a=mid:swap") } == .mid(offered: "0", answered: "swap"))
    }

    @Test("A payload type or extension ID with two meanings in one bundle is rejected")
    func numbers() throws {
        // In the second section, the payload type of the first's retransmissions becomes VP8.
        #expect(
            try rule { text in
                let parts = text.split(separator: "m=video 9", maxSplits: 1).map(String.init)
                let second = parts[1].replacing("SAVPF 96 97", with: "SAVPF 97").replacing("rtpmap:97 rtx", with: "x:")
                    .replacing("rtpmap:96", with: "rtpmap:97")
                return parts[0] + "m=video 9" + second
            } == .payloadTypeConflict(97))
    }
}
