import Foundation
import SDP
import Testing

/// The shared corpora, where the machine has them.
enum Corpora {
    static let sdp: URL? = {
        var folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        while folder.path != "/" {
            let corpus = folder.appendingPathComponent("shared/corpora/sdp-corpus")
            if FileManager.default.fileExists(atPath: corpus.path) { return corpus }
            folder.deleteLastPathComponent()
        }
        return nil
    }()

    static func files() throws -> [URL] {
        guard let sdp else { return [] }
        return try FileManager.default.contentsOfDirectory(at: sdp, includingPropertiesForKeys: nil)
            .sorted { $0.path < $1.path }
    }
}

@Suite("No input traps the parser")
struct RobustnessTests {
    /// Parses, reads every attribute and explains; whatever is thrown is fine.
    @discardableResult
    private func exercise(_ bytes: [UInt8], explain: Bool = true) -> SessionDescription? {
        if explain { _ = SessionDescription.explain(String(decoding: bytes, as: UTF8.self)) }
        guard let session = try? SessionDescription.parse(utf8: bytes) else { return nil }
        try? AttributeTests.readAll(session)
        return session
    }

    @Test("A description cut at any length", arguments: Fixture.all)
    func truncation(_ fixture: Fixture) {
        let text = fixture.text
        let bytes = Array(text.utf8)
        for count in bytes.indices {
            if let session = exercise(Array(bytes[..<count]), explain: count % 29 == 0) {
                let reparsed = try? SessionDescription.parse(session.description)
                #expect(reparsed == session)
            }
        }
    }

    @Test("A description with any one byte changed", arguments: Fixture.all)
    func corruption(_ fixture: Fixture) {
        let text = fixture.text
        var bytes = Array(text.utf8)
        for index in bytes.indices {
            let original = bytes[index]
            for (count, value) in [index % 2 == 0 ? 10 : 255, index % 3 == 0 ? 32 : original ^ 1].enumerated() {
                bytes[index] = value
                exercise(bytes, explain: (index + count) % 31 == 0)
            }
            bytes[index] = original
        }
    }

    @Test(
        "The corpus round-trips or is refused at a line, and so are its damaged copies",
        .enabled(if: Corpora.sdp != nil))
    func corpus() throws {
        var parsed = 0
        for file in try Corpora.files() {
            let bytes = [UInt8](try Data(contentsOf: file))
            do {
                let session = try SessionDescription.parse(utf8: bytes)
                parsed += 1
                // Blank lines at the end are not part of a description.
                let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
                let written = session.description.split(separator: "\r\n")
                #expect(written == lines, "\(file.lastPathComponent)")
            } catch {
                #expect(error.line > 0, "\(file.lastPathComponent): \(error)")
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

    @Test("Text that combines with what stands before it does not confuse the fields")
    func combiningScalars() {
        let head = "v=0\no=- 1 1 IN IP4 127.0.0.1\nm=video 9 UDP/TLS/RTP/SAVPF 96\n"
        for name in ["candidate:", "rtpmap:", "fmtp:", "ssrc:", "extmap:", "msid:", "group:"] {
            exercise(Array("\(head)a=\(name)\u{301}1 \u{301}2 3\n".utf8))
            exercise(Array("\(head)a=\(name)1 \u{200D}x:\u{FE0F}y\n".utf8))
        }
    }
}
