package import RTCShareCryptography
import RTCShareWireFormat

/// The class of a message (RFC 8489 §5).
package enum MessageClass: UInt16, Hashable, Sendable {
    /// A message that requires a response.
    case request = 0x000
    /// A message without a response.
    case indication = 0x010
    /// The response to a request that succeeded.
    case successResponse = 0x100
    /// The response to a request that failed.
    case errorResponse = 0x110
}

/// The method of a message: Binding or one of TURN's.
package struct Method: RawRepresentable, Hashable, Sendable {
    /// The number. RFC 8489 §18.2 limits methods to 0xFF, so that the first byte is below 4.
    package let rawValue: UInt16

    /// Creates the method with this number.
    package init(rawValue: UInt16) {
        self.rawValue = rawValue & 0xFFF
    }

    /// Binding, RFC 8489 §3.
    package static let binding = Method(rawValue: 0x001)
    /// Allocate, RFC 8656 §7.
    package static let allocate = Method(rawValue: 0x003)
    /// Refresh, RFC 8656 §8.
    package static let refresh = Method(rawValue: 0x004)
    /// Send, RFC 8656 §11: an indication to the server.
    package static let send = Method(rawValue: 0x006)
    /// Data, RFC 8656 §11: an indication from the server.
    package static let data = Method(rawValue: 0x007)
    /// CreatePermission, RFC 8656 §10.
    package static let createPermission = Method(rawValue: 0x008)
    /// ChannelBind, RFC 8656 §12.
    package static let channelBind = Method(rawValue: 0x009)
}

