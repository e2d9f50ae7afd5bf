internal import RTCShareWireFormat

/// A request of NAT-PMP.
enum NATPMPRequest: Hashable {
    /// A request for the router's outside address (RFC 6886 §3.2).
    case outsideAddress
    /// A request to map a port, with the desired outside port and the desired lifetime in seconds, or to delete its
    /// mapping if both are 0 (RFC 6886 §3.3).
    case map(ForwardedPort, outside: UInt16, lifetime: UInt32)

    var operation: UInt8 {
        switch self {
        case .outsideAddress: 0
        case .map(let port, _, _): port.transport == .udp ? 1 : 2
        }
    }

    var encoded: [UInt8] {
        var bytes = [NATPMPAnswer.version, operation]
        guard case .map(let port, let outside, let lifetime) = self else { return bytes }
        bytes += [0, 0]
        bytes.append(bigEndian: port.number)
        bytes.append(bigEndian: outside)
        bytes.append(bigEndian: lifetime)
        return bytes
    }
}

/// An answer of a router by NAT-PMP.
struct NATPMPAnswer: Hashable {
    static let version: UInt8 = 0
    private static let answerFlag: UInt8 = 0x80

    enum Content: Hashable {
        case outsideAddress(IPAddress)
        case mapped(inside: UInt16, outside: UInt16, lifetime: UInt32)
        /// A result code other than 0.
        case refused(UInt16)
    }

    /// The operation of the request. A router without PCP repeats that of a PCP request.
    var operation: UInt8
    /// The seconds since the router started to keep its mappings.
    var epoch: UInt32
    var content: Content

    /// Whether the router does not understand PCP (RFC 6886 §3.5, RFC 6887 §9).
    var isUnsupportedVersion: Bool { content == .refused(1) }

    /// Parses an answer. Returns nil for other messages.
    init?(parsing bytes: RawSpan) {
        var reader = ByteReader(bytes)
        do {
            let version = try reader.readUInt8()
            let answer = try reader.readUInt8()
            guard version == Self.version, answer & Self.answerFlag != 0 else { return nil }
            operation = answer & ~Self.answerFlag
            let code = try reader.readUInt16()
            epoch = try reader.readUInt32()
            if code != 0 {
                content = .refused(code)
            } else if operation == 0 {
                content = .outsideAddress(.v4(try reader.readUInt32()))
            } else if operation <= 2 {
                let (inside, outside) = (try reader.readUInt16(), try reader.readUInt16())
                content = .mapped(inside: inside, outside: outside, lifetime: try reader.readUInt32())
            } else {
                return nil
            }
        } catch {
            return nil
        }
    }
}
