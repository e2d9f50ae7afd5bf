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
    /// What failed, why, and what to try.
    public var description: String { words(naming: \.description) }

    /// The same in the words of a program that has names of its own for what is to be set.
    package func words(naming name: (NetworkAdvice.Setting) -> String) -> String {
        switch self {
        case .invalidURL(let url, let reason): "can't use the server \(url): \(reason)"
        case .missingCredentials(let url):
            "\(url) needs a user name and a password: \(name(.credentials))"
        case .unusableCredentials(let url):
            "the user name or password for \(url) is empty, too long, or holds control characters: check both"
        case .unresolvable(let host):
            "the name \(host) has no address; check its spelling and the machine's DNS"
        case .unanswered(let host):
            "the name \(host) was not found: DNS did not answer; check the machine's network and its DNS"
        }
    }
}

extension ICEServerError.Reason: CustomStringConvertible {
    /// What is wrong, and how it is written right.
    public var description: String {
        switch self {
        case .scheme: "write stun:HOST, turn:HOST or turns:HOST, each with :PORT behind it where that is another"
        case .host: "it names no host; an IPv6 address stands in brackets"
        case .port: "a port is a number from 1 to 65535"
        case .query: "behind the host only ?transport=udp or ?transport=tcp of a turn: or turns: URL means something"
        case .secureSTUN:
            "what a STUN server sees of a TLS connection says nothing about datagrams; use stun:, or turns: where UDP is "
                + "blocked"
        case .secureDatagrams: "TURN over DTLS is not supported; leave ?transport=udp out for TLS over TCP"
        case .needlessCredentials: "a STUN server asks nobody for a password; leave user and password out"
        case .userInformation:
            "before the @ stands USER:PASSWORD; write : / @ ? # and % in them as %3A %2F %40 %3F %23 and %25"
        }
    }
}
