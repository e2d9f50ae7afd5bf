/// An error in bytes that are not a STUN message, or in a message that cannot be encoded. Offsets count bytes from the
/// message's start.
package enum STUNError: Error, Hashable, Sendable {
    /// The datagram has fewer than the 20 bytes of a header.
    case truncatedHeader(byteCount: Int)
    /// The two top bits are set or the magic cookie differs (RFC 8489 §5).
    case notSTUN
    /// The header's length differs from that of the datagram, or is not a multiple of four.
    case wrongLength(announced: Int, actual: Int)
    /// An attribute extends past the end of the message.
    case truncatedAttribute(AttributeType, offset: Int)
    /// An attribute's value does not have the format of its type.
    case malformedAttribute(AttributeType, offset: Int)
    /// The message has more attributes than ``STUNMessage/attributeLimit``.
    case tooManyAttributes(offset: Int)
    /// The FINGERPRINT does not match the message (RFC 8489 §14.7), or is not its last attribute.
    case wrongFingerprint(offset: Int)
    /// A value is longer than its attribute allows.
    case tooLong(AttributeType)
    /// The hash for MESSAGE-INTEGRITY could not be computed.
    case integrityUnavailable
}

extension STUNError: CustomStringConvertible {
    /// The error and its position.
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
