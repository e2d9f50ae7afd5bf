import RTCShareSDP
import RTCShareWireFormat
import TestSupport
import Testing

@Suite("Session descriptions")
struct SessionDescriptionTests {
    @Test("A description is written as it was read, with CR LF", arguments: Fixture.all)
    func roundTrip(_ fixture: Fixture) throws {
        let text = fixture.text
        let parsed = try SessionDescription.parse(text)
        let written = text.split(separator: "\n").map { $0 + "\r\n" }.joined()
        #expect(parsed.description.utf8.elementsEqual(written.utf8))
        #expect(try SessionDescription.parse(written) == parsed)
    }

    @Test("Line ends are CR LF or LF, the last may be missing, and blank lines may follow")
    func lineEnds() throws {
        let expected = try SessionDescription.parse("v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\n")
        for text in [
            "v=0\no=- 1 1 IN IP4 127.0.0.1\ns=-\n", "v=0\r\no=- 1 1 IN IP4 127.0.0.1\ns=-",
            "v=0\no=- 1 1 IN IP4 127.0.0.1\ns=-\r\n\r\n \n",
        ] {
            #expect(try SessionDescription.parse(text) == expected)
        }
        #expect(try SessionDescription.parse("v=0\no=- 1 1 IN IP4 127.0.0.1\ns= \n").sessionName == " ")
    }

    @Test("Lines that browsers don't require can be missing, and unknown ones are kept in place")
    func optionalAndUnknownLines() throws {
        let text = "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\nx=hello\r\na=unheard-of:1 2  3\r\nm=video 0 RTP/AVP 96\r\ny=\r\n"
        let parsed = try SessionDescription.parse(text)
        #expect(parsed.description == text)
        #expect(parsed.timing == nil)
        #expect(parsed.connection == nil)
        #expect(parsed.attribute("unheard-of")?.attributeValue == "1 2  3")
        #expect(parsed.attribute("unheard-of")?.number == 4)
    }

    @Test("The fields of a description's structure are read")
    func fields() throws {
        let session = try SessionDescription.parse(PeerDescriptions.chromiumOffer)
        #expect(session.origin?.sessionID == "3659171870212345678")
        #expect(session.origin?.connection.address == "127.0.0.1")
        #expect(session.timing?.start == 0)
        #expect(session.media.map(\.kind) == ["audio", "video"])
        #expect(session.media[1].formats == ["102", "103", "96", "97", "104", "105"])
        #expect(session.media[1].protocol == "UDP/TLS/RTP/SAVPF")
        #expect(session.media[1].bandwidths.first?.rate == .kilobitsPerSecond(2500))
        #expect(session.media[1].connection?.address == "0.0.0.0")
        let ports = try SessionDescription.parse("v=0\no=- 1 1 IN IP6 ::1\nm=audio 4000/2 RTP/AVP 0\n")
        #expect(ports.media[0].port == 4000)
        #expect(ports.media[0].portCount == 2)
    }

    static let refusals: [(String, Int, SDPError.Rule)] = [
        ("", 0, .empty),
        (" \r\n\n", 0, .empty),
        ("{\"type\":\"answer\",\"sdp\":\"v=0\"}", 1, .json),
        ("hello", 1, .version),
        ("v=1\n", 1, .version),
        ("o=- 1 1 IN IP4 127.0.0.1\n", 1, .version),
        ("v=0\n", 1, .originMissing),
        ("v=0\ns=-\n", 2, .originMissing),
        ("v=0\no=- 1 1 IN IP4 127.0.0.1\nv=0\n", 3, .repeated("v=")),
        ("v=0\no=- 1 1 IN IP4 127.0.0.1\no=- 1 1 IN IP4 127.0.0.1\n", 3, .repeated("o=")),
        ("v=0\no=- 1 1 IN IP4 127.0.0.1\ns=-\ns=-\n", 4, .repeated("s=")),
        ("v=0\no=- 1 1 IN IP4 127.0.0.1\n\na=x\n", 3, .notALine),
        ("v=0\no=- 1 1 IN IP4 127.0.0.1\n a=x\n", 3, .notALine),
        ("v=0\no=- 1 1 IN IP4 127.0.0.1\na =x\n", 3, .notALine),
        ("v=0\no=- 1 1 IN IP4 127.0.0.1\ns=a\rb\n", 3, .forbiddenByte(13)),
        ("v=0\no=- 1 1 IN IP4 127.0.0.1\ns=\0\n", 3, .forbiddenByte(0)),
    ]

