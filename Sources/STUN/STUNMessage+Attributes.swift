package import RTCShareWireFormat

/// The values of attributes. If a type occurs more than once, the first attribute counts (RFC 8489 §14).
extension STUNMessage {
    /// The address that the sender of a success response observed: XOR-MAPPED-ADDRESS or else MAPPED-ADDRESS.
    package var mappedAddress: TransportAddress? {
        first { if case .xorMappedAddress(let value) = $0 { value } else { nil } }
            ?? first { if case .mappedAddress(let value) = $0 { value } else { nil } }
    }

    /// The value of USERNAME.
    package var username: String? {
        first { if case .username(let value) = $0 { value } else { nil } }
    }

    /// The value of ERROR-CODE.
    package var errorCode: ErrorCode? {
        first { if case .errorCode(let value) = $0 { value } else { nil } }
    }

    /// The value of SOFTWARE.
    package var software: String? {
        first { if case .software(let value) = $0 { value } else { nil } }
    }

    /// The value of PRIORITY.
    package var priority: UInt32? {
        first { if case .priority(let value) = $0 { value } else { nil } }
    }

    /// Whether the message has USE-CANDIDATE.
    package var usesCandidate: Bool {
        attributes.contains(.useCandidate)
    }

    /// The tie-breaker of ICE-CONTROLLING.
    package var iceControlling: UInt64? {
        first { if case .iceControlling(let value) = $0 { value } else { nil } }
    }

    /// The tie-breaker of ICE-CONTROLLED.
    package var iceControlled: UInt64? {
        first { if case .iceControlled(let value) = $0 { value } else { nil } }
    }

    /// The value of XOR-RELAYED-ADDRESS.
    package var relayedAddress: TransportAddress? {
        first { if case .xorRelayedAddress(let value) = $0 { value } else { nil } }
    }

    /// The value of XOR-PEER-ADDRESS.
    package var peerAddress: TransportAddress? {
        first { if case .xorPeerAddress(let value) = $0 { value } else { nil } }
    }

    /// The value of LIFETIME.
    package var lifetime: Duration? {
        first { if case .lifetime(let value) = $0 { value } else { nil } }
    }

    /// The value of REALM.
    package var realm: String? {
        first { if case .realm(let value) = $0 { value } else { nil } }
    }

    /// The value of NONCE.
    package var nonce: [UInt8]? {
        first { if case .nonce(let value) = $0 { value } else { nil } }
    }

    /// The value of CHANNEL-NUMBER.
    package var channelNumber: ChannelNumber? {
        first { if case .channelNumber(let value) = $0 { value } else { nil } }
    }

    /// The value of DATA.
    package var data: [UInt8]? {
        first { if case .data(let value) = $0 { value } else { nil } }
    }

    /// The value of ICMP.
    package var icmp: ICMPError? {
        first { if case .icmp(let value) = $0 { value } else { nil } }
    }

    /// The value of ALTERNATE-SERVER.
    package var alternateServer: TransportAddress? {
        first { if case .alternateServer(let value) = $0 { value } else { nil } }
    }

    /// The value of ALTERNATE-DOMAIN.
    package var alternateDomain: String? {
        first { if case .alternateDomain(let value) = $0 { value } else { nil } }
    }

    /// The value of PASSWORD-ALGORITHMS.
    package var passwordAlgorithms: [PasswordAlgorithm]? {
        first { if case .passwordAlgorithms(let value) = $0 { value } else { nil } }
    }

    /// The value of PASSWORD-ALGORITHM.
    package var passwordAlgorithm: PasswordAlgorithm? {
        first { if case .passwordAlgorithm(let value) = $0 { value } else { nil } }
    }

    /// The value of USERHASH.
    package var userhash: [UInt8]? {
        first { if case .userhash(let value) = $0 { value } else { nil } }
    }

    /// The comprehension-required attributes that this project does not know. A request with any is rejected with error
    /// 420, a response with any is discarded (RFC 8489 §6.3).
    package var unknownRequiredAttributes: [AttributeType] {
        var types: [AttributeType] = []
        for case .unknown(let type, _) in attributes where type.isComprehensionRequired && !types.contains(type) {
            types.append(type)
        }
        return types
    }

    /// Returns the range of the first value of a type in the bytes of a parsed message, for callers that do not copy
    /// it.
    package static func range(of type: AttributeType, in message: RawSpan) -> Range<Int>? {
        var reader = ByteReader(message)
        do throws(EndOfBytes) {
            try reader.skip(headerByteCount)
            while reader.remaining > 0 {
                let found = AttributeType(rawValue: try reader.readUInt16())
                let length = Int(try reader.readUInt16())
                if found == type, length <= reader.remaining { return reader.offset..<reader.offset + length }
                try reader.skip((length + 3) / 4 * 4)
            }
        } catch {
            return nil
        }
        return nil
    }

    private func first<Value>(_ value: (Attribute) -> Value?) -> Value? {
        for attribute in attributes {
            if let found = value(attribute) { return found }
        }
        return nil
    }
}
