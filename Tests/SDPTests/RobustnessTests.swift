import RTCShareSDP
import TestSupport
import Testing

@Suite("No input traps the parser")
struct RobustnessTests {
    /// Parses, reads every attribute and explains. What is read is written as it was read, and what is wrong is told at
    /// one of the lines.
    @discardableResult
    private func exercise(_ bytes: [UInt8], explain: Bool = true) -> SessionDescription? {
        let lineCount = bytes.reduce(1) { $0 + ($1 == 0x0A || $1 == 0x0D ? 1 : 0) }
        // Called for so many texts that only what fails is worth a record.
        func check(_ holds: Bool, _ what: String) {
            if !holds { Issue.record("\(what): \(String(decoding: bytes, as: UTF8.self))") }
        }
        if explain {
            let lines = SessionDescription.explain(String(decoding: bytes, as: UTF8.self))
            check(lines.allSatisfy { (1...lineCount).contains($0.number) }, "explained line by line")
        }
        do throws(SDPError) {
            let session = try SessionDescription.parse(utf8: bytes)
            check((try? SessionDescription.parse(session.description)) == session, "written as it was read")
            do throws(SDPError) {
                try AttributeTests.readAll(session)
            } catch {
                check((1...lineCount).contains(error.line), "an attribute refused at line \(error.line)")
            }
            return session
        } catch {
            // Of a text as a whole, as one that is empty, no line is at fault.
            check((0...lineCount).contains(error.line), "refused at line \(error.line)")
            return nil
        }
    }

    @Test("A truncated description parses or is rejected at any length", arguments: Fixture.all)
    func truncation(_ fixture: Fixture) {
        let text = fixture.text
        let bytes = Array(text.utf8)
        for count in bytes.indices {
            exercise(Array(bytes[..<count]), explain: count % 29 == 0)
        }
        #expect(exercise(bytes) != nil)
    }

    @Test("A description with one changed byte parses or is rejected", arguments: Fixture.all)
    func corruption(_ fixture: Fixture) {
        let text = fixture.text
        var bytes = Array(text.utf8)
        var refused = 0
        for index in bytes.indices {
            let original = bytes[index]
            for (count, value) in [index % 2 == 0 ? 10 : 255, index % 3 == 0 ? 32 : original ^ 1].enumerated() {
                bytes[index] = value
                if exercise(bytes, explain: (index + count) % 31 == 0) == nil { refused += 1 }
            }
            bytes[index] = original
        }
        // A byte that is no UTF-8 is, wherever it stands; a letter within a value is another value.
        #expect(refused > bytes.count / 2 && refused < bytes.count * 2)
    }

    @Test(
        "Each corpus file, damaged or not, survives a round trip or is rejected at a line",
        .enabled(if: Corpus.sdp.isThere, "no ../shared/corpora/sdp-corpus beside the clone"))
    func corpus() throws {
        var parsed = 0
        for file in try Corpus.sdp.files() {
            let bytes = file.bytes
            do {
                let session = try SessionDescription.parse(utf8: bytes)
                parsed += 1
                // Blank lines at the end are not part of a description.
                let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
                let written = session.description.split(separator: "\r\n")
                #expect(written == lines, "\(file.name)")
            } catch {
                #expect(error.line > 0, "\(file.name): \(error)")
            }
            exercise(bytes)
            for count in stride(from: 0, to: bytes.count, by: 7) { exercise(Array(bytes[..<count]), explain: false) }
            for index in stride(from: 0, to: bytes.count, by: 9) {
                var damaged = bytes
                damaged[index] ^= 0x55
                exercise(damaged, explain: false)
            }
        }
        #expect(parsed > 50)
    }

    @Test("Combining characters do not confuse the fields")
    func combiningScalars() {
        let head = "v=0\no=- 1 1 IN IP4 127.0.0.1\nm=video 9 UDP/TLS/RTP/SAVPF 96\n"
        for name in ["candidate:", "rtpmap:", "fmtp:", "ssrc:", "extmap:", "msid:", "group:"] {
            for line in ["a=\(name)\u{301}1 \u{301}2 3", "a=\(name)1 \u{200D}x:\u{FE0F}y"] {
                let session = exercise(Array("\(head)\(line)\n".utf8))
                let attribute = session?.media.first?.attribute(String(name.dropLast()))
                #expect(attribute?.description.utf8.elementsEqual(line.utf8) == true)
            }
        }
    }
}
