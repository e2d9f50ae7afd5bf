package import RTCShareWireFormat

/// The header of an outgoing packet, which is written directly into the datagram (RFC 3550 §5.1, RFC 8285).
///
/// The sender builds a packet in place: this header, the payload, and padding if any. Encryption works in the same
/// memory. Nothing here allocates.
package struct OutgoingRTPHeader: Sendable {
    /// The marker bit: for video, the last packet of a frame.
    package var marker: Bool
    /// The payload type.
    package var payloadType: PayloadType
    /// The position of the packet in its stream.
    package var sequenceNumber: SequenceNumber
    /// The time of the payload's first sample on the media clock.
    package var timestamp: RTPTimestamp
    /// The stream that the packet belongs to.
    package var source: SynchronizationSource
    /// The header extensions. Only kinds that have ids in the map of ``write(to:map:)`` are written.
    package var extensions: HeaderExtensions
    /// Whether padding follows the payload, which must be written with ``ByteWriter/writePadding(_:)``.
    package var hasPadding = false

    /// Creates a header without padding.
    package init(
        marker: Bool, payloadType: PayloadType, sequenceNumber: SequenceNumber, timestamp: RTPTimestamp,
        source: SynchronizationSource, extensions: HeaderExtensions = HeaderExtensions()
    ) {
        self.marker = marker
        self.payloadType = payloadType
        self.sequenceNumber = sequenceNumber
        self.timestamp = timestamp
        self.source = source
        self.extensions = extensions
    }

    /// Returns the number of bytes that ``write(to:map:)`` writes, a multiple of four.
    package func byteCount(map: HeaderExtensionMap) -> Int {
        let block = ExtensionBlock(extensions, map)
        return RTPHeader.fixedByteCount + (block.elementByteCount == 0 ? 0 : 4 + block.paddedByteCount)
    }

    /// Writes the header. Extensions whose kind has no id in `map` are omitted. The two-byte form is used if an id or
    /// an element doesn't fit the one-byte form.
    package func write(to writer: inout ByteWriter, map: HeaderExtensionMap) throws(EndOfBytes) {
        let block = ExtensionBlock(extensions, map)
        let hasExtension = block.elementByteCount > 0
        try writer.write(UInt8(0x80 | (hasPadding ? 0x20 : 0) | (hasExtension ? 0x10 : 0)))
        try writer.write(payloadType.rawValue | (marker ? 0x80 : 0))
        try writer.write(sequenceNumber.rawValue)
        try writer.write(timestamp.rawValue)
        try writer.write(source.rawValue)
        guard hasExtension else { return }
        try writer.write(UInt16(block.isTwoByte ? 0x1000 : 0xBEDE))
        try writer.write(UInt16(truncatingIfNeeded: block.paddedByteCount / 4))
        try block.write(extensions, to: &writer)
        try writer.writeZeros(block.paddedByteCount - block.elementByteCount)
    }
}

/// The size of the elements of a header extension block, and the form that fits them all.
///
/// The kinds are written out instead of a loop, which would compare the kind in each turn: this runs for every packet.
private struct ExtensionBlock {
    private let map: HeaderExtensionMap
    private(set) var isTwoByte = false
    private(set) var elementByteCount = 0

    init(_ extensions: borrowing HeaderExtensions, _ map: HeaderExtensionMap) {
        self.map = map
        var elements = 0
        if let text = extensions.mediaIdentification { add(.mediaIdentification, text, to: &elements) }
        if let text = extensions.streamIdentification { add(.streamIdentification, text, to: &elements) }
        if let text = extensions.repairedStreamIdentification {
            add(.repairedStreamIdentification, text, to: &elements)
        }
        if extensions.absoluteSendTime != nil { add(.absoluteSendTime, byteCount: 3, to: &elements) }
        if extensions.transportSequenceNumber != nil { add(.transportSequenceNumber, byteCount: 2, to: &elements) }
        if extensions.videoOrientation != nil { add(.videoOrientation, byteCount: 1, to: &elements) }
        if extensions.playoutDelay != nil { add(.playoutDelay, byteCount: 3, to: &elements) }
        if extensions.videoContentType != nil { add(.videoContentType, byteCount: 1, to: &elements) }
        if extensions.audioLevel != nil { add(.audioLevel, byteCount: 1, to: &elements) }
        if let descriptor = extensions.dependencyDescriptor {
            add(.dependencyDescriptor, byteCount: descriptor.byteCount, to: &elements)
        }
        elementByteCount += elements * (isTwoByte ? 2 : 1)
    }

