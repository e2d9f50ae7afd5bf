package import RTCShareWireFormat

/// Why a server that helps to connect can't be used. No case holds a password.
public enum ICEServerError: Error, Sendable, Hashable {
    /// The URL is none of RFC 7064 and RFC 7065; with user and password left out.
    case invalidURL(String, reason: Reason)
    /// A relay asks who uses it, and nobody said.
    case missingCredentials(url: String)
    /// User name or password is empty or holds what RFC 8265 has no place for, or the user name is too long.
    case unusableCredentials(url: String)
    /// The server's name has no address.
    case unresolvable(host: String)
    /// No name server answers for the server's name.
    case unanswered(host: String)

    /// What is wrong with a URL.
    public enum Reason: Sendable, Hashable {
        /// Another scheme, or none.
        case scheme
        /// No host, or one that can't be a host.
        case host
        /// No number from 1 to 65535.
        case port
        /// Something behind the question mark that means nothing there.
        case query
        /// `stuns:`; what a server sees of a TLS connection is of no use for datagrams.
        case secureSTUN
        /// `turns:` over UDP: DTLS.
        case secureDatagrams
        /// User and password before a STUN server, which asks nobody.
        case needlessCredentials
        /// User and password are not `USER:PASSWORD` with percent signs where those are needed.
        case userInformation
    }
}

extension ICEServerError: CustomStringConvertible {
    /// The failure, its reason and its remedy.
    public var description: String { explanation.text }
}

extension ICEServerError: ExplainedError {
    /// What failed, and why; apart, what to try.
    package var explanation: Explanation { explanation(naming: \.description) }

    /// The same in the words of a program that has names of its own for what is to be set.
    package func explanation(naming name: (NetworkAdvice.Setting) -> String) -> Explanation {
        switch self {
        case .invalidURL(let url, let reason): reason.explanation("can't use the server \(url)")
        case .missingCredentials(let url):
            Explanation("\(url) needs a user name and a password", remedy: name(.credentials))
        case .unusableCredentials(let url):
            "can't use the user name or password for \(url): it is empty, too long, or has control characters"
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
    /// What is wrong, and how it is written right.
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
