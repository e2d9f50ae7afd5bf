internal import FoundationEssentials
internal import RTCSharePeerConnection
internal import RTCShareSDP

/// A session description that a person passes: as plain text, or as browsers, mail programs and web pages change it.
struct PastedDescription {
    /// The format that contains a description which is not plain text.
    enum Wrapping: String {
        case json = "JSON"
        case html = "an HTML page"
        case mail = "a quoted or wrapped message"
        case base64 = "text in base64"
    }

    /// The type of a description.
    enum Kind: String {
        case offer, answer

        fileprivate var other: Kind { self == .offer ? .answer : .offer }
        /// The type with its article.
        var words: String { self == .offer ? "an offer" : "an answer" }
    }

    /// The description, with one line per line.
    let text: String
    /// The format from which the description was taken. Nil for plain text.
    private(set) var wrapping: Wrapping?
    /// The type according to the JSON. Nil if there is none.
    private(set) var kind: Kind?

    private init(_ text: String, _ wrapping: Wrapping? = nil, kind: Kind? = nil) {
        self.text = text
        self.wrapping = wrapping
        self.kind = kind
    }

    /// Finds the description in a text. Messages call the text `name` and the expected description `what`. With
    /// `takesAnyText`, lines that can be meant as a description are accepted unchanged.
    init(
        in text: String, name: String, expecting what: String, takesAnyText: Bool = false
    ) throws(CommandFailure) {
        let text = text.replacing("\u{FEFF}", with: "").trimmed
        guard let first = text.first else {
            throw CommandFailure(.badInput, "\(name) is empty", try: "copy \(what), from \"v=0\" to its last line")
        }
        if let found = Self.find(in: text) {
            self = found
            return
        }
        if takesAnyText, !"{[\"<".contains(first), text.split(whereSeparator: \.isNewline).contains(where: Self.isLine)
        {
            self.init(text + "\r\n")
            return
        }
        let problem =
            switch first {
            case "{", "[", "\"": "\(name) is JSON without a session description: no \"sdp\" that begins with v=0"
            case "<": "\(name) is an HTML page, not a session description"
            case _ where text.contains("v=3D0"):
                "\(name) is a mail as it is sent (quoted-printable), not its text"
            default:
                "\(name) is not a session description: it begins with \"\(text.prefix { !$0.isNewline }.prefix(40))\""
            }
        throw CommandFailure(.badInput, problem, try: "copy \(what), from \"v=0\" to its last line")
    }

    private static func find(in text: String) -> PastedDescription? {
        switch text.first {
        case "{", "[", "\"": json(text)
        case "<": html(text)
        default: plain(text) ?? base64(text) ?? embedded(text)
        }
    }

    // MARK: JSON

    /// Returns a description as `JSON.stringify` writes it, or one inside an application's JSON.
    private static func json(_ text: String) -> PastedDescription? {
        guard let value = try? JSONDecoder().decode(JSONNode.self, from: Data(text.utf8)) else { return nil }
        return description(in: value)
    }

    private static func description(in node: JSONNode) -> PastedDescription? {
        switch node {
        case .text(let text):
            if begins(text) { return PastedDescription(text, .json) }
            return text.first == "{" ? json(text) : nil
        case .members(let members):
            if case .text(let text)? = members["sdp"], begins(text) {
                guard case .text(let type)? = members["type"] else { return PastedDescription(text, .json) }
                return PastedDescription(text, .json, kind: type == "pranswer" ? .answer : Kind(rawValue: type))
            }
            return members.values.lazy.compactMap { description(in: $0) }.first
        case .elements(let elements): return elements.lazy.compactMap { description(in: $0) }.first
        case .other: return nil
        }
    }

    private static func begins(_ text: String) -> Bool { text.trimmed.hasPrefix("v=0") }

    /// Returns a description in JSON with text around it: a message, or marks of a quotation or of code.
    private static func embedded(_ text: String) -> PastedDescription? {
        let text = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map(unquoted)
            .joined(separator: "\n")
        guard let begin = text.firstIndex(of: "{"), let end = text.lastIndex(of: "}"), begin < end else { return nil }
        return json(String(text[begin...end]))
    }

