package import RTCShareWireFormat

/// An ICE candidate in the format of `a=candidate` (RFC 8839 §5.1, TCP: RFC 6544 §4.5).
package struct CandidateAttribute: Hashable, Sendable {
    /// A candidate's host: an address, or a name to resolve, such as a `.local` name of multicast DNS.
    package enum Host: Hashable, Sendable, CustomStringConvertible {
        /// A literal address.
        case address(IPAddress)
        /// A name.
        case name(String)

        /// Creates the host from a candidate's text.
        package init(_ text: String) {
            self = IPAddress(text).map(Host.address) ?? .name(text)
        }

        /// The host in the format of the attribute.
        package var description: String {
            switch self {
            case .address(let address): "\(address)"
            case .name(let name): name
            }
        }
    }

    /// The type of a candidate (RFC 8839 §5.1).
    package enum Kind: Hashable, Sendable, CustomStringConvertible {
        /// An address of the machine itself.
        case host
        /// An address from a STUN server's response.
        case serverReflexive
        /// An address that a peer observed in a check.
        case peerReflexive
        /// An address of a TURN server.
        case relayed
        /// A type that this project does not know; such candidates are ignored.
        case other(String)

        /// Creates the type from its word in the attribute.
        package init(_ word: String) {
            switch word {
            case "host": self = .host
            case "srflx": self = .serverReflexive
            case "prflx": self = .peerReflexive
            case "relay": self = .relayed
            default: self = .other(word)
            }
        }

        /// The word of the type in the attribute.
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

        package init(_ name: String, _ value: String?) {
            self.name = name
            self.value = value
        }
    }

    /// The attribute's name, before its value.
    private static let prefix = "candidate:"

    /// An identifier that candidates with the same base, type, protocol and server share. RFC 8839 §5.1 allows 1 to 32
    /// ice-chars, but a peer's value is only compared.
    package var foundation: String
    /// The component ID: 1 for RTP, or for RTP and RTCP on one port.
    package var component: UInt16
    /// The transport as written: `UDP`, `TCP` or another name. Compare it with ``isUDP``.
    package var transport: String
    /// The priority; a higher value is preferred.
    package var priority: UInt32
    /// The address or name.
    package var host: Host
    /// The port.
    package var port: UInt16
    /// The type of the candidate.
    package var kind: Kind
    /// The related address of a reflexive or relayed candidate, such as its base.
    package var relatedHost: Host?
    /// The port that goes with ``relatedHost``.
    package var relatedPort: UInt16?
    /// The TCP type, for TCP candidates: `active`, `passive` or `so`.
    package var tcpType: String?
    /// The extensions after the fixed fields, in order.
    package var extensions: [Extension]

    /// Creates a candidate of a UDP socket.
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

    /// Parses the whole attribute with its name, as in ``description`` and in browsers, or only its value.
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

    /// Whether the transport is UDP, in any case of letters.
    package var isUDP: Bool { transport.lowercased() == "udp" }

    /// Returns the value of a named extension.
    package func extensionValue(_ name: String) -> String? {
        extensions.first { $0.name == name }?.value
    }
}

extension CandidateAttribute: CustomStringConvertible {
    /// The whole attribute with its name, as in W3C's `RTCIceCandidate.candidate` and in trickled candidates (RFC 8839
    /// §5.1, RFC 8829 §3.5.2.1).
    package var description: String { "\(Self.prefix)\(value)" }

    /// The value of the `a=candidate` line.
    package var value: String {
        var text = "\(foundation) \(component) \(transport) \(priority) \(host) \(port) typ \(kind)"
        if let relatedHost { text += " raddr \(relatedHost)" }
        if let relatedPort { text += " rport \(relatedPort)" }
        if let tcpType { text += " tcptype \(tcpType)" }
        for item in extensions { text += " \(item.name)" + (item.value.map { " \($0)" } ?? "") }
        return text
    }
}
