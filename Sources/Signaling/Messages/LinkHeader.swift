internal import FoundationEssentials
internal import Glibc
internal import RTCShareWireFormat

/// One link of a `Link` header (RFC 8288): where it leads, and its parameters.
struct LinkHeader: Hashable, Sendable {
    let target: String
    /// By their names in lower case; of a name that comes twice the first value.
    let parameters: [String: String]

    /// The links of a header; what is not understood is left out, for it is not ours.
    static func parse(_ text: String) -> [LinkHeader] {
        var reader = LinkReader(text: Substring(text))
        return reader.readAll()
    }

    /// An ICE server for the peer (RFC 9725 §4.6); nil for a link to something else.
    var iceServer: (url: String, username: String?, credential: String?)? {
        let relations = parameters["rel"]?.split(separator: " ").map { $0.lowercased() } ?? []
        guard relations.contains("ice-server") else { return nil }
        return (target, parameters["username"], parameters["credential"])
    }

    /// Whether it leads to the state of the session.
    var isState: Bool { parameters["rel"] == Self.stateRelation }

    private static let stateRelation = "urn:rtcshare:state"

    /// The link that tells a player where the state of its session is.
    static func state(at target: String) -> String { "<\(target)>; rel=\"\(stateRelation)\"" }

    /// What the link of an ICE server may mean: what stands there, and where that has percent signs in it, decoded. Servers
    /// write both, and asking a relay with the wrong words harms nobody.
    var iceServerReadings: [(url: String, username: String?, credential: String?)] {
        guard let server = iceServer else { return [] }
        let decoded = (
            url: Self.decoded(server.url), username: server.username.map(Self.decoded),
            credential: server.credential.map(Self.decoded)
        )
        return decoded == server ? [server] : [server, decoded]
    }

    private static func decoded(_ text: String) -> String { text.percentDecoded ?? text }

    /// The link that tells a player of an ICE server, with what it asks of its user.
    static func iceServer(url: String, username: String?, credential: String?) -> String {
        var link = "<\(url)>; rel=\"ice-server\""
        if let username, let credential {
            link += "; username=\(quoted(username)); credential=\(quoted(credential)); credential-type=\"password\""
        }
        return link
    }

    /// A quoted-string of RFC 9110 §5.6.4; what no header may hold is left out.
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
    /// A header names few; the rest is not read.
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
        guard text.first == "<", let end = text.firstIndex(of: ">") else { return nil }
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
