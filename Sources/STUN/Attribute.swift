public import WireFormat

/// The number of an attribute (IANA "STUN Attributes").
public struct AttributeType: RawRepresentable, Hashable, Sendable {
    /// The number on the wire.
    public let rawValue: UInt16

    /// The attribute with this number.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// Whether an agent that does not know the attribute must refuse the message (RFC 8489 §14).
    public var isComprehensionRequired: Bool { rawValue < 0x8000 }

    /// MAPPED-ADDRESS, RFC 8489 §14.1.
    public static let mappedAddress = AttributeType(rawValue: 0x0001)
    /// USERNAME, RFC 8489 §14.3.
    public static let username = AttributeType(rawValue: 0x0006)
    /// MESSAGE-INTEGRITY, RFC 8489 §14.5.
    public static let messageIntegrity = AttributeType(rawValue: 0x0008)
    /// ERROR-CODE, RFC 8489 §14.8.
    public static let errorCode = AttributeType(rawValue: 0x0009)
    /// UNKNOWN-ATTRIBUTES, RFC 8489 §14.13.
    public static let unknownAttributes = AttributeType(rawValue: 0x000A)
    /// REALM, RFC 8489 §14.9.
    public static let realm = AttributeType(rawValue: 0x0014)
    /// NONCE, RFC 8489 §14.10.
    public static let nonce = AttributeType(rawValue: 0x0015)
    /// XOR-MAPPED-ADDRESS, RFC 8489 §14.2.
    public static let xorMappedAddress = AttributeType(rawValue: 0x0020)
    /// PRIORITY, RFC 8445 §16.1.
    public static let priority = AttributeType(rawValue: 0x0024)
    /// USE-CANDIDATE, RFC 8445 §16.1.
    public static let useCandidate = AttributeType(rawValue: 0x0025)
    /// SOFTWARE, RFC 8489 §14.14.
    public static let software = AttributeType(rawValue: 0x8022)
    /// FINGERPRINT, RFC 8489 §14.7.
    public static let fingerprint = AttributeType(rawValue: 0x8028)
    /// ICE-CONTROLLED, RFC 8445 §16.1.
    public static let iceControlled = AttributeType(rawValue: 0x8029)
    /// ICE-CONTROLLING, RFC 8445 §16.1.
    public static let iceControlling = AttributeType(rawValue: 0x802A)
}

extension AttributeType: CustomStringConvertible {
    /// The attribute's name where it is known here, else its number.
    public var description: String {
        switch self {
        case .mappedAddress: "MAPPED-ADDRESS"
        case .username: "USERNAME"
        case .messageIntegrity: "MESSAGE-INTEGRITY"
        case .errorCode: "ERROR-CODE"
        case .unknownAttributes: "UNKNOWN-ATTRIBUTES"
        case .realm: "REALM"
        case .nonce: "NONCE"
        case .xorMappedAddress: "XOR-MAPPED-ADDRESS"
        case .priority: "PRIORITY"
        case .useCandidate: "USE-CANDIDATE"
        case .software: "SOFTWARE"
        case .fingerprint: "FINGERPRINT"
        case .iceControlled: "ICE-CONTROLLED"
        case .iceControlling: "ICE-CONTROLLING"
        default: "attribute 0x" + String(rawValue, radix: 16)
        }
    }
}

/// The code and the words of an error response (RFC 8489 §14.8).
public struct ErrorCode: Hashable, Sendable {
    /// 300 to 699.
    public let code: Int
    /// Words for a person.
    public let reason: String

    /// A code with its words.
    public init(code: Int, reason: String) {
        self.code = code
        self.reason = reason
    }

    /// The request lacks what it must hold.
    public static let badRequest = ErrorCode(code: 400, reason: "Bad Request")
    /// The request's integrity or user name is wrong.
    public static let unauthenticated = ErrorCode(code: 401, reason: "Unauthenticated")
    /// The request holds a comprehension-required attribute that is not known here.
    public static let unknownAttribute = ErrorCode(code: 420, reason: "Unknown Attribute")
    /// Both agents take themselves for the controlling, or the controlled, one (RFC 8445 §7.3.1.1).
    public static let roleConflict = ErrorCode(code: 487, reason: "Role Conflict")
}

/// One attribute of a message. MESSAGE-INTEGRITY and FINGERPRINT are no attributes here: they come from and go to the
/// message as a whole.
public enum Attribute: Hashable, Sendable {
    /// MAPPED-ADDRESS.
    case mappedAddress(TransportAddress)
    /// XOR-MAPPED-ADDRESS, in the clear.
    case xorMappedAddress(TransportAddress)
    /// USERNAME.
    case username(String)
    /// REALM.
    case realm(String)
    /// NONCE.
    case nonce([UInt8])
    /// SOFTWARE.
    case software(String)
    /// ERROR-CODE.
    case errorCode(ErrorCode)
    /// UNKNOWN-ATTRIBUTES.
    case unknownAttributes([AttributeType])
    /// PRIORITY.
    case priority(UInt32)
    /// USE-CANDIDATE.
    case useCandidate
    /// ICE-CONTROLLED with its tie-breaker.
    case iceControlled(UInt64)
    /// ICE-CONTROLLING with its tie-breaker.
    case iceControlling(UInt64)
    /// An attribute that is not known here, kept as it came.
    case unknown(AttributeType, [UInt8])

    /// The attribute's number.
    public var type: AttributeType {
        switch self {
        case .mappedAddress: .mappedAddress
        case .xorMappedAddress: .xorMappedAddress
        case .username: .username
        case .realm: .realm
        case .nonce: .nonce
        case .software: .software
        case .errorCode: .errorCode
        case .unknownAttributes: .unknownAttributes
        case .priority: .priority
        case .useCandidate: .useCandidate
        case .iceControlled: .iceControlled
        case .iceControlling: .iceControlling
        case .unknown(let type, _): type
        }
    }
}
