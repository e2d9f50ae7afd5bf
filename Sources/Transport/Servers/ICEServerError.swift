package import RTCShareWireFormat

/// The reason why a STUN or TURN server can't be used. No case contains a password.
public enum ICEServerError: Error, Sendable, Hashable {
    /// The URL does not conform to RFC 7064 or RFC 7065; its user name and password are removed.
    case invalidURL(String, reason: Reason)
    /// A relay requires credentials, and there are none.
    case missingCredentials(url: String)
    /// User name, password or shared secret is empty, or a user name or password has characters that RFC 8265
    /// excludes, or the user name is too long.
    case unusableCredentials(url: String)
    /// The server's name has no address.
    case unresolvable(host: String)
    /// No name server answers for the server's name.
    case unanswered(host: String)

    /// The fault in a URL.
    public enum Reason: Sendable, Hashable {
        /// Another scheme, or none.
        case scheme
        /// No host, or an invalid one.
        case host
        /// A port that is not a number from 1 to 65535.
        case port
        /// An unknown query after the question mark.
        case query
        /// The scheme `stuns:`. The address of a TLS connection that the server sees is useless for datagrams.
        case secureSTUN
        /// The scheme `turns:` over UDP, which would be DTLS.
        case secureDatagrams
        /// User name and password for a STUN server, which needs none.
        case needlessCredentials
        /// User name and password that are not `USER:PASSWORD`, percent-encoded where necessary.
        case userInformation
    }
}

extension ICEServerError: CustomStringConvertible {
    /// The failure, its reason and a remedy.
    public var description: String { explanation.text }
}

extension ICEServerError: ExplainedError {
    /// The failure and its reason and, separately, a remedy.
    package var explanation: Explanation { explanation(naming: \.description) }

    /// Returns the explanation with a program's own names for settings.
    package func explanation(naming name: (NetworkAdvice.Setting) -> String) -> Explanation {
        switch self {
        case .invalidURL(let url, let reason): reason.explanation("can't use the server \(url)")
        case .missingCredentials(let url):
            Explanation("\(url) needs a user name and a password", remedy: name(.credentials))
        case .unusableCredentials(let url):
            "can't use the user name, password or secret for \(url): it is empty, too long, or has control characters"
        case .unresolvable(let host):
            Explanation("the name \(host) has no address", remedy: "check its spelling and this machine's DNS")
        case .unanswered(let host):
            Explanation(
                "the name \(host) was not found: DNS did not answer", remedy: "check this machine's network and its DNS"
            )
        }
    }
}

extension ICEServerError.Reason: CustomStringConvertible {
    /// The problem, and the valid form.
    public var description: String { "\(words.problem); \(words.remedy)" }

    fileprivate func explanation(_ introduction: String) -> Explanation {
        Explanation("\(introduction): \(words.problem)", remedy: words.remedy)
    }

    private var words: (problem: String, remedy: String) {
        switch self {
        case .scheme:
            ("it is not a STUN or TURN URL", "write stun:HOST, turn:HOST or turns:HOST, each with an optional :PORT")
        case .host: ("it names no host", "write stun:HOST or turn:HOST without //, and an IPv6 address in brackets")
        case .port: ("its port is not a number from 1 to 65535", "write stun:HOST:PORT, or leave the port out")
        case .query:
            (
                "it has an unknown part after the host",
                "write only ?transport=udp or ?transport=tcp there, and only for turn: and turns:"
            )
        case .secureSTUN:
            ("STUN over TLS finds nothing out about UDP", "use stun:, or turns: if UDP is blocked")
        case .secureDatagrams:
            ("TURN over DTLS is not supported", "leave ?transport=udp out to use TLS over TCP")
        case .needlessCredentials:
            ("a STUN server takes no user name and password", "leave both out")
        case .userInformation:
            (
                "the part before @ is not USER:PASSWORD",
                "write : / @ ? # and % in them as %3A %2F %40 %3F %23 and %25"
            )
        }
    }
}
