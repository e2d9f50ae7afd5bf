import RTCShareWireFormat

/// Splits the bytes of a TCP connection to a peer into messages with a length prefix (RFC 4571 §2, required by RFC 6544
/// §3). Every stream of bytes is a valid sequence of such messages, so that there are no errors. The receiver of a
/// message rejects invalid content.
package struct RFC4571Framer: Sendable {
    private var buffer: [UInt8] = []
    private var start = 0

    /// Creates a framer at the start of a connection.
    package init() {}

    /// The number of bytes in the buffer, which is less than a message once ``next()`` has returned nil.
    package var bufferedByteCount: Int { buffer.count - start }

    /// Adds bytes that the connection received.
    package mutating func append(_ bytes: RawSpan) {
        if start > 0 {
            buffer.removeFirst(start)
            start = 0
        }
        unsafe bytes.withUnsafeBytes { unsafe buffer.append(contentsOf: $0) }
    }

    /// Returns the next whole message, without its length; nil if it needs more bytes. Empty messages are skipped.
    package mutating func next() -> [UInt8]? {
        while bufferedByteCount >= 2 {
            let length = Int(buffer[start]) << 8 | Int(buffer[start + 1])
            guard bufferedByteCount >= 2 + length else { return nil }
            let message = buffer[start + 2..<start + 2 + length]
            start += 2 + length
            if length > 0 { return Array(message) }
        }
        return nil
    }

    /// Returns a message with a length prefix; nil if it is too long for it.
    package static func framed(_ message: [UInt8]) -> [UInt8]? {
        guard let length = UInt16(exactly: message.count) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(2 + message.count)
        bytes.append(bigEndian: length)
        bytes.append(contentsOf: message)
        return bytes
    }
}
