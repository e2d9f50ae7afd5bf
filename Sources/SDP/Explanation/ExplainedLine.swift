/// A line of a session description with its meaning.
package struct ExplainedLine: Hashable, Sendable, Encodable {
    /// The line's number, counted from 1.
    package let number: Int
    /// The line's text, without passwords and keys, since people share explanations.
    package let text: String
    /// The meaning of the line in plain English; empty if it is unknown.
    package let explanation: String
    /// The error in the line and its remedy; nil for a valid line.
    package let problem: String?
}

extension SessionDescription {
    /// Explains a text line by line, even if it is not a session description. The line that breaks the description
    /// carries the error.
    package static func explain(_ text: String) -> [ExplainedLine] {
        let bytes = Array(text.utf8)
        let raw = SDPLine.splitRaw(bytes)
        var failure: SDPError?
        var problems: [Int: String] = [:]
        do {
            problems = try parse(utf8: bytes).sectionProblems()
        } catch {
            failure = error
        }
        if let failure, failure.line == 0 || raw.count > SDPLimits.lines {
            return [ExplainedLine(number: 1, text: failure.text, explanation: "", problem: failure.complaint)]
        }
        let lines = raw.enumerated().map { try? SDPLine($1, number: $0 + 1) }
        var context = ExplanationContext(lines)
        return raw.indices.map { index in
            let number = index + 1
            guard let line = lines[index] else {
                let shown = SDPError.printable(String(decoding: raw[index].prefix(400), as: UTF8.self))
                return ExplainedLine(
                    number: number, text: shown, explanation: "",
                    problem: failure?.line == number ? failure?.complaint : "this is not a line of a description")
            }
            let (explanation, error) = context.explain(line)
            let problem = failure?.line == number ? failure : error
            return ExplainedLine(
                number: number, text: SDPError.printable(line.description), explanation: explanation,
                problem: problem?.complaint ?? problems[number])
        }
    }

    /// Returns the attributes that a WebRTC peer requires and that sections lack, keyed by the line that reports them.
    private func sectionProblems() -> [Int: String] {
        var problems: [Int: String] = [:]
        for section in media where !section.isRejected && section.protocol.contains("TLS") {
            var missing: [String] = []
            if !carries("ice-ufrag", section) || !carries("ice-pwd", section) {
                missing.append("ICE credentials (RFC 8839 §5.4)")
            }
            if !carries("fingerprint", section) { missing.append("a fingerprint (RFC 8122 §5)") }
            if !carries("setup", section) { missing.append("a=setup (RFC 8842 §5)") }
            if section.protocol.contains("RTP"), !carries("rtcp-mux", section) {
                missing.append("a=rtcp-mux (RFC 8858 §4)")
            }
            if !missing.isEmpty {
                problems[section.line.number] = "this section lacks " + missing.joined(separator: ", ")
            }
        }
        return problems
    }

    /// Whether an attribute is in the section, in the session, or, for a section in a bundle, in another section.
    private func carries(_ name: String, _ section: MediaDescription) -> Bool {
        section.has(name) || has(name) || (section.has("bundle-only") && media.contains { $0.has(name) })
    }
}

extension SDPError {
    /// The reason, its source and the advice, without the text of the line.
    var complaint: String { "\(reason) (\(section)); \(advice)" }
}