    // MARK: Base64

    /// Returns a description, or JSON with one, that a program encoded to preserve its lines.
    private static func base64(_ text: String) -> PastedDescription? {
        guard let bytes = Data(base64Encoded: text.filter { !$0.isWhitespace }), !bytes.isEmpty,
            let decoded = String(validating: bytes, as: UTF8.self), var found = find(in: decoded.trimmed)
        else { return nil }
        found.wrapping = .base64
        return found
    }

    // MARK: HTML

    /// The maximum number of positions in a page that are tried.
    private static let mostPlaces = 16

    /// Returns a description in a text field or in the text of a saved page.
    private static func html(_ page: String) -> PastedDescription? {
        let page = page.replacing("&#61;", with: "=").replacing("&equals;", with: "=")
        var rest = page[...]
        for _ in 0..<mostPlaces {
            guard let start = rest.firstRange(of: "v=0") else { return nil }
            let before = page[..<start.lowerBound]
            // A field can contain JSON.
            let field = before.lastIndex(of: ">").map { page.index(after: $0) } ?? page.startIndex
            for begin in [field, start.lowerBound] {
                let text = HTMLText.plain(page[begin...]).trimmed
                if text.first != "<", let found = find(in: text), found.isValid {
                    return PastedDescription(found.text, .html, kind: found.kind)
                }
            }
            rest = rest[start.upperBound...]
        }
        return nil
    }

    // MARK: Mail

    /// Returns a description with text before and after it, quoted, indented or with wrapped long lines.
    private static func plain(_ text: String) -> PastedDescription? {
        guard begins(text) else { return unwrapped(text) }
        let plain = PastedDescription(text + "\r\n")
        if plain.isValid { return plain }
        // Errors are reported for the unchanged text, unless undoing the changes makes it valid.
        return unwrapped(text).flatMap { $0.isValid ? $0 : nil } ?? plain
    }

    private var isValid: Bool { (try? SessionDescription.parse(text)) != nil }

    private static func unwrapped(_ text: String) -> PastedDescription? {
        // In a JSON string, line ends are escaped.
        let text = text.replacing("\\r\\n", with: "\n").replacing("\\n", with: "\n")
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map(unquoted)
        guard let start = lines.firstIndex(of: "v=0") else { return nil }
        var found: [String] = []
        var isAfterGap = false
        for line in lines[start...] {
            if line.isEmpty {
                isAfterGap = true
            } else if isLine(line) {
                found.append(line)
                isAfterGap = false
            } else if isAfterGap || line.hasPrefix("```") {
                break
            } else if let last = found.last, isWrapped(last, before: line) {
                found[found.count - 1] = last + (isWord(last) ? "" : " ") + line
            } else {
                found.append(line)
            }
        }
        return PastedDescription(found.map { $0 + "\r\n" }.joined(), .mail)
    }

    /// Returns whether a line was wrapped at a space, as programs do between 60 and 80 characters.
    private static func isWrapped(_ line: String, before rest: String) -> Bool {
        line.count <= 80 && line.count + rest.count > 60
    }

    /// Returns whether a line ends with a word that has no spaces, which a terminal breaks anywhere.
    private static func isWord(_ line: String) -> Bool {
        line.hasPrefix("a=ice-pwd:") || line.hasPrefix("a=fingerprint:") && line.contains(" ")
    }

    /// Returns a line without quotation marks of mail programs and without indentation.
    private static func unquoted(_ line: Substring) -> String {
        String(line.drop { $0 == ">" || $0 == "|" || $0.isWhitespace }).trimmed
    }

    private static func isLine(_ line: some StringProtocol) -> Bool {
        line.dropFirst().first == "=" && line.first.map { $0.isASCII && $0.isLowercase } == true
    }
}

/// A JSON value.
private enum JSONNode: Decodable {
    case text(String)
    case members([String: JSONNode])
    case elements([JSONNode])
    case other

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let members = try? container.decode([String: JSONNode].self) {
            self = .members(members)
        } else if let elements = try? container.decode([JSONNode].self) {
            self = .elements(elements)
        } else {
            self = .other
        }
    }
}

