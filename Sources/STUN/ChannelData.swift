import RTCShareWireFormat

/// A ChannelData message: application data after the four-byte header of a channel (RFC 8656 §12.4).
package struct ChannelData: Hashable, Sendable {
    /// The channel.
    package let channel: ChannelNumber
    /// The range of the application data in the parsed bytes.
    package let payload: Range<Int>

    /// The number of bytes before the application data.
    package static let headerByteCount = 4

    /// Whether the first byte marks ChannelData (RFC 7983 §7).
    package static func isChannelData(_ bytes: RawSpan) -> Bool {
        bytes.byteCount >= headerByteCount && bytes.unsafeLoad(fromByteOffset: 0, as: UInt8.self) & 0xF0 == 0x40
    }

    /// Parses a datagram, or a frame of ``StreamFramer``. Bytes after the announced length are padding. Returns nil for
    /// an invalid channel, and for fewer bytes than announced.
    package init?(parsing bytes: RawSpan) {
        var reader = ByteReader(bytes)
        guard let number = try? reader.readUInt16(), let channel = ChannelNumber(rawValue: number),
            let byteCount = try? reader.readUInt16(), Int(byteCount) <= reader.remaining
        else { return nil }
        self.channel = channel
        payload = Self.headerByteCount..<Self.headerByteCount + Int(byteCount)
    }

    /// Returns the whole message; nil if the data is longer than its length field allows. Over a stream the message is
    /// padded to a multiple of four bytes, over UDP it is not (RFC 8656 §12.5).
    package static func encoded(_ payload: RawSpan, channel: ChannelNumber, isPadded: Bool) -> [UInt8]? {
        guard let byteCount = UInt16(exactly: payload.byteCount) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(headerByteCount + payload.byteCount + 3)
        bytes.append(bigEndian: channel.rawValue)
        bytes.append(bigEndian: byteCount)
        unsafe payload.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
        if isPadded { bytes.append(contentsOf: repeatElement(0, count: (4 - payload.byteCount % 4) % 4)) }
        return bytes
    }
}
