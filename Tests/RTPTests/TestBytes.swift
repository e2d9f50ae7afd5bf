import RTP
import WireFormat

import struct Foundation.Data
import class Foundation.FileManager
import struct Foundation.URL

/// The bytes of a string of hexadecimal digits; blanks are left aside.
func hex(_ text: String) -> [UInt8] {
    let digits = text.filter { !$0.isWhitespace }.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

/// What `body` writes into a buffer of `capacity` bytes.
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

/// The folder of a corpus beside the repository; nil where it is absent.
func corpus(_ name: String) -> URL? {
    var folder = URL(fileURLWithPath: #filePath)
    while folder.path != "/" {
        folder.deleteLastPathComponent()
        let found = folder.appendingPathComponent("shared/corpora").appendingPathComponent(name)
        if FileManager.default.fileExists(atPath: found.path) { return found }
    }
    return nil
}

/// The files of a corpus, by name.
func corpusFiles(_ name: String) throws -> [(name: String, bytes: [UInt8])] {
    guard let folder = corpus(name) else { return [] }
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
    return names.compactMap { name in
        let url = folder.appendingPathComponent(name)
        guard !url.hasDirectoryPath, let data = try? Data(contentsOf: url) else { return nil }
        return (name, [UInt8](data))
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

/// Reads everything that can be read of a packet, to show that nothing traps.
func readEverything(_ bytes: [UInt8]) {
    let explanation = PacketExplanation(vp8PayloadTypes: Set((0..<128).compactMap { PayloadType($0) }))
    _ = explanation.explain(bytes.span.bytes)
    var map = HeaderExtensionMap()
    for (index, kind) in HeaderExtensionKind.allCases.enumerated() { map[kind] = UInt8(index + 1) }
    if let header = try? RTPHeader(parsing: bytes.span.bytes) {
        _ = HeaderExtensions(header, in: bytes.span.bytes, map: map)
        _ = try? RetransmissionPayload.originalSequenceNumber(of: header.payload(of: bytes.span.bytes))
        _ = try? OpusPacket(parsing: header.payload(of: bytes.span.bytes))
    }
    if let packets = try? RTCPPacket.parse(compound: bytes.span.bytes) {
        for packet in packets {
            _ = packet.bytes
            if case .transportFeedback(let feedback) = packet { _ = feedback.results }
            if case .genericNACK(let nack) = packet { _ = nack.lost }
        }
    }
}
