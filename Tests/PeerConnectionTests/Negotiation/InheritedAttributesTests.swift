import RTCShareSDP
import RTCShareWireFormat
import Testing

@testable import RTCSharePeerConnection

/// The session-level attributes that apply to sections, of which both may be many.
@Suite struct InheritedAttributesTests {
    private static let head = "v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\ns=-\r\nt=0 0\r\n"
    private static let section = "m=video 9 UDP/TLS/RTP/SAVPF 96\r\na=rtpmap:96 VP8/90000\r\n"

    private static func session(_ lines: [String], section own: [String] = []) throws -> SessionDescription {
        let text = [head] + lines.map { $0 + "\r\n" } + [section] + own.map { $0 + "\r\n" }
        return try SessionDescription.parse(text.joined())
    }

    private static let lines = [
        "b=AS:300", "b=AS:200", "a=setup:passive", "a=recvonly", "a=extmap:1 urn:ietf:params:rtp-hdrext:sdes:mid",
        "a=extmap:2 urn:nobody:knows",
    ]

    @Test("A section's own attributes override or complement its session's")
    func inherited() throws {
        let plain = DescriptionReader(side: .offer, session: try Self.session(Self.lines))
        let media = plain.session.media[0]
        #expect(plain.direction(of: media) == .receiveOnly)
        #expect(try plain.setup(of: media) == .passive)
        #expect(try plain.extensions(of: media).map(\.uri) == [.mid])
        #expect(plain.maximumRate(of: media) == .kilobitsPerSecond(200))
        let own = [
            "b=AS:250", "a=setup:active", "a=sendonly", "a=extmap:3 urn:ietf:params:rtp-hdrext:ssrc-audio-level",
        ]
        let reader = DescriptionReader(side: .offer, session: try Self.session(Self.lines, section: own))
        let other = reader.session.media[0]
        #expect(reader.direction(of: other) == .sendOnly)
        #expect(try reader.setup(of: other) == .active)
        #expect(try reader.extensions(of: other).map(\.uri) == [.audioLevel, .mid])
        #expect(reader.maximumRate(of: other) == .kilobitsPerSecond(200))
    }

    @Test("A malformed session attribute is reported only when a section inherits it")
    func malformed() throws {
        let reader = DescriptionReader(
            side: .offer, session: try Self.session(["a=setup:sideways"], section: ["a=setup:active"]))
        #expect(try reader.setup(of: reader.session.media[0]) == .active)
        let other = DescriptionReader(side: .offer, session: try Self.session(["a=setup:sideways"]))
        #expect(throws: NegotiationError.self) { try other.setup(of: other.session.media[0]) }
    }

    @Test("A session's lines are parsed only once for all of its sections")
    func readOnce() throws {
        // What was read once says another thing than the lines: whoever looks at these again is found out.
        let session = try Self.session(Self.lines)
        let read = InheritedAttributes(
            try Self.session(
                ["b=AS:100", "a=setup:active", "a=sendonly", "a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid"]))
        let reader = DescriptionReader(side: .offer, session: session, inherited: read)
        for media in session.media + session.media {
            #expect(reader.direction(of: media) == .sendOnly)
            #expect(try reader.setup(of: media) == .active)
            #expect(try reader.extensions(of: media).map(\.map.id) == [4])
            #expect(reader.maximumRate(of: media) == .kilobitsPerSecond(100))
        }
    }
}
