import RTCShareSTUN
package import RTCShareWireFormat

/// The framing of a packet on its route to the peer: none, a relay's message, or a length prefix.
///
/// The packet is written ``prefixByteCount`` bytes into memory that has ``suffixByteCount`` bytes after it. Then
/// ``complete(_:payloadByteCount:)`` writes the framing around it, in place.
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

    /// No framing.
    package static let none = Envelope(form: .none)

    /// Whether the envelope is for a TURN server, which removes it.
    package var isForRelay: Bool {
        switch form {
        case .none, .length: false
        case .channel, .indication: true
        }
    }

    /// The number of bytes before the packet.
    package var prefixByteCount: Int {
        switch form {
        case .none: 0
        case .length: 2
        case .channel: ChannelData.headerByteCount
        case .indication(let prefix): prefix.count
        }
    }

    /// The maximum number of bytes after the packet.
    package var suffixByteCount: Int {
        switch form {
        case .none, .length, .channel(_, isPadded: false): 0
        case .channel(_, isPadded: true), .indication: 3
        }
    }

    /// Writes the framing of a packet of `payloadByteCount` bytes at ``prefixByteCount`` in `memory`. Returns the total
    /// number of bytes, or nil if they do not fit.
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
            // The padding of the data, the prefix and the packet together are a multiple of four bytes.
            let whole = Self.pad(memory, from: end)
            Self.write(UInt16(truncatingIfNeeded: whole - STUNMessage.headerByteCount), at: 2, of: memory)
            return whole
        }
    }

    /// Pads to a multiple of four bytes.
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

/// The destination and the envelope of a packet to the peer.
package struct MediaPath: Hashable, Sendable {
    /// The address to send from; see ``Transmit/base``.
    package let base: TransportAddress
    /// The address of the peer, or of the TURN server.
    package let destination: TransportAddress
    /// The transport protocol to the destination.
    package let transport: TransportProtocol
    /// The framing of the packet.
    package let envelope: Envelope
}

/// The method that separates the messages of a stream.
package enum StreamFraming: Hashable, Sendable {
    /// The messages' own lengths, as in STUN messages and ChannelData (RFC 8656 §12.5): `STUN.StreamFramer`.
    case turn
    /// A length before each message (RFC 4571): ``RFC4571Framer``.
    case lengthPrefixed
}
