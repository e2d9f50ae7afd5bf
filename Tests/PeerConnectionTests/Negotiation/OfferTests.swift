import RTCSharePeerConnection
import RTCShareSDP
import RTCShareWireFormat
import Testing

@Suite("Offers")
struct OfferTests {
    @Test("An offer of content video has all attributes that receivers need, in lines that end in CR LF")
    func text() throws {
        let hash = Samples.fingerprint.description
        let expected = """
            v=0
            o=- 4711 1 IN IP4 127.0.0.1
            s=-
            t=0 0
            a=group:BUNDLE 0
            a=ice-options:ice2
            m=video 6000 UDP/TLS/RTP/SAVPF 96 97 112 113 114
            c=IN IP4 203.0.113.7
            a=mid:0
            a=sendonly
            a=content:slides
            a=msid:alice#content screen
            a=rtcp-mux
            a=rtcp-mux-only
            a=rtcp-rsize
            a=ice-ufrag:oFfR
            a=ice-pwd:offererPassword0123456789
            a=fingerprint:\(hash)
            a=setup:actpass
            a=candidate:1 1 udp 2130706431 192.168.1.5 5000 typ host
            a=candidate:2 1 udp 1694498815 203.0.113.7 6000 typ srflx raddr 192.168.1.5 rport 5000
            a=end-of-candidates
            a=extmap:1 urn:ietf:params:rtp-hdrext:sdes:mid
            a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time
            a=extmap:3 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01
            a=extmap:4 urn:3gpp:video-orientation
            a=extmap:5 http://www.webrtc.org/experiments/rtp-hdrext/playout-delay
            a=extmap:6 http://www.webrtc.org/experiments/rtp-hdrext/video-content-type
            a=rtpmap:96 VP8/90000
            a=rtcp-fb:96 nack
            a=rtcp-fb:96 nack pli
            a=rtcp-fb:96 ccm fir
            a=rtcp-fb:96 ccm tmmbr
            a=rtcp-fb:96 goog-remb
            a=rtcp-fb:96 transport-cc
            a=rtpmap:97 rtx/90000
            a=fmtp:97 apt=96
            a=rtpmap:112 red/90000
            a=rtpmap:113 rtx/90000
            a=fmtp:113 apt=112
            a=rtpmap:114 ulpfec/90000
            a=ssrc-group:FID 1111 2222
            a=ssrc:1111 cname:cname1
            a=ssrc:1111 msid:alice#content screen
            a=ssrc:2222 cname:cname1
            a=ssrc:2222 msid:alice#content screen

            """
        let offer = try Samples.offer()
        #expect(offer.description == expected.split(separator: "\n").map { $0 + "\r\n" }.joined())
        #expect(SessionDescription.explain(offer.description).allSatisfy { $0.problem == nil && $0.explanation != "" })
    }

    @Test(
        "The default candidate is a relayed one, else reflexive, else host, IPv4 before IPv6, and never a name")
    func defaultCandidate() throws {
        func line(_ candidates: [CandidateAttribute]) throws -> [String] {
            var transport = Samples.transport
            transport.candidates = candidates
            let offer = try Negotiation.makeOffer(
                OfferParameters(sessionID: 1, transport: transport, sections: [Samples.content]))
            return [String(offer.media[0].port), offer.media[0].connection?.description ?? ""]
        }
        func candidate(_ host: String, _ port: UInt16, _ kind: CandidateAttribute.Kind) -> CandidateAttribute {
            CandidateAttribute(foundation: "1", priority: 1, host: .init(host), port: port, kind: kind)
        }
        let v6 = candidate("2001:db8::1", 1, .host)
        let v4 = candidate("192.0.2.1", 2, .host)
        let relayed = candidate("192.0.2.9", 3, .relayed)
        #expect(try line([]) == ["9", "IN IP4 0.0.0.0"])
        #expect(try line([candidate("x.local", 4, .host)]) == ["9", "IN IP4 0.0.0.0"])
        #expect(try line([v6]) == ["1", "IN IP6 2001:db8::1"])
        #expect(try line([v6, v4]) == ["2", "IN IP4 192.0.2.1"])
        #expect(try line([relayed, v4, candidate("2001:db8::2", 5, .serverReflexive)]) == ["3", "IN IP4 192.0.2.9"])
    }

    @Test("Several sections share a bundle, and only the first contains the candidates")
    func sections() throws {
        let offer = try Samples.twoSections()
        #expect(try offer.bundle()?.mids == ["0", "cam"])
        #expect(offer.media.map(\.port) == [6000, 9])
        #expect(try offer.media.map { try $0.candidates().count } == [2, 0])
        #expect(try offer.media[1].content().isEmpty)
    }

    @Test("A name that would break the description's lines is rejected", arguments: ["a b", "", "x\r\na=evil", "é"])
    func injection(_ name: String) {
        var section = Samples.content
        section.source?.stream = MediaStreamAttribute(streamID: name, trackID: nil)
        let error = #expect(throws: NegotiationError.self) { try Samples.offer(sections: [section]) }
        #expect(error?.rule == .notAToken(name))
    }
}
