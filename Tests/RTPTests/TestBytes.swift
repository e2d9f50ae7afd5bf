import RTCShareRTP
import RTCShareWireFormat
import Testing

/// The bytes of a string of hexadecimal digits; blanks are left aside.
func hex(_ text: String) -> [UInt8] {
    let digits = text.filter { !$0.isWhitespace }.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

/// Returns the bytes that `body` writes into a buffer of `capacity` bytes.
func written(capacity: Int = 2048, _ body: (inout ByteWriter) throws -> Void) throws -> [UInt8] {
    var buffer = [UInt8](repeating: 0xEE, count: capacity)
    var count = 0
    do {
        var span = buffer.mutableSpan
        var writer = ByteWriter(span.mutableBytes)
        try body(&writer)
        count = writer.offset
    }
    return Array(buffer.prefix(count))
}

/// Gives `visit` every truncation of `message`, and every version of it with one byte set to each other value.
func forEachDamage(of message: [UInt8], allValues: Bool = true, _ visit: ([UInt8]) -> Void) {
    for count in 0..<message.count { visit(Array(message.prefix(count))) }
    for index in message.indices {
        var damaged = message
        for step in allValues ? Array(1...255) : [1, 0x0F, 0x10, 0x80, 0xFF] {
            damaged[index] = message[index] ^ UInt8(step)
            visit(damaged)
        }
    }
}

/// A small generator whose numbers follow from its seed.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// Reads everything that can be read of a packet. It lies within the packet, is written as it was read, and is explained
/// in one line.
func readEverything(_ bytes: [UInt8]) {
    func check(_ holds: Bool, _ what: String) {
        // Called for so many packets that only what fails is worth a record.
        if !holds { Issue.record("\(what): \(bytes.map { String($0, radix: 16) })") }
    }
    for format in VideoPayloadFormats.explained {
        let formats = (0..<128).compactMap { PayloadType($0) }.map { ($0, format) }
        let line = PacketExplanation(formats: Dictionary(uniqueKeysWithValues: formats)).explain(bytes.span.bytes)
        check(!line.isEmpty && !line.utf8.contains { $0 < 0x20 || $0 == 0x7F }, "explained in one line")
    }
    var map = HeaderExtensionMap()
    for (index, kind) in HeaderExtensionKind.allCases.enumerated() { map[kind] = UInt8(index + 1) }
    if let header = try? RTPHeader(parsing: bytes.span.bytes) {
        check(header.payloadRange.upperBound + header.paddingByteCount == bytes.count, "payload and padding")
        check(header.extensionRange.upperBound <= header.payloadRange.lowerBound, "extension before the payload")
        _ = HeaderExtensions(header, in: bytes.span.bytes, map: map)
        _ = try? RetransmissionPayload.originalSequenceNumber(of: header.payload(of: bytes.span.bytes))
        _ = try? OpusPacket(parsing: header.payload(of: bytes.span.bytes))
    }
    if let packets = try? RTCPPacket.parse(compound: bytes.span.bytes) {
        for packet in packets {
            let written = packet.bytes
            // What is not read has zeros where its last word was cut by padding.
            if case .opaque(let unread) = packet, unread.error != nil || unread.body.count % 4 > 0 { continue }
            // An estimate beyond all rates is the highest one, of which a mantissa holds the first bits.
            if case .receiverEstimatedMaximumBitrate(let estimate) = packet,
                estimate.bitrate == .bitsPerSecond(Int64.max)
            {
                continue
            }
            if case .temporaryMaximumBitrate(let limits) = packet,
                limits.entries.contains(where: { $0.bitrate == .bitsPerSecond(Int64.max) })
            {
                continue
            }
            check((try? RTCPPacket.parse(compound: written.span.bytes)) == [packet], "written as it was read")
            if case .transportFeedback(let feedback) = packet { _ = feedback.results }
            if case .genericNACK(let nack) = packet { _ = nack.lost }
        }
    }
}