    private mutating func add(_ kind: HeaderExtensionKind, _ text: String, to elements: inout Int) {
        add(kind, byteCount: min(255, text.utf8.count), to: &elements)
    }

    private mutating func add(_ kind: HeaderExtensionKind, byteCount: Int, to elements: inout Int) {
        guard let id = map[kind] else { return }
        elements += 1
        elementByteCount += byteCount
        // An empty value has no one-byte form, since its length field counts from one (RFC 8285 §4.2).
        if id > 14 || byteCount > 16 || byteCount == 0 { isTwoByte = true }
    }

    var paddedByteCount: Int { (elementByteCount + 3) & ~3 }

    func write(_ extensions: borrowing HeaderExtensions, to writer: inout ByteWriter) throws(EndOfBytes) {
        if let text = extensions.mediaIdentification { try write(.mediaIdentification, text, to: &writer) }
        if let text = extensions.streamIdentification { try write(.streamIdentification, text, to: &writer) }
        if let text = extensions.repairedStreamIdentification {
            try write(.repairedStreamIdentification, text, to: &writer)
        }
        if let time = extensions.absoluteSendTime, try begin(.absoluteSendTime, byteCount: 3, in: &writer) {
            try write24(time.rawValue, to: &writer)
        }
        if let number = extensions.transportSequenceNumber,
            try begin(.transportSequenceNumber, byteCount: 2, in: &writer)
        {
            try writer.write(number.rawValue)
        }
        if let orientation = extensions.videoOrientation, try begin(.videoOrientation, byteCount: 1, in: &writer) {
            try writer.write(orientation.rawValue)
        }
        if let delay = extensions.playoutDelay, try begin(.playoutDelay, byteCount: 3, in: &writer) {
            try write24(delay.rawValue, to: &writer)
        }
        if let type = extensions.videoContentType, try begin(.videoContentType, byteCount: 1, in: &writer) {
            try writer.write(type.rawValue)
        }
        if let level = extensions.audioLevel, try begin(.audioLevel, byteCount: 1, in: &writer) {
            try writer.write(level.rawValue)
        }
        if let descriptor = extensions.dependencyDescriptor,
            try begin(.dependencyDescriptor, byteCount: descriptor.byteCount, in: &writer)
        {
            try descriptor.write(to: &writer)
        }
    }

    private func write(
        _ kind: HeaderExtensionKind, _ text: String, to writer: inout ByteWriter
    ) throws(EndOfBytes) {
        let count = min(255, text.utf8.count)
        guard try begin(kind, byteCount: count, in: &writer) else { return }
        for byte in text.utf8.prefix(count) { try writer.write(byte) }
    }

    /// Writes an element's id and length. Returns false if the kind has no id.
    private func begin(_ kind: HeaderExtensionKind, byteCount: Int, in writer: inout ByteWriter) throws(EndOfBytes)
        -> Bool
    {
        guard let id = map[kind] else { return false }
        if isTwoByte {
            try writer.write(id)
            try writer.write(UInt8(truncatingIfNeeded: byteCount))
        } else {
            try writer.write(id << 4 | UInt8(truncatingIfNeeded: byteCount - 1))
        }
        return true
    }

    private func write24(_ value: UInt32, to writer: inout ByteWriter) throws(EndOfBytes) {
        try writer.write(UInt8(truncatingIfNeeded: value >> 16))
        try writer.write(UInt16(truncatingIfNeeded: value))
    }
}

extension ByteWriter {
    /// Writes `count` bytes of RTP padding, 1 to 255. The last byte is the count (RFC 3550 §5.1). Zero or less writes
    /// nothing, more than 255 writes 255.
    @_lifetime(self: copy self)
    package mutating func writePadding(_ count: Int) throws(EndOfBytes) {
        guard count > 0 else { return }
        let held = min(255, count)
        guard remaining >= held else { throw EndOfBytes(offset: offset) }
        try writeZeros(held - 1)
        try write(UInt8(held))
    }
}
