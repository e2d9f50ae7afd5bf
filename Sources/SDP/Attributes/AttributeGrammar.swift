/// The grammar of each attribute that this module reads, for errors and explanations.
enum AttributeGrammar: String {
    case group, mid, msid, setup, fingerprint, candidate, rtpmap, fmtp, extmap, ssrc, rtcp, content, rid, simulcast
    case sourceGroup = "ssrc-group"
    case feedback = "rtcp-fb"
    case usernameFragment = "ice-ufrag"
    case password = "ice-pwd"
    case iceOptions = "ice-options"

    var expected: String {
        switch self {
        case .group: "<semantics> <mid> …"
        case .mid: "<token>"
        case .msid: "<stream id> [<track id>]"
        case .setup: "active|passive|actpass|holdconn"
        case .fingerprint: "<hash function> <pairs of hexadecimal digits, with colons between, all of the hash>"
        case .candidate:
            "<foundation> <component> <transport> <priority> <address> <port> typ <kind> [raddr … rport …] …"
        case .rtpmap: "<payload type 0-127> <encoding>/<clock rate>[/<parameters>]"
        case .fmtp: "<format> <parameters>"
        case .extmap: "<id 1-255>[/<direction>] <uri>"
        case .ssrc: "<ssrc> <attribute>[:<value>]"
        case .sourceGroup: "<semantics> <ssrc> …"
        case .rtcp: "<port> [IN IP4|IP6 <address>]"
        case .content: "<token>[,<token>…]"
        case .rid: "<id> send|recv [pt=<payload type>,…][;<restriction>…]"
        case .simulcast: "send|recv <id>[,<alternative id>…][;<id of the next stream>…] …"
        case .feedback: "<payload type or *> <kind>"
        case .usernameFragment: "<4 to 256 ASCII characters without spaces or colons>"
        case .password: "<22 to 256 ASCII characters without spaces>"
        case .iceOptions: "<option> …"
        }
    }

    var section: String {
        switch self {
        case .group, .mid: "RFC 5888 §4-5"
        case .msid: "RFC 8830 §2"
        case .setup: "RFC 4145 §4"
        case .fingerprint: "RFC 8122 §5"
        case .candidate: "RFC 8839 §5.1"
        case .rtpmap: "RFC 8866 §6.6"
        case .fmtp: "RFC 8866 §6.15"
        case .extmap: "RFC 8285 §8"
        case .ssrc: "RFC 5576 §4.1"
        case .sourceGroup: "RFC 5576 §4.2"
        case .rtcp: "RFC 3605 §2.1"
        case .content: "RFC 4796 §4"
        case .rid: "RFC 8851 §10"
        case .simulcast: "RFC 8853 §5.1"
        case .feedback: "RFC 4585 §4.2"
        case .usernameFragment, .password: "RFC 8839 §5.4"
        case .iceOptions: "RFC 8839 §5.6"
        }
    }

    func malformed(_ line: SDPLine) -> SDPError {
        SDPError(line, rule: .malformed("a=\(rawValue)", expected: expected, section: section))
    }
}

extension SDPSection {
    /// Returns the value of the first attribute of a name. Throws an error at its line if the value is malformed.
    func first<Value>(_ grammar: AttributeGrammar, _ read: (Substring) -> Value?) throws(SDPError) -> Value? {
        guard let line = attribute(grammar.rawValue) else { return nil }
        guard let value = line.attributeValue.flatMap(read) else { throw grammar.malformed(line) }
        return value
    }

    /// Returns the values of all attributes of a name. Throws an error at the line of the first malformed one.
    func all<Value>(_ grammar: AttributeGrammar, _ read: (Substring) -> Value?) throws(SDPError) -> [Value] {
        var values: [Value] = []
        for line in attributes(grammar.rawValue) {
            guard let value = line.attributeValue.flatMap(read) else { throw grammar.malformed(line) }
            values.append(value)
        }
        return values
    }
}
