public import WireFormat

/// The first attribute of each type is the one that counts (RFC 8489 §14).
extension STUNMessage {
    /// The address that the sender of a success response saw: XOR-MAPPED-ADDRESS, else MAPPED-ADDRESS.
    public var mappedAddress: TransportAddress? {
        first { if case .xorMappedAddress(let value) = $0 { value } else { nil } }
            ?? first { if case .mappedAddress(let value) = $0 { value } else { nil } }
    }

    /// USERNAME.
    public var username: String? {
        first { if case .username(let value) = $0 { value } else { nil } }
    }

    /// ERROR-CODE.
    public var errorCode: ErrorCode? {
        first { if case .errorCode(let value) = $0 { value } else { nil } }
    }

    /// SOFTWARE.
    public var software: String? {
        first { if case .software(let value) = $0 { value } else { nil } }
    }

    /// PRIORITY.
    public var priority: UInt32? {
        first { if case .priority(let value) = $0 { value } else { nil } }
    }

    /// Whether USE-CANDIDATE is there.
    public var usesCandidate: Bool {
        attributes.contains(.useCandidate)
    }

    /// The tie-breaker of ICE-CONTROLLING.
    public var iceControlling: UInt64? {
        first { if case .iceControlling(let value) = $0 { value } else { nil } }
    }

    /// The tie-breaker of ICE-CONTROLLED.
    public var iceControlled: UInt64? {
        first { if case .iceControlled(let value) = $0 { value } else { nil } }
    }

    /// Comprehension-required attributes that are not known here: a request with any is refused with error 420, a
    /// response with any is discarded (RFC 8489 §6.3).
    public var unknownRequiredAttributes: [AttributeType] {
        var types: [AttributeType] = []
        for case .unknown(let type, _) in attributes where type.isComprehensionRequired && !types.contains(type) {
            types.append(type)
        }
        return types
    }

    private func first<Value>(_ value: (Attribute) -> Value?) -> Value? {
        for attribute in attributes {
            if let found = value(attribute) { return found }
        }
        return nil
    }
}
