internal import RTCShareCryptography

/// The integrity attribute of a message.
package enum IntegrityAlgorithm: Hashable, Sendable {
    /// MESSAGE-INTEGRITY, RFC 8489 §14.5.
    case sha1
    /// MESSAGE-INTEGRITY-SHA256, RFC 8489 §14.6.
    case sha256

    var hashFunction: HashFunction { self == .sha1 ? .sha1 : .sha256 }
    var attribute: AttributeType { self == .sha1 ? .messageIntegrity : .messageIntegritySHA256 }
}

/// The algorithm that derives the key from a password (IANA "STUN Password Algorithms").
package struct PasswordAlgorithm: Hashable, Sendable, Codable {
    /// The number on the wire.
    package let number: UInt16
    /// The parameters of the algorithm. Neither of the known ones has any.
    package let parameters: [UInt8]

    /// Creates the algorithm with this number.
    package init(number: UInt16, parameters: [UInt8] = []) {
        self.number = number
        self.parameters = parameters
    }

    /// MD5, RFC 8489 §18.5.1.
    package static let md5 = PasswordAlgorithm(number: 1)
    /// SHA-256, RFC 8489 §18.5.2.
    package static let sha256 = PasswordAlgorithm(number: 2)
}
