import RTCShareWireFormat

/// The dependency descriptor of a packet (AV1 RTP, appendix A), by which servers forward frames without their payload.
///
/// A stream without layers has two templates: a key frame, and a frame that refers to the one before. Of the structure
/// of other streams nothing is read.
package struct DependencyDescriptor: Hashable, Sendable {
    /// Whether the packet is the first of its frame.
    package var startsFrame: Bool
    /// Whether the packet is the last of its frame.
    package var endsFrame: Bool
    /// The template on which the frame depends, 0 to 63.
    package var template: UInt8
    /// The number of the frame.
    package var number: FrameNumber
    /// The structure of a stream without layers, which the first packet of a key frame has; nil for none or another.
    package var structure: Structure?

    /// The structure of a stream without layers.
    package struct Structure: Hashable, Sendable {
        /// The width of frames minus one.
        fileprivate let lastColumn: UInt16
        /// The height of frames minus one.
        fileprivate let lastRow: UInt16

        /// Creates the structure of frames of a size, which is limited to 1 to 65,536 pixels per side.
        package init(width: Int, height: Int) {
            lastColumn = UInt16(clamping: width - 1)
            lastRow = UInt16(clamping: height - 1)
        }

        /// The width of frames in pixels.
        package var width: Int { Int(lastColumn) + 1 }
        /// The height of frames in pixels.
        package var height: Int { Int(lastRow) + 1 }
    }

    /// The template of key frames in a stream without layers.
    package static let keyFrameTemplate: UInt8 = 0
    /// The template of other frames in a stream without layers.
    package static let deltaFrameTemplate: UInt8 = 1
    /// The maximum number of bytes that are written, more than those of a descriptor without a structure.
    package static let maximumByteCount = 13

    package init(
        startsFrame: Bool, endsFrame: Bool, template: UInt8, number: FrameNumber, structure: Structure? = nil
    ) {
        self.startsFrame = startsFrame
        self.endsFrame = endsFrame
        self.template = template & 0x3F
        self.number = number
        self.structure = structure
    }

    /// The bits before the size, whose last ones begin the 40 bits with the size: the flag of a structure, no other
    /// flags, no offset of templates, one decode target. Two templates of one layer, both of which the decode target
    /// can switch to, the second with a frame difference of 1. One chain, with the differences 0 and 1. The flag of
    /// resolutions.
    private static let structureHead: (UInt32, UInt8) = (0x8000_3A41, 0x01)
    private static let resolutionFlag: UInt64 = 1 << 39

    init(_ reader: inout ByteReader) throws(EndOfBytes) {
        let first = try reader.readUInt8()
        self.init(
            startsFrame: first & 0x80 != 0, endsFrame: first & 0x40 != 0, template: first & 0x3F,
            number: FrameNumber(try reader.readUInt16()))
        guard reader.remaining >= Self.maximumByteCount - 3 else { return }
        let head = (try reader.readUInt32(), try reader.readUInt8())
        let rest = UInt64(try reader.readUInt8()) << 32 | UInt64(try reader.readUInt32())
        guard head == Self.structureHead, rest & Self.resolutionFlag != 0 else { return }
        structure = Structure(
            width: Int(UInt16(truncatingIfNeeded: rest >> 23)) + 1,
            height: Int(UInt16(truncatingIfNeeded: rest >> 7)) + 1)
    }

    /// The number of bytes on the wire.
    var byteCount: Int { structure == nil ? 3 : Self.maximumByteCount }

    func write(to writer: inout ByteWriter) throws(EndOfBytes) {
        try writer.write(UInt8((startsFrame ? 0x80 : 0) | (endsFrame ? 0x40 : 0) | template & 0x3F))
        try writer.write(number.rawValue)
        guard let structure else { return }
        let rest = Self.resolutionFlag | UInt64(structure.lastColumn) << 23 | UInt64(structure.lastRow) << 7
        try writer.write(Self.structureHead.0)
        try writer.write(Self.structureHead.1)
        try writer.write(UInt8(truncatingIfNeeded: rest >> 32))
        try writer.write(UInt32(truncatingIfNeeded: rest))
    }
}
