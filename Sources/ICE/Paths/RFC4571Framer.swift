import RTCShareWireFormat

/// Takes the bytes of a TCP connection to a peer apart into messages that have their length before them (RFC 4571 §2,
/// which RFC 6544 §3 has ICE use). Every stream of bytes is a sequence of such messages, so that nothing is an error;
/// what is no message of ours is refused by who reads it.
package struct RFC4571Framer: Sendable {
    private var buffer: [UInt8] = []
    private var start = 0

    /// A framer at the start of a connection.
    package init() {}

    /// Bytes that wait for the rest of their message: never more than a message, once ``next()`` has returned nil.
    package var bufferedByteCount: Int { buffer.count - start }

    /// Takes in what the connection brought.
    package mutating func append(_ bytes: RawSpan) {
        if start > 0 {
            buffer.removeFirst(start)
            start = 0
        }
        unsafe bytes.withUnsafeBytes { unsafe buffer.append(contentsOf: $0) }
    }

    /// The next whole message, without its length; nil where more bytes are needed. Empty ones are passed over.
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

    /// A message with its length before it; nil where it is longer than a length can tell.
    package static func framed(_ message: [UInt8]) -> [UInt8]? {
        guard let length = UInt16(exactly: message.count) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(2 + message.count)
        bytes.append(bigEndian: length)
        bytes.append(contentsOf: message)
        return bytes
    }
}
