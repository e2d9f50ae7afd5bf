internal import Glibc
internal import NIOCore

/// Lists of the kernel (netlink(7), rtnetlink(7)). Numbers are in the machine's byte order.
enum Netlink {
    /// A message, without its header.
    struct Message {
        let type: UInt16
        let flags: UInt16
        let body: ArraySlice<UInt8>
    }

    /// `NETLINK_ROUTE` of linux/netlink.h.
    static let route: Int32 = 0

    /// The constants of messages in linux/netlink.h.
    private static let (error, done): (UInt16, UInt16) = (2, 3)
    private static let (request, dump, wasInterrupted): (UInt16, UInt16, UInt16) = (0x1, 0x300, 0x10)
    private static let headerByteCount = 16
    /// The size of the buffer, of which the kernel fills at most half at a time.
    private static let bufferByteCount = 1 << 16
    /// The maximum number of times that a list is read because it changed while it was read.
    private static let attempts = 4

    /// Requests a list by its `RTM_GET…`, whose request has `byteCount` bytes after the header.
    static func list(_ type: UInt16, byteCount: Int) throws -> [Message] {
        let descriptor = socket(AF_NETLINK, Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue), route)
        guard descriptor >= 0 else { throw IOError(errnoCode: errno, reason: "a socket of netlink") }
        defer { close(descriptor) }
        var question: [UInt8] = []
        question.append(native: UInt32(headerByteCount + byteCount))
        question.append(native: type)
        question.append(native: request | dump)
        question += [UInt8](repeating: 0, count: headerByteCount - question.count + byteCount)
        var messages: [Message] = []
        for _ in 0..<attempts {
            messages = try answer(to: question, through: descriptor)
            if !messages.contains(where: { $0.flags & wasInterrupted != 0 }) { break }
        }
        return messages
    }

    private static func answer(to question: [UInt8], through descriptor: Int32) throws -> [Message] {
        guard send(descriptor, question, question.count, 0) == question.count else {
            throw IOError(errnoCode: errno, reason: "a question of netlink")
        }
        var messages: [Message] = []
        var buffer = [UInt8](repeating: 0, count: bufferByteCount)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw IOError(errnoCode: errno, reason: "an answer of netlink") }
            for message in Self.messages(in: buffer[..<count]) {
                switch message.type {
                case done: return messages
                case error: throw IOError(errnoCode: EPROTO, reason: "a list of netlink")
                default: messages.append(message)
                }
            }
        }
    }

    /// Returns the messages of a datagram, up to the first truncated one.
    static func messages(in bytes: ArraySlice<UInt8>) -> [Message] {
        var messages: [Message] = []
        var rest = bytes
        while let length: UInt32 = rest.native(at: 0), let type: UInt16 = rest.native(at: 4),
            let flags: UInt16 = rest.native(at: 6), length >= headerByteCount, length <= rest.count
        {
            messages.append(
                Message(type: type, flags: flags, body: rest.prefix(Int(length)).dropFirst(headerByteCount)))
            rest = rest.dropFirst((Int(length) + 3) & ~3)
        }
        return messages
    }

    /// Returns the attributes of a message by their types, up to the first truncated one.
    static func attributes(in bytes: ArraySlice<UInt8>) -> [UInt16: ArraySlice<UInt8>] {
        var attributes: [UInt16: ArraySlice<UInt8>] = [:]
        var rest = bytes
        while let length: UInt16 = rest.native(at: 0), let type: UInt16 = rest.native(at: 2), length >= 4,
            length <= rest.count
        {
            // Without the flags `NLA_F_NESTED` and `NLA_F_NET_BYTEORDER`.
            attributes[type & 0x3FFF] = rest.prefix(Int(length)).dropFirst(4)
            rest = rest.dropFirst((Int(length) + 3) & ~3)
        }
        return attributes
    }
}

extension ArraySlice<UInt8> {
    /// Returns a number in the machine's byte order, or nil behind the end.
    func native<Number: FixedWidthInteger>(at offset: Int) -> Number? {
        guard offset >= 0, offset + MemoryLayout<Number>.size <= count else { return nil }
        return withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Number.self) }
    }

    /// The text up to the first zero.
    var zeroTerminated: String { String(decoding: prefix { $0 != 0 }, as: UTF8.self) }
}

extension [UInt8] {
    mutating func append(native number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number) { append(contentsOf: $0) }
    }
}
