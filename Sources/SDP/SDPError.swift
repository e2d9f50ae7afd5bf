package import RTCShareWireFormat

/// Why a text is not a session description, or why one of its lines does not mean what its name says.
///
/// It names the line as a person counts it, the rule with its source, and what to do.
public struct SDPError: Error, Hashable, Sendable {
    /// The rule that a line broke.
    public enum Rule: Hashable, Sendable {
        /// The text is empty, or only white space.
        case empty
        /// The text is JSON, as browsers write a description with its type around it.
        case json
        /// The text is not UTF-8.
        case notUTF8
        /// A byte that no line may hold: NUL, or a carriage return within a line.
        case forbiddenByte(UInt8)
        /// The line is not a letter, `=` and a value.
        case notALine
        /// More of something than is read.
        case limit(of: Limit, maximum: Int)
        /// The first line is not `v=0`.
        case version
        /// The second line is not `o=`.
        case originMissing
        /// A line that may stand only once stands again.
        case repeated(String)
        /// A line, or an attribute, is not what the grammar of its name allows.
        case malformed(String, expected: String, section: String)
        /// An attribute that must be there is not.
        case missing(String, section: String)
    }

    /// What there are bounds to.
    public enum Limit: String, Hashable, Sendable {
        /// Bytes of the whole text.
        case bytes
        /// Bytes of one line.
        case bytesInALine = "bytes in a line"
        /// Lines of the whole text.
        case lines
        /// `m=` lines.
        case mediaSections = "m= lines"
    }

    /// The line, counted from 1; 0 where no line can be named (a description that was not parsed from text).
    public let line: Int
    /// The line's text, shortened where it is long; passwords and keys are left out.
    public let text: String
    /// The rule.
    public let rule: Rule

    /// An error at a line.
    package init(line: Int, text: String, rule: Rule) {
        self.line = line
        self.text = SDPError.printable(text)
        self.rule = rule
    }

    /// An error at a line of a description.
    package init(_ line: SDPLine, rule: Rule) {
        self.init(line: line.number, text: line.description, rule: rule)
    }
}

extension SDPError {
    /// Where the rule is written.
    public var section: String {
        switch rule {
        case .empty, .json, .notALine, .forbiddenByte, .repeated: "RFC 8866 §5"
        case .notUTF8: "RFC 8866 §4.6"
        case .limit: "a limit of this program"
        case .version: "RFC 8866 §5.1"
        case .originMissing: "RFC 8866 §5.2"
        case .malformed(_, _, let section), .missing(_, let section): section
        }
    }

    /// What is wrong, in one sentence without a full stop.
    public var reason: String {
        switch rule {
        case .empty: "there is no session description, only white space"
        case .json: "this is JSON, not a session description"
        case .notUTF8: "the text is not UTF-8"
        case .forbiddenByte(let byte):
            byte == 13 ? "the line contains a carriage return" : "the line contains a byte of value \(byte)"
        case .notALine: "a line must be one letter, \"=\" and a value, without spaces around the \"=\""
        case .limit(let what, let maximum): "more than \(maximum) \(what.rawValue)"
        case .version: "the first line must be \"v=0\""
        case .originMissing: "the second line must be the origin, \"o=\""
        case .repeated(let name): "\"\(name)\" is allowed once, and this is the second"
        case .malformed(let name, let expected, _): "\"\(name)\" must be written \"\(expected)\""
        case .missing(let name, _): "\"\(name)\" is missing"
        }
    }

    /// What to do about it, in one sentence without a full stop.
    public var advice: String {
        switch rule {
        case .empty: "copy the whole description, from \"v=0\" to its last line"
        case .json: "give the value of its \"sdp\" member, with \\r\\n as line ends"
        case .notUTF8: "save the file as UTF-8"
        case .forbiddenByte: "copy the description again, as plain text"
        case .notALine: "copy the description again: a mail or chat program may have wrapped or indented its lines"
        case .limit: "check that this file is a session description"
        case .version, .originMissing: "copy the whole description, from \"v=0\" to its last line"
        case .repeated: "give one description, not two"
        case .malformed: "copy the description again, or correct what is wrong"
        case .missing: "copy the whole description, and check that it comes from a WebRTC peer"
        }
    }

    /// Text that fits an error message: one line, no password, no key.
    static func printable(_ text: String) -> String {
        var shown = text
        for secret in ["ice-pwd:", "a=crypto:"] {
            guard let range = shown.firstRange(of: secret) else { continue }
            shown = shown[..<range.upperBound] + "(hidden)"
        }
        return String(shown.unicodeScalars.prefix(160)).printable + (shown.unicodeScalars.count > 160 ? "…" : "")
    }
}

extension SDPError: CustomStringConvertible {
    /// `line 7, "a=setup:both": … (RFC …); do …`.
    public var description: String { "\(location)\(reason) (\(section)); \(advice)" }

    private var location: String { line > 0 ? "line \(line), \"\(text)\": " : text.isEmpty ? "" : "\"\(text)\": " }
}

extension SDPError: ExplainedError {
    /// The same without where the rule is written.
    package var explanation: Explanation { Explanation(location + reason, remedy: advice) }
}

/// How much of a description is read at most. Real ones stay far below: a conference of a hundred people needs some
/// 200 kilobytes.
package enum SDPLimits {
    /// Bytes of the whole text.
    package static let bytes = 1 << 20
    /// Bytes of one line.
    package static let bytesInALine = 1 << 14
    /// Lines of the whole text.
    package static let lines = 20_000
    /// `m=` lines.
    package static let mediaSections = 512
}
