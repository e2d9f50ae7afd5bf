package import RTCShareWireFormat

/// An ICE candidate as `a=candidate` writes it (RFC 8839 §5.1, TCP: RFC 6544 §4.5).
package struct CandidateAttribute: Hashable, Sendable {
    /// Where a candidate is: an address, or a name to be resolved, such as a `.local` one of multicast DNS.
    package enum Host: Hashable, Sendable, CustomStringConvertible {
        /// A literal address.
        case address(IPAddress)
        /// A name.
        case name(String)

        /// The host of a candidate's text; a literal address where it is one.
        package init(_ text: String) {
            self = IPAddress(text).map(Host.address) ?? .name(text)
        }

        /// As the attribute writes it.
        package var description: String {
            switch self {
            case .address(let address): "\(address)"
            case .name(let name): name
            }
        }
    }

    /// How a candidate was found (RFC 8839 §5.1).
    package enum Kind: Hashable, Sendable, CustomStringConvertible {
        /// An address of the machine itself.
        case host
        /// What a STUN server saw.
        case serverReflexive
        /// What a peer saw.
        case peerReflexive
        /// An address of a TURN server.
        case relayed
        /// A kind that this project does not know; such candidates are passed over.
        case other(String)

        /// The kind of a word.
        package init(_ word: String) {
            switch word {
            case "host": self = .host
            case "srflx": self = .serverReflexive
            case "prflx": self = .peerReflexive
            case "relay": self = .relayed
            default: self = .other(word)
            }
        }

        /// As the attribute writes it.
        package var description: String {
            switch self {
            case .host: "host"
            case .serverReflexive: "srflx"
            case .peerReflexive: "prflx"
            case .relayed: "relay"
            case .other(let word): word
            }
        }
    }

    /// A name and a value after the fixed fields, such as `generation 0` or `network-cost 999`.
    package struct Extension: Hashable, Sendable {
        /// The name.
        package let name: String
        /// The value; nil only for the last name of a line that ends with it.
        package let value: String?

        /// A name with its value.
        package init(_ name: String, _ value: String?) {
            self.name = name
            self.value = value
        }
    }

    /// The attribute's name, as it stands before its value.
    private static let prefix = "candidate:"

    /// Candidates with the same base, kind, protocol and server share one. RFC 8839 §5.1 has 1 to 32 ice-chars; what a
    /// peer writes is only compared.
    package var foundation: String
    /// 1 for RTP, or for RTP and RTCP on one port.
    package var component: UInt16
    /// `UDP`, `TCP` or another name, as it was written; compare with ``isUDP``.
    package var transport: String
    /// The higher the better.
    package var priority: UInt32
    /// The address or name.
    package var host: Host
    /// The port.
    package var port: UInt16
    /// How the candidate was found.
    package var kind: Kind
    /// The address that a reflexive or relayed candidate stands for.
    package var relatedHost: Host?
    /// The port that goes with ``relatedHost``.
    package var relatedPort: UInt16?
    /// `active`, `passive` or `so`, of TCP candidates.
    package var tcpType: String?
    /// What follows, in order.
    package var extensions: [Extension]

    /// A candidate of a UDP socket.
    package init(
        foundation: String, component: UInt16 = 1, priority: UInt32, host: Host, port: UInt16, kind: Kind,
        relatedHost: Host? = nil, relatedPort: UInt16? = nil, extensions: [Extension] = []
    ) {
        self.foundation = foundation
        self.component = component
        transport = "udp"
        self.priority = priority
        self.host = host
        self.port = port
        self.kind = kind
        self.relatedHost = relatedHost
        self.relatedPort = relatedPort
        self.extensions = extensions
    }

    /// Parses the whole attribute with its name, as ``description`` and browsers have it, or its value alone.
    package init?(_ text: some StringProtocol) {
        let hasName = text.utf8.starts(with: Self.prefix.utf8)
        var fields = String(hasName ? text.dropFirst(Self.prefix.count) : text[...]).fields[...]
        guard fields.count >= 8, let foundation = fields.popFirst(),
            let component = fields.popFirst()?.decimal(UInt16.self),
            let transport = fields.popFirst(), transport.isToken,
            let priority = fields.popFirst()?.decimal(UInt32.self),
            let host = fields.popFirst(), let port = fields.popFirst()?.decimal(UInt16.self),
            fields.popFirst() == "typ", let kind = fields.popFirst(), kind.isToken
        else { return nil }
        self.foundation = String(foundation)
        self.component = component
        self.transport = String(transport)
        self.priority = priority
        self.host = Host(String(host))
        self.port = port
        self.kind = Kind(String(kind))
        extensions = []
        while let name = fields.popFirst() {
            guard let value = fields.popFirst() else {
                extensions.append(Extension(String(name), nil))
                return
            }
            switch name {
            case "raddr" where relatedHost == nil && extensions.isEmpty:
                relatedHost = Host(String(value))
            case "rport" where relatedPort == nil && extensions.isEmpty:
                guard let port = value.decimal(UInt16.self) else { return nil }
                relatedPort = port
            case "tcptype" where tcpType == nil && extensions.isEmpty && !isUDP:
                tcpType = String(value)
            default:
                extensions.append(Extension(String(name), String(value)))
            }
        }
    }

    /// Whether the candidate is of UDP, however it is spelled.
    package var isUDP: Bool { transport.lowercased() == "udp" }

    /// The value of a named extension.
    package func extensionValue(_ name: String) -> String? {
        extensions.first { $0.name == name }?.value
    }
}

extension CandidateAttribute: CustomStringConvertible {
    /// The whole attribute with its name, as W3C's `RTCIceCandidate.candidate` is and as peers trickle it (RFC 8839 §5.1,
    /// RFC 8829 §3.5.2.1).
    package var description: String { "\(Self.prefix)\(value)" }

    /// What follows `a=candidate:` in a description.
    package var value: String {
        var text = "\(foundation) \(component) \(transport) \(priority) \(host) \(port) typ \(kind)"
        if let relatedHost { text += " raddr \(relatedHost)" }
        if let relatedPort { text += " rport \(relatedPort)" }
        if let tcpType { text += " tcptype \(tcpType)" }
        for item in extensions { text += " \(item.name)" + (item.value.map { " \($0)" } ?? "") }
        return text
    }
}
