package import RTCShareWireFormat

/// An error in a text that is not a session description, or in a line that is malformed.
///
/// It contains the line number, the rule with its source, and the remedy.
public struct SDPError: Error, Hashable, Sendable {
    /// The rule that a line broke.
    public enum Rule: Hashable, Sendable {
        /// The text is empty, or only white space.
        case empty
        /// The text is JSON, such as a browser's `RTCSessionDescription`.
        case json
        /// The text is not UTF-8.
        case notUTF8
        /// The text has a byte that is not allowed in a line: NUL, or a carriage return within a line.
        case forbiddenByte(UInt8)
        /// The line is not a letter, `=` and a value.
        case notALine
        /// The text exceeds a limit.
        case limit(of: Limit, maximum: Int)
        /// The first line is not `v=0`.
        case version
        /// The second line is not `o=`.
        case originMissing
        /// A line that is allowed once is repeated.
        case repeated(String)
        /// A line or an attribute does not follow the grammar of its name.
        case malformed(String, expected: String, section: String)
        /// A required attribute is missing.
        case missing(String, section: String)
    }

    /// A quantity of a text that is limited.
    public enum Limit: String, Hashable, Sendable {
        /// The bytes of the whole text.
        case bytes
        /// The bytes of one line.
        case bytesInALine = "bytes in a line"
        /// The lines of the whole text.
        case lines
        /// The `m=` lines.
        case mediaSections = "m= lines"
    }

    /// The line number, counted from 1; 0 if the description was not parsed from text.
    public let line: Int
    /// The line's text, shortened if it is long, without passwords and keys.
    public let text: String
    /// The rule that the line breaks.
    public let rule: Rule

    /// Creates an error at a line.
    package init(line: Int, text: String, rule: Rule) {
        self.line = line
        self.text = SDPError.printable(text)
        self.rule = rule
    }

    /// Creates an error at a line of a description.
    package init(_ line: SDPLine, rule: Rule) {
        self.init(line: line.number, text: line.description, rule: rule)
    }
}

extension SDPError {
    /// The section of the document that contains the rule.
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

    /// The error, in one sentence without a period.
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

    /// The remedy, in one sentence without a period.
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

    /// Returns the text in a form for error messages: one line without passwords and keys.
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
    /// The location, the rule and the remedy in the form `line 7, "a=setup:both": … (RFC …); do …`.
    public var description: String { "\(location)\(reason) (\(section)); \(advice)" }

    private var location: String { line > 0 ? "line \(line), \"\(text)\": " : text.isEmpty ? "" : "\"\(text)\": " }
}

extension SDPError: ExplainedError {
    /// The same explanation without the section of the document.
    package var explanation: Explanation { Explanation(location + reason, remedy: advice) }
}

/// The limits of a description. Real descriptions are far smaller: a conference of a hundred people needs some 200
/// kilobytes.
package enum SDPLimits {
    /// The maximum number of bytes of the whole text.
    package static let bytes = 1 << 20
    /// The maximum number of bytes of one line.
    package static let bytesInALine = 1 << 14
    /// The maximum number of lines of the whole text.
    package static let lines = 20_000
    /// The maximum number of `m=` lines.
    package static let mediaSections = 512
}
