import RTCShareWireFormat

extension Attribute {
    /// Reads the value of an attribute. `offset` is the start of the attribute, for errors.
    ///
    /// A malformed attribute that a receiver can ignore (RFC 8489 §14) becomes an unknown one: servers write their name
    /// in Latin-1 or at length, and nothing else of the message depends on it.
    init(type: AttributeType, value: RawSpan, transactionID: TransactionID, offset: Int) throws(STUNError) {
        do throws(EndOfBytes) {
            var reader = ByteReader(value)
            let parsed: Attribute? =
                switch type {
                case .mappedAddress:
                    try Self.readAddress(&reader, mask: nil).map { .mappedAddress($0) }
                case .xorMappedAddress:
                    try Self.readAddress(&reader, mask: transactionID).map { .xorMappedAddress($0) }
                case .username: Self.readText(&reader, limit: 508).map { .username($0) }
                case .realm: Self.readText(&reader, limit: 763).map { .realm($0) }
                case .software: Self.readText(&reader, limit: 763).map { .software($0) }
                case .nonce: value.byteCount <= 763 ? .nonce([UInt8](reader.readRemaining())) : nil
                case .errorCode: try Self.readErrorCode(&reader).map { .errorCode($0) }
                case .unknownAttributes: .unknownAttributes(try Self.readTypes(&reader))
                case .priority: .priority(try reader.readUInt32())
                case .useCandidate: .useCandidate
                case .iceControlled: .iceControlled(try reader.readUInt64())
                case .iceControlling: .iceControlling(try reader.readUInt64())
                case .channelNumber, .lifetime, .xorPeerAddress, .data, .xorRelayedAddress, .requestedAddressFamily,
                    .additionalAddressFamily, .addressErrorCode, .evenPort, .requestedTransport, .dontFragment,
                    .reservationToken, .icmp:
                    try Self.readRelaying(type, &reader, transactionID: transactionID)
                case .alternateServer: try Self.readAddress(&reader, mask: nil).map { .alternateServer($0) }
                case .alternateDomain: Self.readText(&reader, limit: 255).map { .alternateDomain($0) }
                case .passwordAlgorithms: .passwordAlgorithms(try Self.readAlgorithms(&reader))
                case .passwordAlgorithm: .passwordAlgorithm(try Self.readAlgorithm(&reader))
                case .userhash: .userhash(try reader.readArray(32))
                default: .unknown(type, [UInt8](reader.readRemaining()))
                }
            guard let parsed, reader.remaining == 0 else { throw EndOfBytes(offset: 0) }
            self = parsed
        } catch {
            guard !type.isComprehensionRequired else { throw .malformedAttribute(type, offset: offset) }
            self = .unknown(type, [UInt8](value))
        }
    }

    /// Appends the attribute's value, without its header and padding.
    func appendValue(to bytes: inout [UInt8], transactionID: TransactionID) {
        switch self {
        case .mappedAddress(let address): Self.append(address, mask: nil, to: &bytes)
        case .xorMappedAddress(let address): Self.append(address, mask: transactionID, to: &bytes)
        case .username(let text), .realm(let text), .software(let text): bytes.append(contentsOf: text.utf8)
        case .nonce(let value), .unknown(_, let value): bytes.append(contentsOf: value)
        case .errorCode(let error):
            bytes.append(bigEndian: UInt16(0))
            Self.append(error, to: &bytes)
        case .unknownAttributes(let types):
            for type in types { bytes.append(bigEndian: type.rawValue) }
        case .priority(let value): bytes.append(bigEndian: value)
        case .useCandidate: break
        case .iceControlled(let value), .iceControlling(let value): bytes.append(bigEndian: value)
        case .alternateServer(let address): Self.append(address, mask: nil, to: &bytes)
        case .alternateDomain(let name): bytes.append(contentsOf: name.utf8)
        case .passwordAlgorithms(let algorithms):
            for algorithm in algorithms { Self.append(algorithm, to: &bytes) }
        case .passwordAlgorithm(let algorithm): Self.append(algorithm, to: &bytes)
        case .userhash(let hash): bytes.append(contentsOf: hash)
        default: appendRelayingValue(to: &bytes, transactionID: transactionID)
        }
    }

