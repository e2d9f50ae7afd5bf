internal import RTCShareCryptography

/// Which integrity attribute a message bears.
public enum IntegrityAlgorithm: Hashable, Sendable {
    /// MESSAGE-INTEGRITY, RFC 8489 §14.5.
    case sha1
    /// MESSAGE-INTEGRITY-SHA256, RFC 8489 §14.6.
    case sha256

    var hashFunction: HashFunction { self == .sha1 ? .sha1 : .sha256 }
    var attribute: AttributeType { self == .sha1 ? .messageIntegrity : .messageIntegritySHA256 }
}

/// How the key comes from a password (IANA "STUN Password Algorithms").
public struct PasswordAlgorithm: Hashable, Sendable, Codable {
    /// The number on the wire.
    public let number: UInt16
    /// What the algorithm needs besides; neither of the known ones needs anything.
    public let parameters: [UInt8]

    /// The algorithm with this number.
    public init(number: UInt16, parameters: [UInt8] = []) {
        self.number = number
        self.parameters = parameters
    }

    /// MD5, RFC 8489 §18.5.1.
    public static let md5 = PasswordAlgorithm(number: 1)
    /// SHA-256, RFC 8489 §18.5.2.
    public static let sha256 = PasswordAlgorithm(number: 2)
}
