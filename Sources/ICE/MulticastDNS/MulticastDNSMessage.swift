package import RTCShareWireFormat

/// An error in bytes that are not a DNS message.
package enum MulticastDNSError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The message ends within a field.
    case truncated(offset: Int)
    /// A name is too long, has an unknown form, or refers to itself.
    case malformedName(offset: Int)
    /// The length of an address record does not match its type.
    case malformedRecord(offset: Int)
    /// The message has more questions or records than ``MulticastDNSMessage/entryLimit``.
    case tooManyEntries

    /// The error and its position.
    package var description: String {
        switch self {
        case .truncated(let offset): "DNS message: cut short in the field at byte \(offset)"
        case .malformedName(let offset): "DNS message: malformed name at byte \(offset)"
        case .malformedRecord(let offset): "DNS message: malformed record at byte \(offset)"
        case .tooManyEntries: "DNS message: too many questions or records"
        }
    }
}

/// The part of a multicast DNS message (RFC 6762) that concerns names and addresses.
package struct MulticastDNSMessage: Hashable, Sendable {
    /// The type of the records in a question.
    package enum RecordType: UInt16, Hashable, Sendable {
        /// An IPv4 address.
        case a = 1
        /// An IPv6 address.
        case aaaa = 28
        /// All records.
        case any = 255
    }

    /// A question for the addresses of a name.
    package struct Question: Hashable, Sendable {
        /// The name.
        package var name: MulticastDNSName
        /// The type of the records.
        package var type: RecordType
        /// Whether the response may be unicast to the sender (the QU bit, RFC 6762 §5.4).
        package var wantsUnicast: Bool

        package init(name: MulticastDNSName, type: RecordType, wantsUnicast: Bool = false) {
            self.name = name
            self.type = type
            self.wantsUnicast = wantsUnicast
        }
    }

    /// An address record.
    package struct Answer: Hashable, Sendable {
        /// The name of the host.
        package var name: MulticastDNSName
        /// The address.
        package var address: IPAddress
        /// The time for which the record is valid. A name has no explicit end (RFC 6762 §10.1).
        package var timeToLive: Duration

        package init(name: MulticastDNSName, address: IPAddress, timeToLive: Duration = .seconds(120)) {
            self.name = name
            self.address = address
            self.timeToLive = timeToLive
        }
    }

    /// The identifier: zero in multicast, and repeated in a response to a query from another port than 5353 (RFC 6762
    /// §6.7).
    package var identifier: UInt16 = 0
    /// Whether this is a response.
    package var isResponse: Bool
    /// The questions for addresses. Others are ignored.
    package var questions: [Question] = []
    /// The address records, including additional ones. Others are ignored.
    package var answers: [Answer] = []

    /// The maximum number of questions and records; a message with more is rejected.
    package static let entryLimit = 256
    /// The port of multicast DNS.
    package static let port: UInt16 = 5353
    /// The IPv4 group, `224.0.0.251:5353`.
    package static let groupV4 = TransportAddress(ip: .v4(0xE000_00FB), port: port)
    /// The IPv6 group, `[ff02::fb]:5353`.
    package static let groupV6 = TransportAddress(ip: .v6(0xFF02_0000_0000_0000, 0xFB), port: port)

    /// Returns the query for a name's addresses of one family. A message has one question, since Chromium's responder
    /// ignores messages with more.
    package static func query(
        for name: MulticastDNSName, type: RecordType, wantsUnicast: Bool = false
    ) -> MulticastDNSMessage {
        MulticastDNSMessage(
            isResponse: false, questions: [Question(name: name, type: type, wantsUnicast: wantsUnicast)])
    }

    /// Returns the response with a name's addresses.
    package static func response(for name: MulticastDNSName, addresses: [IPAddress]) -> MulticastDNSMessage {
        MulticastDNSMessage(isResponse: true, answers: addresses.map { Answer(name: name, address: $0) })
    }

    private init(isResponse: Bool, questions: [Question] = [], answers: [Answer] = []) {
        self.isResponse = isResponse
        self.questions = questions
        self.answers = answers
    }

    /// Parses a message.
    package init(parsing bytes: RawSpan) throws(MulticastDNSError) {
        var fields: [Int] = []
        for index in 0..<6 { fields.append(Int(try Self.field(bytes, at: index * 2))) }
        identifier = UInt16(truncatingIfNeeded: fields[0])
        isResponse = fields[1] & 0x8000 != 0
        let recordCount = fields[3] + fields[4] + fields[5]
        guard fields[2] + recordCount <= Self.entryLimit else { throw .tooManyEntries }
        var offset = 12
        for _ in 0..<fields[2] {
            let (name, end) = try MulticastDNSName.read(bytes, at: offset)
            let type = try Self.field(bytes, at: end)
            let recordClass = try Self.field(bytes, at: end + 2)
            if let type = RecordType(rawValue: type), recordClass & 0x7FFF == 1 {
                questions.append(Question(name: name, type: type, wantsUnicast: recordClass & 0x8000 != 0))
            }
            offset = end + 4
        }
        for _ in 0..<recordCount { try readRecord(bytes, at: &offset) }
    }

    private mutating func readRecord(_ bytes: RawSpan, at offset: inout Int) throws(MulticastDNSError) {
        let (name, end) = try MulticastDNSName.read(bytes, at: offset)
        let type = try Self.field(bytes, at: end)
        // The top bit of the class tells caches to flush (RFC 6762 §10.2), and does not matter here.
        let isInternet = try Self.field(bytes, at: end + 2) & 0x7FFF == 1
        let seconds = UInt32(try Self.field(bytes, at: end + 4)) << 16 | UInt32(try Self.field(bytes, at: end + 6))
        let length = Int(try Self.field(bytes, at: end + 8))
        let start = end + 10
        guard start + length <= bytes.byteCount else { throw .truncated(offset: start) }
        let known = RecordType(rawValue: type)
        if isInternet, isResponse, known == .a || known == .aaaa {
            guard let address = IPAddress(networkOrder: bytes.extracting(start..<start + length)),
                address.isV4 == (known == .a)
            else { throw .malformedRecord(offset: start) }
            answers.append(Answer(name: name, address: address, timeToLive: .seconds(Int(seconds))))
        }
        offset = start + length
    }

    private static func field(_ bytes: RawSpan, at offset: Int) throws(MulticastDNSError) -> UInt16 {
        guard offset + 2 <= bytes.byteCount else { throw .truncated(offset: offset) }
        return UInt16(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt16.self))
    }

    /// Returns the message's bytes, with uncompressed names.
    package func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: identifier)
        bytes.append(bigEndian: isResponse ? 0x8400 : UInt16(0))
        bytes.append(bigEndian: UInt16(clamping: questions.count))
        bytes.append(bigEndian: UInt16(clamping: answers.count))
        bytes.append(bigEndian: UInt32(0))
        for question in questions {
            question.name.append(to: &bytes)
            bytes.append(bigEndian: question.type.rawValue)
            bytes.append(bigEndian: question.wantsUnicast ? 0x8001 : UInt16(1))
        }
        for answer in answers {
            answer.name.append(to: &bytes)
            bytes.append(bigEndian: (answer.address.isV4 ? RecordType.a : .aaaa).rawValue)
            bytes.append(bigEndian: UInt16(0x8001))
            bytes.append(bigEndian: UInt32(clamping: answer.timeToLive.components.seconds))
            switch answer.address {
            case .v4(let value):
                bytes.append(bigEndian: UInt16(4))
                bytes.append(bigEndian: value)
            case .v6(let high, let low):
                bytes.append(bigEndian: UInt16(16))
                bytes.append(bigEndian: high)
                bytes.append(bigEndian: low)
            }
        }
        return bytes
    }
}

extension IPAddress {
    /// Creates the address of a record; nil unless there are 4 or 16 bytes.
    fileprivate init?(networkOrder bytes: RawSpan) {
        var reader = ByteReader(bytes)
        if bytes.byteCount == 4, let value = try? reader.readUInt32() {
            self = .v4(value)
        } else if bytes.byteCount == 16, let high = try? reader.readUInt64(), let low = try? reader.readUInt64() {
            self = .v6(high, low)
        } else {
            return nil
        }
    }
}