/// A STUN message (RFC 8489).
///
/// A parsed message keeps the bytes that its MESSAGE-INTEGRITY covers, so that ``isAuthentic(key:integrity:)`` can be
/// called after the user name has determined the key.
package struct STUNMessage: Sendable {
    /// The class of the message.
    package let messageClass: MessageClass
    /// The method of the message.
    package let method: Method
    /// The identifier of the message's transaction.
    package let transactionID: TransactionID
    /// The attributes in order, without MESSAGE-INTEGRITY, the attributes after it, and FINGERPRINT.
    package var attributes: [Attribute]
    /// Whether the parsed message had a valid FINGERPRINT.
    package private(set) var hasFingerprint = false

    private var integrity: Integrity?
    private var integritySHA256: Integrity?

    /// The value of bytes 4 to 7 of every message.
    package static let magicCookie: UInt32 = 0x2112_A442
    /// The number of bytes in a header.
    package static let headerByteCount = 20
    /// The maximum number of attributes; a message with more is rejected.
    package static let attributeLimit = 64

    private static let fingerprintMask: UInt32 = 0x5354_554E

    /// The bytes that a received MESSAGE-INTEGRITY covers, with the length field as the sender computed it, and the
    /// received value.
    private struct Integrity: Sendable {
        let covered: [UInt8]
        let value: [UInt8]

        init(before offset: Int, value: RawSpan, of bytes: RawSpan) {
            var covered = [UInt8](bytes.extracting(0..<offset))
            let length = offset + 4 + value.byteCount - STUNMessage.headerByteCount
            covered.replace(bigEndian: UInt16(truncatingIfNeeded: length), at: 2)
            self.covered = covered
            self.value = [UInt8](value)
        }
    }

    /// Creates a message to send.
    package init(
        _ messageClass: MessageClass, method: Method = .binding, transactionID: TransactionID,
        attributes: [Attribute] = []
    ) {
        self.messageClass = messageClass
        self.method = method
        self.transactionID = transactionID
        self.attributes = attributes
    }

    /// Whether bytes from a shared port are STUN (RFC 7983 §7, RFC 8489 §6.3): the first byte is 0 to 3, the cookie is
    /// correct, and there are enough bytes for a header.
    package static func isSTUN(_ bytes: RawSpan) -> Bool {
        guard bytes.byteCount >= headerByteCount else { return false }
        var reader = ByteReader(bytes)
        guard let type = try? reader.readUInt32(), let cookie = try? reader.readUInt32() else { return false }
        return type >> 24 <= 3 && cookie == magicCookie
    }

    /// Parses a message that fills `bytes`. This checks FINGERPRINT and stores MESSAGE-INTEGRITY for a later check.
    package init(parsing bytes: RawSpan) throws(STUNError) {
        guard bytes.byteCount >= Self.headerByteCount else { throw .truncatedHeader(byteCount: bytes.byteCount) }
        guard Self.isSTUN(bytes) else { throw .notSTUN }
        let header: (type: UInt16, length: Int, transactionID: TransactionID)
        do throws(EndOfBytes) {
            header = try Self.readHeader(bytes)
        } catch {
            throw .truncatedHeader(byteCount: bytes.byteCount)
        }
        guard header.length == bytes.byteCount - Self.headerByteCount, header.length % 4 == 0 else {
            throw .wrongLength(announced: header.length, actual: bytes.byteCount - Self.headerByteCount)
        }
        // The two class bits are between the bits of the method (RFC 8489 figure 3).
        guard let messageClass = MessageClass(rawValue: header.type & 0x110) else { throw .notSTUN }
        let type = header.type
        self.init(
            messageClass,
            method: Method(rawValue: type & 0xF | type >> 1 & 0x70 | type >> 2 & 0xF80),
            transactionID: header.transactionID)
        try readAttributes(bytes)
    }

    private static func readHeader(
        _ bytes: RawSpan
    ) throws(EndOfBytes) -> (type: UInt16, length: Int, transactionID: TransactionID) {
        var reader = ByteReader(bytes)
        let type = try reader.readUInt16()
        let length = Int(try reader.readUInt16())
        try reader.skip(4)
        let high = try reader.readUInt32()
        return (type, length, TransactionID(high: high, low: try reader.readUInt64()))
    }

    private mutating func readAttributes(_ bytes: RawSpan) throws(STUNError) {
        var offset = Self.headerByteCount
        var count = 0
        while offset < bytes.byteCount {
            count += 1
            guard count <= Self.attributeLimit else { throw .tooManyAttributes(offset: offset) }
            var type = AttributeType(rawValue: 0)
            let length: Int
            do throws(EndOfBytes) {
                var reader = ByteReader(bytes.extracting(offset..<bytes.byteCount))
                type = AttributeType(rawValue: try reader.readUInt16())
                length = Int(try reader.readUInt16())
                try reader.skip((length + 3) / 4 * 4)
            } catch {
                throw .truncatedAttribute(type, offset: offset)
            }
            try readAttribute(type, at: offset, byteCount: length, of: bytes)
            offset += 4 + (length + 3) / 4 * 4
        }
    }

    private mutating func readAttribute(
        _ type: AttributeType, at offset: Int, byteCount: Int, of bytes: RawSpan
    ) throws(STUNError) {
        // No attribute can follow FINGERPRINT (RFC 8489 §14.7). MESSAGE-INTEGRITY does not cover the attributes after
        // it, which are ignored, except FINGERPRINT (§14.5).
        guard !hasFingerprint else { throw .malformedAttribute(.fingerprint, offset: offset) }
        let value = bytes.extracting(offset + 4..<offset + 4 + byteCount)
        switch type {
        case .fingerprint:
            guard byteCount == 4 else { throw .malformedAttribute(type, offset: offset) }
            var crc = CRC32()
            crc.update(bytes.extracting(0..<offset))
            var reader = ByteReader(value)
            guard (try? reader.readUInt32()) == crc.value ^ Self.fingerprintMask else {
                throw .wrongFingerprint(offset: offset)
            }
            hasFingerprint = true
        case .messageIntegrity where integrity == nil && integritySHA256 == nil:
            guard byteCount == 20 else { throw .malformedAttribute(type, offset: offset) }
            integrity = Integrity(before: offset, value: value, of: bytes)
        case .messageIntegritySHA256 where integritySHA256 == nil:
            // The value can be truncated to half its length at most (RFC 8489 §14.6).
            guard (16...32).contains(byteCount), byteCount % 4 == 0 else {
                throw .malformedAttribute(type, offset: offset)
            }
            integritySHA256 = Integrity(before: offset, value: value, of: bytes)
        default:
            guard integrity == nil, integritySHA256 == nil else { return }
            attributes.append(
                try Attribute(type: type, value: value, transactionID: transactionID, offset: offset))
        }
    }
}

extension STUNMessage {
    /// Whether the parsed message had an integrity attribute of either kind.
    package var hasIntegrity: Bool { integrity != nil || integritySHA256 != nil }