    @Test("A text that is not a description is rejected at its line", arguments: refusals)
    func refusal(_ text: String, _ line: Int, _ rule: SDPError.Rule) {
        let error = #expect(throws: SDPError.self) { try SessionDescription.parse(text) }
        #expect(error?.line == line)
        #expect(error?.rule == rule)
        #expect(error?.description.isEmpty == false)
    }

    @Test(
        "A line that violates its grammar is rejected with the grammar",
        arguments: [
            "o=- x 1 IN IP4 127.0.0.1", "c=IN IP4", "t=0", "t=0 -1", "b=AS", "b=AS:-1", "a=", "a= x", "m=video",
            "m=video 65536 UDP/TLS/RTP/SAVPF 96", "m=video 9 UDP/TLS/RTP/SAVPF", "m=video +9 UDP/TLS/RTP/SAVPF 96",
            "m=video 9/0 UDP/TLS/RTP/SAVPF 96", "m=video 9/1/1 UDP/TLS/RTP/SAVPF 96",
        ])
    func malformedLine(_ line: String) {
        let text = line.hasPrefix("o") ? "v=0\n\(line)\n" : "v=0\no=- 1 1 IN IP4 127.0.0.1\ns=-\n\(line)\n"
        let error = #expect(throws: SDPError.self) { try SessionDescription.parse(text) }
        guard case .malformed(let name, _, let section) = error?.rule else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(name.first == line.first)
        #expect(section.hasPrefix("RFC"))
        #expect(error?.line == (line.hasPrefix("o") ? 2 : 4))
        #expect(error?.text == line)
    }

    @Test("Limits apply, and descriptions within them parse")
    func limits() throws {
        let head = "v=0\no=- 1 1 IN IP4 127.0.0.1\n"
        func rule(_ text: String) -> SDPError.Rule? {
            do throws(SDPError) {
                _ = try SessionDescription.parse(text)
                return nil
            } catch {
                return error.rule
            }
        }
        let media = String(repeating: "m=video 0 RTP/AVP 0\n", count: SDPLimits.mediaSections)
        #expect(rule(head + media) == nil)
        #expect(
            rule(head + media + "m=video 0 RTP/AVP 0\n")
                == .limit(of: .mediaSections, maximum: SDPLimits.mediaSections))
        let lines = String(repeating: "a=x\n", count: SDPLimits.lines - 2)
        #expect(rule(head + lines) == nil)
        #expect(rule(head + lines + "a=x\n") == .limit(of: .lines, maximum: SDPLimits.lines))
        let long = "a=" + String(repeating: "x", count: SDPLimits.bytesInALine - 2)
        #expect(rule(head + long) == nil)
        #expect(rule(head + long + "x") == .limit(of: .bytesInALine, maximum: SDPLimits.bytesInALine))
        let bytes = String(repeating: " ", count: SDPLimits.bytes)
        #expect(rule(bytes + " ") == .limit(of: .bytes, maximum: SDPLimits.bytes))
    }

    @Test("Bytes that are not UTF-8 are rejected, and other letters are kept")
    func encoding() throws {
        let head = Array("v=0\no=- 1 1 IN IP4 127.0.0.1\ns=".utf8)
        let error = #expect(throws: SDPError.self) { try SessionDescription.parse(utf8: head + [0xC3, 0x28]) }
        #expect(error?.rule == .notUTF8)
        #expect(error?.line == 3)
        #expect(try SessionDescription.parse(utf8: head + Array("Größe 你好".utf8)).sessionName == "Größe 你好")
    }

    @Test("No error shows a password")
    func secrets() {
        let error = #expect(throws: SDPError.self) {
            let session = try SessionDescription.parse("v=0\no=- 1 1 IN IP4 127.0.0.1\na=ice-pwd:secret\n")
            _ = try session.icePassword()
        }
        #expect(error?.description.contains("secret") == false)
        let lines = SessionDescription.explain(
            "v=0\no=- 1 1 IN IP4 127.0.0.1\na=ice-pwd:0123456789abcdefghijklmn\n a=ice-pwd:0123456789abcdefghijklmn")
        #expect(lines.allSatisfy { !"\($0)".contains("0123456789abc") })
        let ice = ICEAttributes(usernameFragment: "frag", password: "0123456789abcdefghijklmn")
        var dumped = ""
        dump(ice, to: &dumped)
        #expect(!"\(ice) \(String(reflecting: ice)) \(dumped)".contains("0123456789"))
    }
}
