internal import RTCShareWireFormat

/// A request of PCP to map a port, or to delete its mapping (RFC 6887 §11.1). Its size is 60 bytes.
struct PCPMapRequest: Hashable {
    /// The number that relates requests of the same mapping, and protects it from others (96 bits).
    var nonceHigh: UInt32
    var nonceLow: UInt64
    var port: ForwardedPort
    /// This machine's address, as the router must see it.
    var client: IPAddress
    /// The desired outside address and port; nil for any.
    var suggested: TransportAddress?
    /// The desired lifetime in seconds, 0 to delete the mapping.
    var lifetime: UInt32

    var encoded: [UInt8] {
        var bytes: [UInt8] = [PCPAnswer.version, PCPAnswer.mapOperation, 0, 0]
        bytes.append(bigEndian: lifetime)
        bytes.append(inIPv6Form: client)
        bytes.append(bigEndian: nonceHigh)
        bytes.append(bigEndian: nonceLow)
        bytes += [port.transport.number, 0, 0, 0]
        bytes.append(bigEndian: port.number)
        bytes.append(bigEndian: suggested?.port ?? 0)
        bytes.append(inIPv6Form: suggested?.ip ?? .v4(0))
        return bytes
    }
}

/// An answer of a router to a ``PCPMapRequest``.
enum PCPAnswer: Hashable {
    static let version: UInt8 = 2
    static let mapOperation: UInt8 = 1
    /// The flag of an answer, in front of the operation's number.
    static let answerFlag: UInt8 = 0x80

    /// A port's mapping.
    struct Mapping: Hashable {
        var nonceHigh: UInt32
        var nonceLow: UInt64
        var transport: UInt8
        var inside: UInt16
        var outside: TransportAddress

        /// Whether this is the mapping of a request.
        func answers(_ request: PCPMapRequest) -> Bool {
            nonceHigh == request.nonceHigh && nonceLow == request.nonceLow && inside == request.port.number
                && transport == request.port.transport.number
        }
    }

    /// The mapping, with its lifetime in seconds and the router's epoch time.
    case mapped(Mapping, lifetime: UInt32, epoch: UInt32)
    /// An error, with the seconds in which it is not expected to change. The mapping is that of the request.
    case refused(code: UInt8, Mapping, lifetime: UInt32, epoch: UInt32)
    /// The router understands only an older version of PCP.
    case unsupportedVersion

    /// Parses an answer. Returns nil for other messages.
    init?(parsing bytes: RawSpan) {
        // RFC 6887 §8.3.
        guard bytes.byteCount >= 24, bytes.byteCount <= 1100, bytes.byteCount % 4 == 0 else { return nil }
        var reader = ByteReader(bytes)
        do {
            let version = try reader.readUInt8()
            let operation = try reader.readUInt8()
            try reader.skip(1)
            let code = try reader.readUInt8()
            let lifetime = try reader.readUInt32()
            let epoch = try reader.readUInt32()
            guard operation == Self.mapOperation | Self.answerFlag, version != 0 else { return nil }
            guard version == Self.version else {
                guard code == 1 else { return nil }
                self = .unsupportedVersion
                return
            }
            try reader.skip(12)
            let (nonceHigh, nonceLow) = (try reader.readUInt32(), try reader.readUInt64())
            let transport = try reader.readUInt8()
            try reader.skip(3)
            let (inside, outside) = (try reader.readUInt16(), try reader.readUInt16())
            let high = try reader.readUInt64()
            let address = IPAddress(inIPv6Form: high, try reader.readUInt64())
            let mapping = Mapping(
                nonceHigh: nonceHigh, nonceLow: nonceLow, transport: transport, inside: inside,
                outside: TransportAddress(ip: address, port: outside))
            self =
                code == 0
                ? .mapped(mapping, lifetime: lifetime, epoch: epoch)
                : .refused(code: code, mapping, lifetime: lifetime, epoch: epoch)
        } catch {
            return nil
        }
    }
}

extension IPAddress {
    /// Creates an address from an IPv6 address, which may contain an IPv4 address (RFC 4291 §2.5.5.2).
    fileprivate init(inIPv6Form high: UInt64, _ low: UInt64) {
        let address = IPAddress.v6(high, low)
        self = address.isV4Mapped ? .v4(UInt32(truncatingIfNeeded: low)) : address
    }
}

extension [UInt8] {
    fileprivate mutating func append(inIPv6Form address: IPAddress) {
        switch address {
        case .v4(let value):
            append(bigEndian: UInt64(0))
            append(bigEndian: 0xFFFF_0000_0000 | UInt64(value))
        case .v6(let high, let low):
            append(bigEndian: high)
            append(bigEndian: low)
        }
    }
}