    /// Whether the parsed message had an integrity attribute of this kind for `key`: the password's UTF-8 for
    /// short-term credentials, or ``longTermKey(username:realm:password:algorithm:)`` (RFC 8489 §14.5).
    package func isAuthentic(key: [UInt8], integrity algorithm: IntegrityAlgorithm = .sha1) -> Bool {
        guard let integrity = algorithm == .sha1 ? integrity : integritySHA256,
            let code = try? algorithm.hashFunction.authenticationCode(
                key: key.span.bytes, message: integrity.covered.span.bytes)
        else { return false }
        return isEqualInConstantTime(
            code.span.bytes.extracting(first: integrity.value.count), integrity.value.span.bytes)
    }

    /// Returns the key of long-term credentials (RFC 8489 §9.2.2): the hash of user name, realm and password, joined by
    /// colons. They must be in prepared form (see ``LongTermCredentials``).
    package static func longTermKey(
        username: String, realm: String, password: String, algorithm: HashFunction = .md5
    ) throws(STUNError) -> [UInt8] {
        do {
            return try algorithm.digest(of: Array("\(username):\(realm):\(password)".utf8).span.bytes)
        } catch {
            throw .integrityUnavailable
        }
    }

    /// Returns the message's bytes, with an integrity attribute of this kind if there is a key, and optionally with
    /// FINGERPRINT.
    package func encoded(
        integrityKey: [UInt8]? = nil, integrity: IntegrityAlgorithm = .sha1, fingerprint: Bool = true
    ) throws(STUNError) -> [UInt8] {
        try encoded(integrityKey: integrityKey, integrity: integrity, fingerprint: fingerprint, padding: 0)
    }

    /// Returns the message's bytes with a given byte as padding: the published test vectors pad with spaces, which RFC
    /// 5389 allowed and RFC 8489 does not.
    func encoded(
        integrityKey: [UInt8]?, integrity: IntegrityAlgorithm = .sha1, fingerprint: Bool, padding: UInt8
    ) throws(STUNError) -> [UInt8] {
        let method = method.rawValue
        var bytes: [UInt8] = []
        bytes.reserveCapacity(192)
        bytes.append(bigEndian: messageClass.rawValue | method & 0xF | (method & 0x70) << 1 | (method & 0xF80) << 2)
        bytes.append(bigEndian: UInt16(0))
        bytes.append(bigEndian: Self.magicCookie)
        bytes.append(bigEndian: transactionID.high)
        bytes.append(bigEndian: transactionID.low)
        for attribute in attributes {
            try Self.append(attribute.type, to: &bytes, padding: padding) { bytes in
                attribute.appendValue(to: &bytes, transactionID: transactionID)
            }
        }
        if let integrityKey {
            try Self.setLength(of: &bytes, adding: 4 + integrity.hashFunction.digestByteCount)
            let code: [UInt8]
            do {
                code = try integrity.hashFunction.authenticationCode(
                    key: integrityKey.span.bytes, message: bytes.span.bytes)
            } catch {
                throw .integrityUnavailable
            }
            try Self.append(integrity.attribute, to: &bytes) { $0.append(contentsOf: code) }
        }
        if fingerprint {
            try Self.setLength(of: &bytes, adding: 8)
            var crc = CRC32()
            crc.update(bytes.span.bytes)
            try Self.append(.fingerprint, to: &bytes) { $0.append(bigEndian: crc.value ^ Self.fingerprintMask) }
        }
        try Self.setLength(of: &bytes, adding: 0)
        return bytes
    }

    private static func append(
        _ type: AttributeType, to bytes: inout [UInt8], padding: UInt8 = 0, _ value: (inout [UInt8]) -> Void
    ) throws(STUNError) {
        let start = bytes.count
        bytes.append(bigEndian: type.rawValue)
        bytes.append(bigEndian: UInt16(0))
        value(&bytes)
        guard let length = UInt16(exactly: bytes.count - start - 4) else { throw .tooLong(type) }
        bytes.replace(bigEndian: length, at: start + 2)
        bytes.append(contentsOf: repeatElement(padding, count: (4 - Int(length) % 4) % 4))
    }

    private static func setLength(of bytes: inout [UInt8], adding: Int) throws(STUNError) {
        guard let length = UInt16(exactly: bytes.count - headerByteCount + adding) else {
            throw .tooLong(.messageIntegrity)
        }
        bytes.replace(bigEndian: length, at: 2)
    }
}
