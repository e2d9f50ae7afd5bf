import RTCShareSDP
import TestSupport
import Testing

@Suite("Explanations")
struct ExplanationTests {
    @Test("Every line of a browser's description is explained, without a problem", arguments: Fixture.all)
    func complete(_ fixture: Fixture) {
        let text = fixture.text
        let lines = SessionDescription.explain(text)
        #expect(lines.count == text.split(separator: "\n").count)
        for line in lines {
            #expect(!line.explanation.isEmpty, "\(line.text)")
            #expect(line.problem == nil, "\(line.text): \(line.problem ?? "")")
        }
    }

    static let expectations: [(String, String)] = [
        (
            "a=candidate:1467250027 1 udp 2122260223 192.168.1.5 46154 typ host",
            "host UDP candidate 192.168.1.5 port 46154, priority 2122260223"
        ),
        ("a=rtpmap:96 VP8/90000", "payload type 96 is VP8, clock 90000 Hz"),
        ("a=fmtp:97 apt=96", "rtx (97) retransmits VP8 (96)"),
        ("a=rtcp-fb:96 nack pli", "VP8 (96): a lost frame is reported"),
        ("a=ssrc-group:FID", "source 632943048 retransmits source 2231627014"),
        ("a=content:slides", "the section shows: slides (a shared screen or presentation)"),
        ("a=group:BUNDLE", "sections 0, 1 share one transport"),
        ("m=video", "video section 1, no default port, UDP/TLS/RTP/SAVPF: H264 (102), rtx (103), VP8 (96)"),
    ]

    @Test("Lines are explained in plain words", arguments: expectations)
    func words(_ line: String, _ expected: String) throws {
        let lines = SessionDescription.explain(PeerDescriptions.chromiumOffer)
        let found = lines.filter { $0.text.hasPrefix(line) }.map(\.explanation)
        #expect(found.contains { $0.hasPrefix(expected) }, "\(found)")
    }

    @Test("An error is reported at its line, and the other lines are still explained")
    func problems() {
        let broken = PeerDescriptions.chromiumAnswer.replacing("a=mid:0", with: "a mid 0")
        let lines = SessionDescription.explain(broken)
        let flagged = lines.filter { $0.problem != nil }
        #expect(flagged.map(\.text) == ["a mid 0"])
        #expect(lines.last?.explanation == "rtx (97) retransmits VP8 (96)")
        #expect(SessionDescription.explain("").first?.problem != nil)
        #expect(SessionDescription.explain("{\"sdp\":\"\"}").first?.problem?.contains("JSON") == true)
    }

    @Test("A section without a required WebRTC attribute is flagged at its m= line")
    func missing() {
        let text = PeerDescriptions.chromiumAnswer.replacing("a=rtcp-mux\n", with: "").replacing(
            "a=setup:active\n", with: "")
        let flagged = SessionDescription.explain(text).filter { $0.problem != nil }
        #expect(flagged.map(\.number) == [8])
        #expect(flagged.first?.problem == "this section lacks a=setup (RFC 8842 §5), a=rtcp-mux (RFC 8858 §4)")
    }
}
