import RTCShareWireFormat

/// The values of the attributes in RFC 8656 §18.
extension Attribute {
    static func readRelaying(
        _ type: AttributeType, _ reader: inout ByteReader, transactionID: TransactionID
    ) throws(EndOfBytes) -> Attribute? {
        switch type {
        case .channelNumber:
            let number = ChannelNumber(rawValue: try reader.readUInt16())
            try reader.skip(2)
            return number.map { .channelNumber($0) }
        case .lifetime: return .lifetime(.seconds(Int64(try reader.readUInt32())))
        case .xorPeerAddress: return try readAddress(&reader, mask: transactionID).map { .xorPeerAddress($0) }
        case .xorRelayedAddress: return try readAddress(&reader, mask: transactionID).map { .xorRelayedAddress($0) }
        case .data: return .data([UInt8](reader.readRemaining()))
        case .requestedAddressFamily, .additionalAddressFamily:
            let family = AddressFamily(rawValue: try reader.readUInt8())
            try reader.skip(3)
            return family.map {
                type == .requestedAddressFamily ? .requestedAddressFamily($0) : .additionalAddressFamily($0)
            }
        case .addressErrorCode: return try readAddressErrorCode(&reader)
        case .evenPort: return .evenPort(reservesNext: try reader.readUInt8() & 0x80 != 0)
        case .requestedTransport:
            let transport = RequestedTransport(rawValue: try reader.readUInt8())
            try reader.skip(3)
            return .requestedTransport(transport)
        case .dontFragment: return .dontFragment
        case .reservationToken: return .reservationToken(try reader.readUInt64())
        case .icmp:
            try reader.skip(2)
            let kind = try reader.readUInt16()
            return .icmp(ICMPError(type: UInt8(kind >> 9), code: kind, data: try reader.readUInt32()))
        default: return nil
        }
    }

    func appendRelayingValue(to bytes: inout [UInt8], transactionID: TransactionID) {
        switch self {
        case .channelNumber(let number): bytes.append(bigEndian: UInt32(number.rawValue) << 16)
        case .lifetime(let duration): bytes.append(bigEndian: UInt32(clamping: duration.components.seconds))
        case .xorPeerAddress(let address), .xorRelayedAddress(let address):
            Self.append(address, mask: transactionID, to: &bytes)
        case .data(let data): bytes.append(contentsOf: data)
        case .requestedAddressFamily(let family), .additionalAddressFamily(let family):
            bytes.append(bigEndian: UInt32(family.rawValue) << 24)
        case .addressErrorCode(let family, let error):
            bytes.append(bigEndian: UInt16(family.rawValue) << 8)
            Self.append(error, to: &bytes)
        case .evenPort(let reservesNext): bytes.append(reservesNext ? 0x80 : 0)
        case .requestedTransport(let transport): bytes.append(bigEndian: UInt32(transport.rawValue) << 24)
        case .reservationToken(let token): bytes.append(bigEndian: token)
        case .icmp(let error):
            bytes.append(bigEndian: UInt16(0))
            bytes.append(bigEndian: UInt16(error.type) << 9 | error.code)
            bytes.append(bigEndian: error.data)
        default: break
        }
    }

    /// Returns an attribute whose first byte is the family and whose other fields are those of ERROR-CODE (RFC 8656
    /// §18.12).
    private static func readAddressErrorCode(_ reader: inout ByteReader) throws(EndOfBytes) -> Attribute? {
        let bytes = reader.readRemaining()
        var familyReader = ByteReader(bytes)
        var errorReader = ByteReader(bytes)
        guard let family = AddressFamily(rawValue: try familyReader.readUInt8()),
            let error = try readErrorCode(&errorReader)
        else { return nil }
        return .addressErrorCode(family, error)
    }
}
