/// The credentials of an ICE session (RFC 8839 §5.4).
package struct ICEAttributes: Hashable, Sendable {
    /// `a=ice-ufrag`: 4 to 256 ice-chars.
    package let usernameFragment: String
    /// `a=ice-pwd`: 22 to 256 ice-chars. A secret: never log it.
    package let password: String

    package init(usernameFragment: String, password: String) {
        self.usernameFragment = usernameFragment
        self.password = password
    }
}

extension ICEAttributes: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The username fragment only, since the password is secret.
    package var description: String { "ICE credentials \(usernameFragment):(hidden)" }
    /// The same text as ``description``.
    package var debugDescription: String { description }
    /// A mirror that keeps the password out of `dump`.
    package var customMirror: Mirror { Mirror(self, children: ["usernameFragment": usernameFragment]) }
}

/// `a=fingerprint`: the hash of a certificate (RFC 8122 §5).
package struct FingerprintAttribute: Hashable, Sendable, CustomStringConvertible {
    /// The hash function's name in lower case, such as `sha-256`.
    package let hashFunction: String
    /// The bytes of the hash.
    package let bytes: [UInt8]

    package init(hashFunction: String, bytes: [UInt8]) {
        self.hashFunction = hashFunction.lowercased()
        self.bytes = bytes
    }

    /// Parses a value such as `sha-256 AB:CD:…`. Returns nil if the text does not follow the grammar or the hash has
    /// the wrong length.
    package init?(_ text: some StringProtocol) {
        let fields = String(text).fields
        guard fields.count == 2, fields[0].isToken else { return nil }
        let pairs = fields[1].parts(at: ":")
        var bytes: [UInt8] = []
        for pair in pairs {
            guard pair.utf8.count == 2, pair.utf8.allSatisfy(\.isHexDigit), let byte = UInt8(pair, radix: 16) else {
                return nil
            }
            bytes.append(byte)
        }
        self.init(hashFunction: String(fields[0]), bytes: bytes)
        if let length = FingerprintAttribute.lengths[hashFunction], length != bytes.count { return nil }
    }

    /// Whether a connection can rely on the function: SHA-256 or stronger (RFC 8122 §5, RFC 8842 §5.1).
    package var isStrong: Bool { ["sha-256", "sha-384", "sha-512"].contains(hashFunction) }

    /// The value of the line.
    package var description: String {
        let digits = bytes.map { byte in
            let text = String(byte, radix: 16, uppercase: true)
            return text.utf8.count == 1 ? "0" + text : text
        }
        return "\(hashFunction) \(digits.joined(separator: ":"))"
    }

    private static let lengths = ["md5": 16, "sha-1": 20, "sha-224": 28, "sha-256": 32, "sha-384": 48, "sha-512": 64]
}

extension UInt8 {
    var isHexDigit: Bool { isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self | 0x20) }
}

/// `a=setup`: the DTLS role of an end (RFC 4145 §4, RFC 8842 §5).
package enum SetupAttribute: String, Hashable, Sendable {
    /// The DTLS client.
    case active
    /// The DTLS server.
    case passive
    /// Either role; only an offer can have this value.
    case actpass
    /// A request not to establish an association for now.
    case holdconn
}

/// The media direction as the writer of the description sees it, such as `a=sendrecv` (RFC 8866 §6.7).
package enum DirectionAttribute: String, Hashable, Sendable, CaseIterable {
    /// Both directions, the default.
    case sendReceive = "sendrecv"
    /// From the writer only.
    case sendOnly = "sendonly"
    /// To the writer only.
    case receiveOnly = "recvonly"
    /// Neither direction.
    case inactive

    /// Whether the writer sends.
    package var sends: Bool { self == .sendReceive || self == .sendOnly }
    /// Whether the writer receives.
    package var receives: Bool { self == .sendReceive || self == .receiveOnly }
}

/// `a=group` (RFC 5888 §5).
package struct GroupAttribute: Hashable, Sendable, CustomStringConvertible {
    /// The semantics: `BUNDLE`, `LS` or another word.
    package let semantics: String
    /// The group's sections, by their `a=mid`.
    package let mids: [String]

    package init(semantics: String, mids: [String]) {
        self.semantics = semantics
        self.mids = mids
    }

    init?(_ text: Substring) {
        let fields = text.fields
        guard let semantics = fields.first, fields.allSatisfy(\.isToken) else { return nil }
        self.init(semantics: String(semantics), mids: fields.dropFirst().map(String.init))
    }

    /// The value of the line.
    package var description: String { ([semantics] + mids).joined(separator: " ") }
}

/// `a=rtcp`: the address of RTCP if it has its own port (RFC 3605 §2.1).
package struct RTCPAttribute: Hashable, Sendable {
    /// The port.
    package let port: UInt16
    /// The address, if it differs from the section's.
    package let connection: ConnectionData?

    init?(_ text: Substring) {
        let fields = text.fields
        guard let first = fields.first, let port = first.decimal(UInt16.self) else { return nil }
        self.port = port
        connection = fields.count > 1 ? ConnectionData(fields[1...].joined(separator: " ")) : nil
        if fields.count > 1, connection == nil { return nil }
    }
}
