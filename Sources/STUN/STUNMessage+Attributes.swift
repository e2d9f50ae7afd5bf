package import RTCShareWireFormat

/// The first attribute of each type is the one that counts (RFC 8489 §14).
extension STUNMessage {
    /// The address that the sender of a success response saw: XOR-MAPPED-ADDRESS, else MAPPED-ADDRESS.
    package var mappedAddress: TransportAddress? {
        first { if case .xorMappedAddress(let value) = $0 { value } else { nil } }
            ?? first { if case .mappedAddress(let value) = $0 { value } else { nil } }
    }

    /// USERNAME.
    package var username: String? {
        first { if case .username(let value) = $0 { value } else { nil } }
    }

    /// ERROR-CODE.
    package var errorCode: ErrorCode? {
        first { if case .errorCode(let value) = $0 { value } else { nil } }
    }

    /// SOFTWARE.
    package var software: String? {
        first { if case .software(let value) = $0 { value } else { nil } }
    }

    /// PRIORITY.
    package var priority: UInt32? {
        first { if case .priority(let value) = $0 { value } else { nil } }
    }

    /// Whether USE-CANDIDATE is there.
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

    /// XOR-RELAYED-ADDRESS.
    package var relayedAddress: TransportAddress? {
        first { if case .xorRelayedAddress(let value) = $0 { value } else { nil } }
    }

    /// XOR-PEER-ADDRESS.
    package var peerAddress: TransportAddress? {
        first { if case .xorPeerAddress(let value) = $0 { value } else { nil } }
    }

    /// LIFETIME.
    package var lifetime: Duration? {
        first { if case .lifetime(let value) = $0 { value } else { nil } }
    }

    /// REALM.
    package var realm: String? {
        first { if case .realm(let value) = $0 { value } else { nil } }
    }

    /// NONCE.
    package var nonce: [UInt8]? {
        first { if case .nonce(let value) = $0 { value } else { nil } }
    }

    /// CHANNEL-NUMBER.
    package var channelNumber: ChannelNumber? {
        first { if case .channelNumber(let value) = $0 { value } else { nil } }
    }

    /// DATA.
    package var data: [UInt8]? {
        first { if case .data(let value) = $0 { value } else { nil } }
    }

    /// ICMP.
    package var icmp: ICMPError? {
        first { if case .icmp(let value) = $0 { value } else { nil } }
    }

    /// ALTERNATE-SERVER.
    package var alternateServer: TransportAddress? {
        first { if case .alternateServer(let value) = $0 { value } else { nil } }
    }

    /// ALTERNATE-DOMAIN.
    package var alternateDomain: String? {
        first { if case .alternateDomain(let value) = $0 { value } else { nil } }
    }

    /// PASSWORD-ALGORITHMS.
    package var passwordAlgorithms: [PasswordAlgorithm]? {
        first { if case .passwordAlgorithms(let value) = $0 { value } else { nil } }
    }

    /// PASSWORD-ALGORITHM.
    package var passwordAlgorithm: PasswordAlgorithm? {
        first { if case .passwordAlgorithm(let value) = $0 { value } else { nil } }
    }

    /// USERHASH.
    package var userhash: [UInt8]? {
        first { if case .userhash(let value) = $0 { value } else { nil } }
    }

    /// Comprehension-required attributes that are not known here: a request with any is refused with error 420, a
    /// response with any is discarded (RFC 8489 §6.3).
    package var unknownRequiredAttributes: [AttributeType] {
        var types: [AttributeType] = []
        for case .unknown(let type, _) in attributes where type.isComprehensionRequired && !types.contains(type) {
            types.append(type)
        }
        return types
    }

    /// Where the value of the first attribute of a type lies among the bytes of a message that was parsed, for who wants
    /// it uncopied.
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
