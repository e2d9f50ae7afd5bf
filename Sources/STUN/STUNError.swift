/// Why bytes are no STUN message, or a message could not be written. Offsets count bytes from the message's start.
package enum STUNError: Error, Hashable, Sendable {
    /// Fewer than the 20 bytes of a header.
    case truncatedHeader(byteCount: Int)
    /// The two top bits are set or the magic cookie differs (RFC 8489 §5).
    case notSTUN
    /// The header's length is not that of the datagram, or no multiple of four.
    case wrongLength(announced: Int, actual: Int)
    /// An attribute reaches past the end of the message.
    case truncatedAttribute(AttributeType, offset: Int)
    /// An attribute's value is not of its type's form.
    case malformedAttribute(AttributeType, offset: Int)
    /// More attributes than ``STUNMessage/attributeLimit``.
    case tooManyAttributes(offset: Int)
    /// The FINGERPRINT is not the message's (RFC 8489 §14.7), or not its last attribute.
    case wrongFingerprint(offset: Int)
    /// A value is longer than its attribute can be.
    case tooLong(AttributeType)
    /// The hash for MESSAGE-INTEGRITY could not be computed.
    case integrityUnavailable
}

extension STUNError: CustomStringConvertible {
    /// What is wrong and where.
    package var description: String {
        switch self {
        case .truncatedHeader(let byteCount): "STUN header: \(byteCount) bytes, 20 needed"
        case .notSTUN: "not a STUN message: top bits or magic cookie differ"
        case .wrongLength(let announced, let actual):
            "STUN header: length \(announced), but \(actual) bytes of attributes"
        case .truncatedAttribute(let type, let offset): "STUN \(type) at byte \(offset): cut short"
        case .malformedAttribute(let type, let offset): "STUN \(type) at byte \(offset): malformed"
        case .tooManyAttributes(let offset): "STUN message: too many attributes from byte \(offset)"
        case .wrongFingerprint(let offset): "STUN FINGERPRINT at byte \(offset): does not match"
        case .tooLong(let type): "STUN \(type): value too long"
        case .integrityUnavailable: "STUN MESSAGE-INTEGRITY: HMAC-SHA1 is not available"
        }
    }
}
