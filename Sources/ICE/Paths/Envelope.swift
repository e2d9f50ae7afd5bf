import RTCShareSTUN
package import RTCShareWireFormat

/// How a packet is wrapped on its way to the peer: not at all, as a relay wants it, or with its length before it.
///
/// The packet is written ``prefixByteCount`` bytes into memory that has ``suffixByteCount`` more to spare;
/// ``complete(_:payloadByteCount:)`` then writes what stands around it, in place.
package struct Envelope: Hashable, Sendable {
    enum Form: Hashable, Sendable {
        case none
        /// The length in two bytes (RFC 4571 §2).
        case length
        /// ChannelData (RFC 8656 §12.4), padded over a stream.
        case channel(ChannelNumber, isPadded: Bool)
        /// A Send indication (RFC 8656 §11.1) as far as its data.
        case indication([UInt8])
    }

    let form: Form

    /// Nothing around the packet.
    package static let none = Envelope(form: .none)

    /// Whether a TURN server takes it off.
    package var isForRelay: Bool {
        switch form {
        case .none, .length: false
        case .channel, .indication: true
        }
    }

    /// Bytes before the packet.
    package var prefixByteCount: Int {
        switch form {
        case .none: 0
        case .length: 2
        case .channel: ChannelData.headerByteCount
        case .indication(let prefix): prefix.count
        }
    }

    /// The most bytes behind the packet.
    package var suffixByteCount: Int {
        switch form {
        case .none, .length, .channel(_, isPadded: false): 0
        case .channel(_, isPadded: true), .indication: 3
        }
    }

    /// Writes what stands before and behind a packet of `payloadByteCount` bytes that lies ``prefixByteCount`` bytes
    /// into `memory`. Returns the byte count of the whole, or nil where that does not fit.
    package func complete(_ memory: UnsafeMutableRawBufferPointer, payloadByteCount: Int) -> Int? {
        guard let length = UInt16(exactly: payloadByteCount), length <= UInt16.max - 64 else { return nil }
        let end = prefixByteCount + payloadByteCount
        guard end + suffixByteCount <= memory.count else { return nil }
        switch form {
        case .none: return end
        case .length:
            Self.write(length, at: 0, of: memory)
            return end
        case .channel(let number, let isPadded):
            Self.write(number.rawValue, at: 0, of: memory)
            Self.write(length, at: 2, of: memory)
            return isPadded ? Self.pad(memory, from: end) : end
        case .indication(let prefix):
            unsafe memory.copyBytes(from: prefix)
            Self.write(length, at: prefix.count - 2, of: memory)
            // The padding of the data, like the prefix, is a multiple of four with the packet.
            let whole = Self.pad(memory, from: end)
            Self.write(UInt16(truncatingIfNeeded: whole - STUNMessage.headerByteCount), at: 2, of: memory)
            return whole
        }
    }

    /// Fills up to a multiple of four bytes.
    private static func pad(_ memory: UnsafeMutableRawBufferPointer, from end: Int) -> Int {
        let whole = (end + 3) / 4 * 4
        for index in end..<whole { unsafe memory[index] = 0 }
        return whole
    }

    private static func write(_ value: UInt16, at offset: Int, of memory: UnsafeMutableRawBufferPointer) {
        unsafe memory[offset] = UInt8(value >> 8)
        unsafe memory[offset + 1] = UInt8(truncatingIfNeeded: value)
    }
}

/// Where a packet to the peer goes, and in what.
package struct MediaPath: Hashable, Sendable {
    /// The base of the socket, also where the transport is a stream.
    package let base: TransportAddress
    /// The peer, or the TURN server.
    package let destination: TransportAddress
    /// How it gets there.
    package let transport: TransportProtocol
    /// What is written around it.
    package let envelope: Envelope
}

/// How the messages of a stream are told apart.
package enum StreamFraming: Hashable, Sendable {
    /// By their own lengths, as STUN messages and ChannelData have them (RFC 8656 §12.5): `STUN.StreamFramer`.
    case turn
    /// By a length before each (RFC 4571): ``RFC4571Framer``.
    case lengthPrefixed
}