/// The visible text of an HTML element.
private enum HTMLText {
    private static let lineEnds = ["<br>", "<br/>", "<br />", "</p>", "</div>", "</li>"]
    private static let lineBegins = ["<p>", "<div>", "<li>"]
    private static let names = ["lt": "<", "gt": ">", "amp": "&", "quot": "\"", "apos": "'", "nbsp": " "]

    /// Returns the text up to the next tag that is not a line break.
    static func plain(_ markup: Substring) -> String {
        var text = String(markup)
        for end in lineEnds { text = text.replacing(end, with: "\n").replacing(end.uppercased(), with: "\n") }
        for begin in lineBegins { text = text.replacing(begin, with: "").replacing(begin.uppercased(), with: "") }
        return decoded(text.prefix { $0 != "<" })
    }

    /// Returns the text with its character references replaced.
    private static func decoded(_ text: Substring) -> String {
        var result = ""
        var rest = text
        while let start = rest.firstIndex(of: "&") {
            result += rest[..<start]
            let reference = rest[rest.index(after: start)...].prefix(10)
            guard let end = reference.firstIndex(of: ";"), let character = character(reference[..<end]) else {
                result.append("&")
                rest = rest[rest.index(after: start)...]
                continue
            }
            result += character
            rest = rest[rest.index(after: end)...]
        }
        return result + rest
    }

    private static func character(_ reference: Substring) -> String? {
        guard reference.first == "#" else { return names[String(reference)] }
        let digits = reference.dropFirst()
        let isHexadecimal = digits.first == "x" || digits.first == "X"
        let code = isHexadecimal ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        return code.flatMap(Unicode.Scalar.init).map { String($0) }
    }
}

// MARK: -

extension PastedDescription {
    /// Returns the parsed description. Messages call the text `name`.
    /// - Throws: An error with the reason, also if the description is of the other type.
    func parsed(as kind: Kind, name: String) throws(CommandFailure) -> SessionDescription {
        if self.kind == kind.other { throw Self.wrongKind(kind.other, name: name) }
        do throws(SDPError) {
            return try SessionDescription.parse(text)
        } catch {
            throw Self.failure(at: error.line, error.text, error.reason, try: error.advice, name: name)
        }
    }

    /// Returns the failure of a description of this type that does not fit its counterpart.
    static func failure(
        _ error: NegotiationError, with description: SessionDescription, _ kind: Kind, name: String
    ) -> CommandFailure {
        switch error.rule {
        case .ownOffer:
            CommandFailure(
                .badInput, "\(name) is the offer itself, not an answer to it",
                try: "give the offer to the viewer, and use the answer that it returns")
        case .offerInsteadOfAnswer: wrongKind(.offer, name: name)
        case .sectionCount, .sectionKind, .mid:
            CommandFailure(
                .badInput, "\(name) belongs to another offer, or to one that was used already",
                try: "use the answer to the newest offer, or make a new offer and give it to the viewer")
        default:
            if kind == .offer, description.isAnswer {
                wrongKind(.answer, name: name)
            } else {
                failure(at: error.line, error.text, error.reason, try: error.advice, name: name)
            }
        }
    }

    private static func wrongKind(_ found: Kind, name: String) -> CommandFailure {
        let remedy =
            found == .answer
            ? "give it to the presenter, who runs rtcshare send --answer FILE"
            : "give the offer to the viewer, and use the answer that it returns"
        return CommandFailure(.badInput, "\(name) is \(found.words), not \(found.other.words)", try: remedy)
    }

    private static func failure(
        at line: Int, _ text: String, _ reason: String, try remedy: String, name: String
    ) -> CommandFailure {
        let place = line > 0 ? "line \(line) of \(name), \"\(text)\"" : name
        return CommandFailure(.badInput, "\(place): \(reason)", try: remedy)
    }
}

extension SessionDescription {
    /// Whether the description has a DTLS role, as answers do and WebRTC's offers do not (RFC 8842 §5).
    fileprivate var isAnswer: Bool {
        let setups = media.compactMap { ($0.attribute("setup") ?? attribute("setup"))?.attributeValue }
        return !setups.isEmpty && setups.allSatisfy { $0 == "active" || $0 == "passive" }
    }
}
