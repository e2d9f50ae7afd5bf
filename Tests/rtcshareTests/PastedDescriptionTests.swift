import Foundation
import RTCShareSDP
import Testing

@testable import rtcshare

/// Descriptions as people pass them on.
@Suite
struct PastedDescriptionTests {
    static let lines = [
        "v=0", "o=- 4611731400430051336 2 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE x1",
        "m=video 9 UDP/TLS/RTP/SAVPF 96", "c=IN IP4 0.0.0.0", "a=mid:x1",
        "a=candidate:1 1 udp 2113937151 192.0.2.7 51234 typ host generation 0 network-cost 999 ufrag abcd",
        "a=fingerprint:sha-256 D2:FA:0E:C3:22:59:5E:14:95:69:92:3D:13:B4:84:24:2C:C2:A2:C0:3E:FD:34:8E:5E:EA:6F:AF:52:CE:E6:0F",
        "a=setup:active", "a=recvonly",
    ]
    static let plain = lines.map { $0 + "\r\n" }.joined()

    /// The description in the forms that other programs give it.
    static let forms: [(name: String, text: String)] = [
        ("plain", plain),
        ("with line feeds", plain.replacing("\r\n", with: "\n")),
        ("without its last line end", plain.trimmed),
        ("with a byte order mark", "\u{FEFF}" + plain),
        ("indented", lines.map { "    \($0)\n" }.joined()),
        ("quoted", "On Monday, Bob wrote:\r\n" + lines.map { "> \($0)\r\n" }.joined() + "\r\n-- \r\nBob"),
        ("quoted twice", lines.map { ">> \($0)\n" }.joined()),
        ("quoted twice with spaces", lines.map { "> > \($0)\n" }.joined()),
        ("with empty lines between", lines.map { "\($0)\n\n" }.joined()),
        ("wrapped", lines.map { $0.replacing(" network-cost", with: "\nnetwork-cost") + "\n" }.joined()),
        ("wrapped within a word", lines.map { $0.replacing(":B4:84", with: ":B4\n:84") + "\n" }.joined()),
        (
            "JSON in a quoted message",
            "Here is my answer:\n> ```json\n> " + json(["type": "answer", "sdp": plain]) + "\n> ```\nBye"
        ),
        ("in a code block", "Here it is:\n```\n" + lines.joined(separator: "\n") + "\n```\nBye"),
        ("with escaped line ends", lines.joined(separator: "\\r\\n") + "\\r\\n"),
        ("JSON", json(["type": "answer", "sdp": plain])),
        ("JSON without a type", json(["sdp": plain])),
        ("JSON within JSON", #"{"answer": \#(json(["type": "answer", "sdp": plain]))}"#),
        ("a string of JSON", json(plain)),
        ("a page with a text field", "<!doctype html><html><body><textarea>\(plain)</textarea></body></html>"),
        ("a page with lines", "<html><pre>" + lines.joined(separator: "<br>") + "</pre></html>"),
        (
            "base64", Data(plain.utf8).base64EncodedString(options: .lineLength76Characters)
        ),
        ("JSON in base64", Data(json(["type": "answer", "sdp": plain]).utf8).base64EncodedString()),
        ("JSON in a JSON string", json(json(["type": "answer", "sdp": plain]))),
        (
            "a page with JSON",
            "<!DOCTYPE html>\n<p>v=0?</p><textarea id=a>"
                + json(["type": "answer", "sdp": plain]).replacing("\"", with: "&quot;") + "</textarea>"
        ),
    ]

    private static func json(_ value: some Encodable) -> String {
        (try? JSONEncoder().encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    @Test("A description is found in the forms that other programs give it", arguments: forms)
    func found(name: String, text: String) throws {
        let description = try PastedDescription(in: text, name: "a.txt", expecting: "the answer")
        let parsed = try description.parsed(as: .answer, name: "a.txt")
        #expect(parsed.description == Self.plain, "\(name): \(parsed)")
        #expect(description.wrapping == nil || !name.hasPrefix("plain"))
    }

    @Test("Text is read in UTF-8, and in UTF-16 with its mark", arguments: [UInt8](0...3))
    func encodings(kind: UInt8) {
        let units = Array(("\u{FEFF}" + Self.plain).utf16)
        let bytes: [UInt8] =
            switch kind {
            case 0: Array(Self.plain.utf8)
            case 1: [0xEF, 0xBB, 0xBF] + Array(Self.plain.utf8)
            case 2: units.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
            default: units.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
            }
        #expect(StandardStreams.decode(bytes) == Self.plain)
        #expect(StandardStreams.decode([0xFF, 0xFE, 0x00, 0xD8]) == nil)
        #expect(StandardStreams.decode([0xC3]) == nil)
    }

    @Test(
        "A text without a description is an error that names its kind",
        arguments: [
            ("", "a.txt is empty"), (" \r\n\u{FEFF}", "a.txt is empty"),
            ("<!doctype html><html></html>", "a.txt is an HTML page"),
            (#"{"type":"answer"}"#, "a.txt is JSON without"), ("{", "a.txt is JSON without"),
            (#"["v=1", {"sdp": 3}, null]"#, "a.txt is JSON without"),
            ("hello", "a.txt is not a session description: it begins with \"hello\""),
        ])
    func notFound(text: String, words: String) {
        let failure = #expect(throws: CommandFailure.self) {
            try PastedDescription(in: text, name: "a.txt", expecting: "the answer")
        }
        #expect(failure?.status == .badInput && failure?.message.hasPrefix(words) == true, "\(failure?.message ?? "")")
        #expect(failure?.remedy?.contains("v=0") == true)
    }

    @Test("JSON with a description of the other type is rejected with that reason")
    func wrongKind() throws {
        let text = Self.json(["type": "offer", "sdp": Self.plain])
        let description = try PastedDescription(in: text, name: "o.json", expecting: "the answer")
        let failure = #expect(throws: CommandFailure.self) { try description.parsed(as: .answer, name: "o.json") }
        #expect(failure?.message == "o.json is an offer, not an answer")
        _ = try description.parsed(as: .offer, name: "o.json")
    }

    @Test("A damaged line is named by its number in the file, without a standard's section")
    func damagedLine() throws {
        let text = Self.plain.replacing("a=setup:active\r\n", with: "a = setup\r\n")
        let description = try PastedDescription(in: text, name: "a.sdp", expecting: "the answer")
        let failure = #expect(throws: CommandFailure.self) { try description.parsed(as: .answer, name: "a.sdp") }
        #expect(failure?.message.hasPrefix("line 11 of a.sdp, \"a = setup\": ") == true)
        #expect(failure?.lines(after: "").contains { $0.contains("RFC") || $0.contains(";") } == false)
    }

    @Test("A text with many false beginnings is rejected quickly")
    func manyBeginnings() {
        let page = "<p>" + String(repeating: "v=0 ", count: 50_000)
        #expect(throws: CommandFailure.self) {
            try PastedDescription(in: page, name: "a.html", expecting: "the answer")
        }
    }

    // MARK: At a terminal

    @Test("At a terminal a wrong paste is followed by the same question")
    func asksAgain() throws {
        var texts = ["hello", Self.json(["type": "offer", "sdp": Self.plain]), "", "\n", Self.plain, "never read"]
        let answer = try AnswerFile.read(name: "the answer", asksAgain: true) { _, _ in
        } readText: {
            texts.removeFirst()
        }
        #expect(answer.description == Self.plain && texts == ["never read"])
    }

    @Test("A closed terminal ends the questions, and without a terminal the first paste counts")
    func endsQuestions() {
        for (asksAgain, count) in [(true, 3), (false, 1)] {
            var asked = 0
            let rejection = #expect(throws: AnswerFile.Rejection.self) {
                try AnswerFile.read(name: "the answer", asksAgain: asksAgain) { _, _ in
                } readText: {
                    asked += 1
                    return ""
                }
            }
            #expect(asked == count && rejection?.failure.message == "the answer is empty")
        }
    }
}
