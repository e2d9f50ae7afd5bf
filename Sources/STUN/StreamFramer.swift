import RTCShareWireFormat

/// Splits the bytes of a TCP or TLS connection to a TURN server into STUN messages and ChannelData (RFC 8656 §12.5).
package struct StreamFramer: Sendable {
    private var buffer: [UInt8] = []
    private var start = 0
    private var isBroken = false

    /// Creates a framer at the start of a connection.
    package init() {}

    /// The number of bytes in the buffer, which is less than a frame once ``next()`` has returned nil.
    package var bufferedByteCount: Int { buffer.count - start }

    /// Adds bytes that the connection received.
    package mutating func append(_ bytes: RawSpan) {
        guard !isBroken else { return }
        if start > 0 {
            buffer.removeFirst(start)
            start = 0
        }
        unsafe bytes.withUnsafeBytes { unsafe buffer.append(contentsOf: $0) }
    }

    /// Returns the next whole frame, including padding; nil if it needs more bytes. Throws an error if the bytes are
    /// the start of neither kind of message. The connection is then unusable, since the bounds of frames are lost.
    package mutating func next() throws(STUNError) -> [UInt8]? {
        guard !isBroken else { throw .notSTUN }
        guard bufferedByteCount >= 4 else { return nil }
        let length = Int(buffer[start + 2]) << 8 | Int(buffer[start + 3])
        let byteCount: Int
        switch buffer[start] {
        case 0...3 where length % 4 == 0: byteCount = STUNMessage.headerByteCount + length
        case 0x40...0x4F: byteCount = ChannelData.headerByteCount + (length + 3) / 4 * 4
        default:
            isBroken = true
            buffer = []
            start = 0
            throw .notSTUN
        }
        guard bufferedByteCount >= byteCount else { return nil }
        defer { start += byteCount }
        return Array(buffer[start..<start + byteCount])
    }
}
