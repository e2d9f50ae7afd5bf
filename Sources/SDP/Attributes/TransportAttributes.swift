/// The credentials of an ICE session (RFC 8839 §5.4).
package struct ICEAttributes: Hashable, Sendable {
    /// `a=ice-ufrag`: 4 to 256 ice-chars.
    package let usernameFragment: String
    /// `a=ice-pwd`: 22 to 256 ice-chars. A secret: never log it.
    package let password: String

    /// Credentials as they are.
    package init(usernameFragment: String, password: String) {
        self.usernameFragment = usernameFragment
        self.password = password
    }
}

extension ICEAttributes: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The username fragment alone; the password is a secret.
    package var description: String { "ICE credentials \(usernameFragment):(hidden)" }
    /// As ``description``.
    package var debugDescription: String { description }
    /// Keeps the password out of `dump`.
    package var customMirror: Mirror { Mirror(self, children: ["usernameFragment": usernameFragment]) }
}

/// `a=fingerprint`: the hash of a certificate (RFC 8122 §5).
package struct FingerprintAttribute: Hashable, Sendable, CustomStringConvertible {
    /// The hash function's name in lower case, such as `sha-256`.
    package let hashFunction: String
    /// The hash.
    package let bytes: [UInt8]

    /// A hash of a certificate.
    package init(hashFunction: String, bytes: [UInt8]) {
        self.hashFunction = hashFunction.lowercased()
        self.bytes = bytes
    }

    /// Parses `sha-256 AB:CD:…`; nil where this is not the grammar, or the hash has not its function's length.
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

    /// Whether the function is one that a connection may rest on: SHA-256 and stronger (RFC 8122 §5, RFC 8842 §5.1).
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

/// `a=setup`: which end opens the DTLS association (RFC 4145 §4, RFC 8842 §5).
package enum SetupAttribute: String, Hashable, Sendable {
    /// The end is the DTLS client.
    case active
    /// The end is the DTLS server.
    case passive
    /// The end will be either; only an offer may say so.
    case actpass
    /// No association for now.
    case holdconn
}

/// `a=sendrecv` and its kin: which way media flows, seen from who wrote it (RFC 8866 §6.7).
package enum DirectionAttribute: String, Hashable, Sendable, CaseIterable {
    /// Both ways; holds where nothing is said.
    case sendReceive = "sendrecv"
    /// From the writer only.
    case sendOnly = "sendonly"
    /// To the writer only.
    case receiveOnly = "recvonly"
    /// Neither way.
    case inactive

    /// Whether the writer sends.
    package var sends: Bool { self == .sendReceive || self == .sendOnly }
    /// Whether the writer receives.
    package var receives: Bool { self == .sendReceive || self == .receiveOnly }
}

/// `a=group` (RFC 5888 §5).
package struct GroupAttribute: Hashable, Sendable, CustomStringConvertible {
    /// `BUNDLE`, `LS` or another word.
    package let semantics: String
    /// The sections of the group by their `a=mid`.
    package let mids: [String]

    /// A group of sections.
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

/// `a=rtcp`: where RTCP goes when it has a port of its own (RFC 3605 §2.1).
package struct RTCPAttribute: Hashable, Sendable {
    /// The port.
    package let port: UInt16
    /// The address, where it differs from the section's.
    package let connection: ConnectionData?

    init?(_ text: Substring) {
        let fields = text.fields
        guard let first = fields.first, let port = first.decimal(UInt16.self) else { return nil }
        self.port = port
        connection = fields.count > 1 ? ConnectionData(fields[1...].joined(separator: " ")) : nil
        if fields.count > 1, connection == nil { return nil }
    }
}
