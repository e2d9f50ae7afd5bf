public import WireFormat

/// The header of a packet to be sent, written straight into the outgoing datagram (RFC 3550 §5.1, RFC 8285).
///
/// The sender builds a packet in place: this header, then the payload, then padding if any; encryption follows in the
/// same memory. Nothing here allocates.
public struct OutgoingRTPHeader: Sendable {
    /// The marker bit: for video, the last packet of a frame.
    public var marker: Bool
    /// What the payload is.
    public var payloadType: PayloadType
    /// The place of the packet in its stream.
    public var sequenceNumber: SequenceNumber
    /// The media clock at the payload's first sample.
    public var timestamp: RTPTimestamp
    /// The stream that the packet belongs to.
    public var source: SynchronizationSource
    /// What the header extension carries, of the kinds that the map in ``write(to:map:)`` has ids for.
    public var extensions: HeaderExtensions
    /// Whether padding follows the payload, to be written with ``ByteWriter/writePadding(_:)``.
    public var hasPadding = false

    /// A header without padding.
    public init(
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

    /// Bytes that ``write(to:map:)`` writes: a multiple of four.
    public func byteCount(map: HeaderExtensionMap) -> Int {
        let block = ExtensionBlock(extensions, map)
        return RTPHeader.fixedByteCount + (block.elementByteCount == 0 ? 0 : 4 + block.paddedByteCount)
    }

    /// Writes the header. Extensions whose kind has no id in `map` are left out; the two-byte form is used where an id
    /// or an element doesn't fit the one-byte form.
    public func write(to writer: inout ByteWriter, map: HeaderExtensionMap) throws(EndOfBytes) {
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
        try block.writeElements(to: &writer)
        try writer.writeZeros(block.paddedByteCount - block.elementByteCount)
    }
}

/// The elements of a header extension block and the form that holds them all.
private struct ExtensionBlock {
    let extensions: HeaderExtensions
    let map: HeaderExtensionMap
    private(set) var isTwoByte = false
    private(set) var elementByteCount = 0

    init(_ extensions: HeaderExtensions, _ map: HeaderExtensionMap) {
        self.extensions = extensions
        self.map = map
        var elements = 0
        var values = 0
        for kind in HeaderExtensionKind.all {
            guard let id = map[kind], let count = valueByteCount(of: kind) else { continue }
            elements += 1
            values += count
            // An empty value has no one-byte form: its length field counts from one (RFC 8285 §4.2).
            if id > 14 || count > 16 || count == 0 { isTwoByte = true }
        }
        elementByteCount = values + elements * (isTwoByte ? 2 : 1)
    }

    var paddedByteCount: Int { (elementByteCount + 3) & ~3 }

    func writeElements(to writer: inout ByteWriter) throws(EndOfBytes) {
        for kind in HeaderExtensionKind.all {
            guard let id = map[kind], let count = valueByteCount(of: kind) else { continue }
            if isTwoByte {
                try writer.write(id)
                try writer.write(UInt8(truncatingIfNeeded: count))
            } else {
                try writer.write(id << 4 | UInt8(truncatingIfNeeded: count - 1))
            }
            try writeValue(of: kind, to: &writer)
        }
    }

    private func valueByteCount(of kind: HeaderExtensionKind) -> Int? {
        switch kind {
        case .mediaIdentification: extensions.mediaIdentification.map { min(255, $0.utf8.count) }
        case .transportSequenceNumber: extensions.transportSequenceNumber.map { _ in 2 }
        case .absoluteSendTime: extensions.absoluteSendTime.map { _ in 3 }
        case .videoOrientation: extensions.videoOrientation.map { _ in 1 }
        case .playoutDelay: extensions.playoutDelay.map { _ in 3 }
        case .videoContentType: extensions.videoContentType.map { _ in 1 }
        }
    }

    private func writeValue(of kind: HeaderExtensionKind, to writer: inout ByteWriter) throws(EndOfBytes) {
        switch kind {
        case .mediaIdentification:
            guard let text = extensions.mediaIdentification else { return }
            for byte in text.utf8.prefix(255) { try writer.write(byte) }
        case .transportSequenceNumber:
            guard let number = extensions.transportSequenceNumber else { return }
            try writer.write(number.rawValue)
        case .absoluteSendTime:
            guard let time = extensions.absoluteSendTime else { return }
            try write24(time.rawValue, to: &writer)
        case .videoOrientation:
            guard let orientation = extensions.videoOrientation else { return }
            try writer.write(orientation.rawValue)
        case .playoutDelay:
            guard let delay = extensions.playoutDelay else { return }
            try write24(delay.rawValue, to: &writer)
        case .videoContentType:
            guard let type = extensions.videoContentType else { return }
            try writer.write(type.rawValue)
        }
    }

    private func write24(_ value: UInt32, to writer: inout ByteWriter) throws(EndOfBytes) {
        try writer.write(UInt8(truncatingIfNeeded: value >> 16))
        try writer.write(UInt16(truncatingIfNeeded: value))
    }
}

extension ByteWriter {
    /// Writes `count` bytes of RTP padding, 1 to 255, the last of which says how many (RFC 3550 §5.1). Zero or less
    /// writes nothing, more than 255 writes 255.
    @_lifetime(self: copy self)
    public mutating func writePadding(_ count: Int) throws(EndOfBytes) {
        guard count > 0 else { return }
        let held = min(255, count)
        guard remaining >= held else { throw EndOfBytes(offset: offset) }
        try writeZeros(held - 1)
        try write(UInt8(held))
    }
}
