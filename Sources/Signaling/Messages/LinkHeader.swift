internal import FoundationEssentials
internal import Glibc
internal import RTCShareWireFormat

/// One link of a `Link` header (RFC 8288): its target, and its parameters.
struct LinkHeader: Hashable, Sendable {
    let target: String
    /// The parameters by their names in lower case; the first value of a repeated name.
    let parameters: [String: String]

    /// Parses the links of a header. Ignores invalid ones.
    static func parse(_ text: String) -> [LinkHeader] {
        var reader = LinkReader(text: Substring(text))
        return reader.readAll()
    }

    /// The ICE server for the peer (RFC 9725 §4.6); nil for another link.
    var iceServer: (url: String, username: String?, credential: String?)? {
        let relations = parameters["rel"]?.split(separator: " ").map { $0.lowercased() } ?? []
        guard relations.contains("ice-server") else { return nil }
        return (target, parameters["username"], parameters["credential"])
    }

    /// Whether the target is the state of the session.
    var isState: Bool { parameters["rel"] == Self.stateRelation }

    private static let stateRelation = "urn:rtcshare:state"

    /// Returns the link to the state of a player's session.
    static func state(at target: String) -> String { "<\(target)>; rel=\"\(stateRelation)\"" }

    /// The possible values of an ICE server's link: the literal ones and, if they contain percent signs, the decoded
    /// ones. Servers send both, and a relay simply rejects the wrong ones.
    var iceServerReadings: [(url: String, username: String?, credential: String?)] {
        guard let server = iceServer else { return [] }
        let decoded = (
            url: Self.decoded(server.url), username: server.username.map(Self.decoded),
            credential: server.credential.map(Self.decoded)
        )
        return decoded == server ? [server] : [server, decoded]
    }

    private static func decoded(_ text: String) -> String { text.percentDecoded ?? text }

    /// Returns the link of an ICE server for a player, with the credentials.
    static func iceServer(url: String, username: String?, credential: String?) -> String {
        var link = "<\(url)>; rel=\"ice-server\""
        if let username, let credential {
            link += "; username=\(quoted(username)); credential=\(quoted(credential)); credential-type=\"password\""
        }
        return link
    }

    /// Returns a quoted-string of RFC 9110 §5.6.4, without invalid characters.
    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars where scalar.value >= 0x20 && scalar.value != 0x7F {
            if scalar == "\"" || scalar == "\\" { quoted += "\\" }
            quoted.unicodeScalars.append(scalar)
        }
        return quoted + "\""
    }
}

private struct LinkReader {
    var text: Substring
    /// The maximum number of links that are read.
    private static let maximumCount = 32

    init(text: Substring) { self.text = text }

    mutating func readAll() -> [LinkHeader] {
        var links: [LinkHeader] = []
        while links.count < Self.maximumCount {
            skip { $0 == " " || $0 == "\t" || $0 == "," }
            guard !text.isEmpty else { break }
            if let link = readLink() { links.append(link) } else { skip { $0 != "," } }
        }
        return links
    }

    private mutating func readLink() -> LinkHeader? {
        guard text.first == "<" else { return nil }
        guard let end = text.firstIndex(of: ">") else {
            // No further link ends either, and each would be searched to the end of the text.
            text = ""
            return nil
        }
        let target = String(text[text.index(after: text.startIndex)..<end].trimmingSpaces)
        text = text[text.index(after: end)...]
        var parameters: [String: String] = [:]
        while true {
            skip { $0 == " " || $0 == "\t" }
            guard text.first == ";" else { break }
            text.removeFirst()
            skip { $0 == " " || $0 == "\t" }
            let name = take { !" \t=;,".contains($0) }.lowercased()
            skip { $0 == " " || $0 == "\t" }
            var value = ""
            if text.first == "=" {
                text.removeFirst()
                skip { $0 == " " || $0 == "\t" }
                value = text.first == "\"" ? takeQuoted() : String(take { !" \t;,".contains($0) })
            }
            if !name.isEmpty, parameters[name] == nil { parameters[name] = value }
        }
        return LinkHeader(target: target, parameters: parameters)
    }

    private mutating func takeQuoted() -> String {
        text.removeFirst()
        var value = ""
        while let character = text.popFirst(), character != "\"" {
            if character == "\\", let escaped = text.popFirst() {
                value.append(escaped)
            } else {
                value.append(character)
            }
        }
        return value
    }

    private mutating func take(while isTaken: (Character) -> Bool) -> Substring {
        let taken = text.prefix(while: isTaken)
        text = text[taken.endIndex...]
        return taken
    }

    private mutating func skip(while isSkipped: (Character) -> Bool) { _ = take(while: isSkipped) }
}