    private static func readText(_ reader: inout ByteReader, limit: Int) -> String? {
        guard reader.remaining <= limit else { return nil }
        return String(validating: [UInt8](reader.readRemaining()), as: UTF8.self)
    }

    static func readErrorCode(_ reader: inout ByteReader) throws(EndOfBytes) -> ErrorCode? {
        try reader.skip(2)
        let hundreds = Int(try reader.readUInt8() & 7)
        let number = Int(try reader.readUInt8())
        guard (3...6).contains(hundreds), number < 100 else { return nil }
        // The reason is for people: the code is valid even if the reason is not UTF-8.
        let reason = String(decoding: [UInt8](reader.readRemaining()), as: UTF8.self)
        return ErrorCode(code: hundreds * 100 + number, reason: reason)
    }

    static func append(_ error: ErrorCode, to bytes: inout [UInt8]) {
        bytes.append(UInt8(clamping: error.code / 100 & 7))
        bytes.append(UInt8(clamping: error.code % 100))
        bytes.append(contentsOf: error.reason.utf8)
    }

    private static func readAlgorithm(_ reader: inout ByteReader) throws(EndOfBytes) -> PasswordAlgorithm {
        let number = try reader.readUInt16()
        let byteCount = Int(try reader.readUInt16())
        let parameters = try reader.readArray(byteCount)
        try reader.skip((4 - byteCount % 4) % 4)
        return PasswordAlgorithm(number: number, parameters: parameters)
    }

    private static func readAlgorithms(_ reader: inout ByteReader) throws(EndOfBytes) -> [PasswordAlgorithm] {
        var algorithms: [PasswordAlgorithm] = []
        while reader.remaining > 0 { algorithms.append(try readAlgorithm(&reader)) }
        return algorithms
    }

    private static func append(_ algorithm: PasswordAlgorithm, to bytes: inout [UInt8]) {
        let parameters = algorithm.parameters.prefix(Int(UInt16.max))
        bytes.append(bigEndian: algorithm.number)
        bytes.append(bigEndian: UInt16(parameters.count))
        bytes.append(contentsOf: parameters)
        bytes.append(contentsOf: repeatElement(0, count: (4 - parameters.count % 4) % 4))
    }

    private static func readTypes(_ reader: inout ByteReader) throws(EndOfBytes) -> [AttributeType] {
        var types: [AttributeType] = []
        while reader.remaining > 0 { types.append(AttributeType(rawValue: try reader.readUInt16())) }
        return types
    }

    /// Returns an address. With `mask` it is in the XOR form, which is removed with the cookie and `mask` (RFC 8489
    /// §14.2).
    static func readAddress(
        _ reader: inout ByteReader, mask: TransactionID?
    ) throws(EndOfBytes) -> TransportAddress? {
        try reader.skip(1)
        let family = try reader.readUInt8()
        let port = try reader.readUInt16() ^ (mask == nil ? 0 : UInt16(STUNMessage.magicCookie >> 16))
        switch family {
        case 1:
            let value = try reader.readUInt32() ^ (mask == nil ? 0 : STUNMessage.magicCookie)
            return TransportAddress(ip: .v4(value), port: port)
        case 2:
            let high = try reader.readUInt64() ^ (mask?.highMask ?? 0)
            let low = try reader.readUInt64() ^ (mask?.low ?? 0)
            return TransportAddress(ip: .v6(high, low), port: port)
        default:
            return nil
        }
    }

    static func append(_ address: TransportAddress, mask: TransactionID?, to bytes: inout [UInt8]) {
        bytes.append(0)
        bytes.append(address.ip.isV4 ? 1 : 2)
        bytes.append(bigEndian: address.port ^ (mask == nil ? 0 : UInt16(STUNMessage.magicCookie >> 16)))
        switch address.ip {
        case .v4(let value):
            bytes.append(bigEndian: value ^ (mask == nil ? 0 : STUNMessage.magicCookie))
        case .v6(let high, let low):
            bytes.append(bigEndian: high ^ (mask?.highMask ?? 0))
            bytes.append(bigEndian: low ^ (mask?.low ?? 0))
        }
    }
}

extension TransactionID {
    /// The mask of the first half of an IPv6 address: the cookie and the identifier's first four bytes.
    fileprivate var highMask: UInt64 { UInt64(STUNMessage.magicCookie) << 32 | UInt64(high) }
}
