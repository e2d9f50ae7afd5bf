import RTCShareSDP
import RTCShareWireFormat
import TestSupport
import Testing

@Suite("WebRTC attributes")
struct AttributeTests {
    private func video() throws -> MediaDescription {
        try SessionDescription.parse(PeerDescriptions.chromiumOffer).media[1]
    }

    @Test("Every attribute of a browser's offer is read")
    func chromium() throws {
        let session = try SessionDescription.parse(PeerDescriptions.chromiumOffer)
        let video = try video()
        #expect(try session.bundle()?.mids == ["0", "1"])
        #expect(try video.mid() == "1")
        #expect(video.hasRTCPMux && video.hasReducedSizeRTCP && !session.isICELite)
        #expect(session.direction(of: video) == .sendOnly)
        #expect(try session.setup(of: video) == .actpass)
        #expect(try session.iceAttributes(of: video)?.usernameFragment == "Zx9/")
        #expect(try session.fingerprints(of: video).first?.bytes.count == 32)
        #expect(
            try video.mediaStreams() == [
                MediaStreamAttribute(streamID: "bob#content", trackID: "9e2a7b10-aaaa-4bbb-8ccc-ddddeeeeffff")
            ])
        #expect(try video.content() == ["slides"])
        #expect(try video.rtpMaps().map(\.encodingName) == ["H264", "rtx", "VP8", "rtx", "red", "ulpfec"])
        #expect(try video.formatParameters(of: 97)?["APT"] == "96")
        #expect(try video.formatParameters(of: 102)?["packetization-mode"] == "1")
        #expect(
            try video.feedback(for: 96) == [
                .nack, .pictureLoss, .fullIntraRequest, .receiverEstimatedBitrate, .transportWide,
            ])
        #expect(try video.extensionMaps().map(\.id) == [2, 13, 3, 5, 6, 7, 4])
        #expect(
            try video.sourceGroups() == [SourceGroupAttribute(semantics: "FID", ssrcs: [2_231_627_014, 632_943_048])])
        #expect(try video.sources().first?.value == "nXq0yTz1oPp2Kk3s")
        #expect(try video.rtcp()?.connection?.address == "0.0.0.0")
        let tcp = try video.candidates()[1]
        #expect(tcp.tcpType == "active" && !tcp.isUDP)
        #expect(tcp.extensionValue("network-id") == "1")
    }

    @Test("The parameters of a payload type are those of all its lines, the first of each name")
    func severalParameterLines() throws {
        let text =
            "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\nm=video 9 UDP/TLS/RTP/SAVPF 98\r\n"
            + "a=fmtp:98 profile-level-id=42e01f\r\na=fmtp:99 apt=98\r\na=fmtp:98 packetization-mode=1;"
            + "profile-level-id=640c1f\r\n"
        let parameters = try SessionDescription.parse(text).media[0].formatParameters(of: 98)
        #expect(parameters?["packetization-mode"] == "1" && parameters?["profile-level-id"] == "42e01f")
    }

    @Test(
        "The streams of a simulcast are written as they were read",
        arguments: [
            "send f;h;q", "recv 1;~4 send 2,~3", "send 1,2,3;~4 recv a-b_C",
        ])
    func simulcast(_ text: String) throws {
        let media = try Self.media("a=simulcast:\(text)")
        let simulcast = try #require(try media.simulcast())
        #expect(try Self.media("a=simulcast:\(simulcast)").simulcast() == simulcast)
        #expect(simulcast.sent.flatMap(\.self).count + simulcast.received.flatMap(\.self).count > 2)
    }

    @Test(
        "A malformed simulcast or stream names its line",
        arguments: [
            "simulcast:", "simulcast:send", "simulcast:send f;", "simulcast:send f,;h", "simulcast:both f",
            "simulcast:send f recv", "simulcast:send f send h", "simulcast:send f h", "simulcast:recv f ~",
            "rid:", "rid:f", "rid:f both", "rid:f/1 send", "rid:~f send",
        ])
    func malformedSimulcast(_ line: String) throws {
        let media = try Self.media("a=" + line)
        #expect(throws: SDPError.self) {
            _ = try media.simulcast()
            _ = try media.rtpStreams()
        }
    }

    @Test("A stream's payload types and restrictions are read, and only numbers set limits")
    func streams() throws {
        let text = "h recv pt=96,98;max-br=500000;MAX-FPS = 12.5;max-fs=-1;max-width=inf;depend=f"
        let stream = try #require(try Self.media("a=rid:\(text)").rtpStreams().first)
        #expect(stream.id == "h" && stream.direction == .receive && stream.payloadTypes == [96, 98])
        #expect(stream.limit("max-br") == 500_000 && stream.limit("max-fps") == 12.5)
        #expect(stream.limit("max-fs") == nil && stream.limit("max-width") == nil && stream.limit("depend") == nil)
        #expect(stream.description.hasPrefix("h recv pt=96,98;max-br=500000;max-fps=12.5;"))
    }

    private static func media(_ line: String) throws -> MediaDescription {
        try SessionDescription.parse(
            "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\n\(line)\r\n"
        ).media[0]
    }

    static let candidates = [
        "1467250027 1 udp 2122260223 192.168.1.5 46154 typ host generation 0 ufrag Zx9/ network-id 1",
        "435653019 1 tcp 1845501695 2001:db8::5 9 typ host tcptype passive generation 0",
        "3 1 UDP 1694498815 192.0.2.3 45664 typ srflx raddr 10.0.1.1 rport 8998",
        "H192 2 udp 41885439 198.51.100.2 50000 typ relay raddr 203.0.113.1 rport 54400 generation 0 network-cost 999",
        "2214018427 1 udp 2113937151 6c1f0d0a-7f2e-4a8e-9d0d-0a2b4c6d8e10.local 57842 typ host",
        "+/a 1 udp 1 host.example.com 1 typ prflx raddr 0.0.0.0 rport 0",
        "1 1 sctp 1 192.0.2.1 1 typ novel x y",
        "Hc0a8_1:2=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 0 udp 0 192.0.2.1 1 typ host generation",
    ]

    @Test("Candidates are written as they were read, and described with the attribute's name", arguments: candidates)
    func candidateRoundTrip(_ text: String) throws {
        let candidate = try #require(CandidateAttribute(text))
        #expect(candidate.value == text)
        #expect(candidate.description == "candidate:" + text)
        #expect(CandidateAttribute(candidate.description) == candidate)
    }

    @Test("The fields of a candidate are read")
    func candidateFields() throws {
        let relay = try #require(CandidateAttribute(Self.candidates[3]))
        #expect(relay.kind == .relayed)
        #expect(relay.component == 2)
        #expect(relay.priority == 41_885_439)
        #expect(relay.relatedHost == .address(.v4(0xCB00_7101)) && relay.relatedPort == 54400)
        #expect(relay.extensionValue("network-cost") == "999")
        let local = try #require(CandidateAttribute(Self.candidates[4]))
        #expect(local.host == .name("6c1f0d0a-7f2e-4a8e-9d0d-0a2b4c6d8e10.local"))
    }

    @Test(
        "A candidate that violates the grammar is rejected",
        arguments: [
            "", "1", "1 1 udp 1 192.0.2.1 1 typ", "1 65536 udp 1 192.0.2.1 1 typ host",
            "1 1 udp 4294967296 192.0.2.1 1 typ host",
            "1 1 udp 1 192.0.2.1 65536 typ host", "1 1 udp 1 192.0.2.1 -1 typ host",
            "1 1 udp 1 192.0.2.1 1 type host", "1 1 udp 1 192.0.2.1 1 typ srflx raddr 192.0.2.2 rport x",
        ])
    func candidateRefusal(_ text: String) {
        #expect(CandidateAttribute(text) == nil)
    }

    @Test(
        "An attribute that violates its grammar is rejected at its line when it is read",
        arguments: [
            "fingerprint:sha-256 00:11", "fingerprint:sha-256 0:11", "fingerprint:sha-256", "setup:both",
            "ice-ufrag:abc", "ice-ufrag:ab cd", "ice-ufrag:ab:cd", "ice-ufrag:abcdé", "ice-pwd:short",
            "ice-pwd:012345678901234567890", "candidate:1 1 udp",
            "mid:", "mid", "msid:a b c",
            "rtpmap:128 VP8/90000", "rtpmap:96", "extmap:0 urn:x", "extmap:256 urn:x", "extmap:1", "ssrc:x cname:y",
            "ssrc:1", "ssrc-group:FID", "ssrc-group:FID x",
            "rtcp-fb:96", "rtcp-fb:x nack", "rtcp:x", "content:a,,b", "group:", "fmtp:",
        ])
    func malformedAttribute(_ attribute: String) throws {
        let text =
            "v=0\no=- 1 1 IN IP4 127.0.0.1\n\(attribute.hasPrefix("group") ? "a=\(attribute)\n" : "")"
            + "m=video 9 UDP/TLS/RTP/SAVPF 96\na=\(attribute)\n"
        let session = try SessionDescription.parse(text)
        let error = #expect(throws: SDPError.self) { try Self.readAll(session) }
        #expect(error?.line == (attribute.hasPrefix("group") ? 3 : 4))
        guard case .malformed = error?.rule else {
            Issue.record("\(String(describing: error))")
            return
        }
        let flagged = SessionDescription.explain(text).filter { $0.problem != nil && $0.text.hasPrefix("a=") }
        #expect(flagged.first?.number == error?.line)
    }

    @Test("A section's own ICE and DTLS attributes override the session's")
    func fallback() throws {
        let hash = Array(repeating: "AB", count: 32).joined(separator: ":")
        let session = try SessionDescription.parse(
            """
            v=0
            o=- 1 1 IN IP4 127.0.0.1
            a=setup:active
            a=ice-ufrag:sess
            a=ice-pwd:0123456789012345678901
            a=fingerprint:SHA-256 \(hash.lowercased())
            a=recvonly
            m=video 9 UDP/TLS/RTP/SAVPF 96
            m=video 9 UDP/TLS/RTP/SAVPF 96
            a=setup:passive
            a=ice-ufrag:own1
            a=inactive
            """)
        #expect(try session.setup(of: session.media[0]) == .active)
        #expect(try session.setup(of: session.media[1]) == .passive)
        #expect(try session.iceAttributes(of: session.media[0])?.usernameFragment == "sess")
        #expect(try session.iceAttributes(of: session.media[1])?.usernameFragment == "own1")
        #expect(try session.fingerprints(of: session.media[1]).first?.description == "sha-256 \(hash)")
        #expect(session.direction(of: session.media[0]) == .receiveOnly)
        #expect(session.direction(of: session.media[1]) == .inactive)
    }

    @Test("A codec or an extension in an unusual format does not affect the others of its section")
    func oddities() throws {
        let session = try SessionDescription.parse(
            """
            v=0
            o=- 1 1 IN IP4 127.0.0.1
            m=video 9 UDP/TLS/RTP/SAVPF 96 97 98 99
            c=IN IP4 0.0.0.0 and more
            b=X-KIND:some
            a=rtpmap:96 VP8
            a=rtpmap:97 VP8/none
            a=rtpmap:98 My Codec/90000
            a=rtpmap:99 VP8/90000
            a=extmap:1/both urn:x
            a=:nameless
            a=odd (name)
            """)
        let media = session.media[0]
        let maps = try media.rtpMaps()
        #expect(maps.map(\.clockRate) == [0, 0, 90_000, 90_000] && maps[2].encodingName == "My Codec")
        #expect(maps.filter { $0.isSameEncoding(as: maps[3]) }.map(\.payloadType) == [99])
        #expect(throws: SDPError.self) { try media.checkClockRates() }
        #expect(try media.extensionMaps().map(\.direction) == [nil])
        #expect(media.connection?.address == "0.0.0.0" && media.bandwidths.map(\.rate) == [nil])
        let flagged = SessionDescription.explain("\(session)").filter { $0.problem != nil && $0.text.hasPrefix("a=") }
        #expect(flagged.map(\.text) == ["a=rtpmap:96 VP8", "a=rtpmap:97 VP8/none"])
    }

    @Test("Spaces and tabs at the end of a line have no meaning, and are kept")
    func blanksAtLineEnds() throws {
        let text = """
            v=0 \r
            o=- 1 1 IN IP4 127.0.0.1 \r
            t=0 0 \r
            a=ice-lite \r
            m=video 9 UDP/TLS/RTP/SAVPF 96 \r
            b=AS:500 \r
            a=mid:0 \r
            a=rtcp-mux \r
            a=recvonly\t\r
            a=setup:ACTIVE \r
            a=ice-ufrag:abcd \r
            a=ice-pwd:012345678901234567890= \t\r
            a=end-of-candidates \r

            """
        let session = try SessionDescription.parse(text)
        #expect(session.description == text)
        let media = session.media[0]
        #expect(session.isICELite && media.hasRTCPMux && media.hasEndOfCandidates && media.direction == .receiveOnly)
        #expect(try media.mid() == "0" && media.setup() == .active && media.formats == ["96"])
        #expect(media.bandwidths.first?.rate == .kilobitsPerSecond(500))
        #expect(
            try session.iceAttributes(of: media)
                == ICEAttributes(usernameFragment: "abcd", password: "012345678901234567890="))
        #expect(!media.has("rtcp") && !media.has("ice"))
    }

    static func readAll(_ session: SessionDescription) throws(SDPError) {
        _ = try session.groups()
        for media in session.media {
            _ = try (session.iceAttributes(of: media), session.fingerprints(of: media), session.setup(of: media))
            _ = try (media.mid(), media.mediaStreams(), media.rtcp(), media.candidates(), media.rtpMaps())
            _ = try (media.formatParameters().map { $0["apt"] }, media.feedback(), media.content())
            _ = try (session.extensionMaps(of: media), media.sources(), media.sourceGroups())
        }
    }
}
