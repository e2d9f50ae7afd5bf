internal import RTCShareMedia
internal import RTCShareRTP

/// An AV1 frame that continues the last one: a part moved, and macroblocks of few colors changed.
///
/// In real time, libaom finds no distant moves, and codes a page that scrolled as new. It also tries no palettes where the
/// last frame predicts a little of new text, which then takes three times the bits, and is never exact. This frame
/// expresses a move in some hundred bytes, and text exactly. It depends only on one reference frame. The probabilities
/// that belong to it are the initial ones, which the next frame must not use (`primary_ref_frame`). It is not shown until
/// ``show(_:)``.
struct AV1PartialFrame {
    /// The maximum distance of a vector in one direction (AV1 §6.10.24).
    static let largestDistance = 2047
    /// The quantizer index in its header. Nothing is quantized.
    static let quantizer = 128
    /// The maximum size of a tile in superblocks of 64 by 64 pixels (AV1 §5.9.15). A frame has one tile here.
    private static let largestTile = (area: 2304, width: 64)

    /// The image after the frame.
    let image: I420Picture
    /// The part that moves; nil for none.
    let scroll: Scroll?
    /// The macroblocks that have few colors, and are not predicted from another frame.
    let painted: MacroblockMap

    init(image: I420Picture, scroll: Scroll? = nil, painted: MacroblockMap? = nil) {
        self.image = image
        self.scroll = scroll
        self.painted = painted ?? MacroblockMap(size: image.size)
    }

    /// The reference frame that it continues.
    struct Reference {
        /// The slot that holds that.
        var slot = 0
        /// The slots to refresh, one bit for each.
        var slots: UInt8 = 0xFF
    }

    /// Returns whether frames can be written in a sequence, and a vector can express the scroll.
    static func canExpress(_ scroll: Scroll?, size: PixelSize, in sequence: AV1SequenceHeader) -> Bool {
        guard sequence.width == size.width, sequence.height == size.height, let tools = try? sequence.readTools(),
            header(for: size, Reference(), tools) != nil
        else { return false }
        guard let scroll else { return true }
        return scroll.size == size && scroll.isWithinFrame
            && max(abs(scroll.rows), abs(scroll.columns)) <= largestDistance
    }

    /// Returns the OBU of the frame; nil unless it ``canExpress(_:size:in:)``.
    func data(of reference: Reference, in sequence: AV1SequenceHeader) throws(VideoCodingError) -> [UInt8]? {
        guard Self.canExpress(scroll, size: image.size, in: sequence), let tools = try? sequence.readTools(),
            let header = Self.header(for: image.size, reference, tools)
        else { return nil }
        return try image.withPlanePointers { Self.unit(.frame, PartialTileWriter.write(self, $0, after: header)) }
    }

    /// Returns an OBU that shows the frame in a slot (`show_existing_frame`).
    static func show(_ slot: Int) -> [UInt8] {
        var bits = HeaderBitWriter()
        bits.write(true)
        bits.write(slot, bits: 3)
        // The trailing bits begin with a one.
        bits.write(true)
        return unit(.frameHeader, bits.bytes)
    }

    /// Returns an OBU with a size (AV1 §5.3).
    private static func unit(_ kind: OpenBitstreamUnit.Kind, _ payload: [UInt8]) -> [UInt8] {
        var unit = [kind.rawValue << 3 | 0x02]
        LEB128.append(payload.count, to: &unit)
        return unit + payload
    }

    /// Returns the bytes of `uncompressed_header()` (AV1 §5.9.2).
    private static func header(for size: PixelSize, _ reference: Reference, _ tools: AV1Tools) -> [UInt8]? {
        let (columns, rows) = ((size.width + 63) / 64, (size.height + 63) / 64)
        guard !tools.hasFrameIdentifiers, !tools.hasLargeSuperblocks, !tools.hasIntraFilter, !tools.hasInterIntra,
            !tools.hasOrderHints, tools.screenContent != false, tools.integerVectors != false,
            columns <= largestTile.width, columns * rows <= largestTile.area
        else { return nil }
        var bits = HeaderBitWriter()
        // A new inter frame.
        bits.write(false)
        bits.write(1, bits: 2)
        // It is not shown, but can be later.
        bits.write(false)
        bits.write(true)
        // Error-resilient: nothing is taken from former frames but the image. Probabilities adapt within the tile.
        bits.write(true)
        bits.write(false)
        // Vectors are of whole pixels.
        if tools.screenContent == nil { bits.write(true) }
        if tools.integerVectors == nil { bits.write(true) }
        // The size is the sequence's. All seven references are the same.
        bits.write(false)
        bits.write(Int(reference.slots), bits: 8)
        for _ in 0..<7 { bits.write(reference.slot, bits: 3) }
        // Neither a smaller width nor another size for display.
        if tools.hasSuperResolution { bits.write(false) }
        bits.write(false)
        // The bilinear filter, which interpolates chroma at half samples, and no other kinds of motion.
        bits.write(false)
        bits.write(3, bits: 2)
        bits.write(false)
        // The adapted probabilities are not kept.
        bits.write(true)
        // One tile: uniform spacing, and no more columns or rows.
        bits.write(true)
        if columns > 1 { bits.write(false) }
        if rows > 1 { bits.write(false) }
        // Any quantizer but that of lossless frames, since nothing is quantized. No deltas, matrices or segments.
        bits.write(quantizer, bits: 8)
        bits.write(0, bits: 3 + 1 + 1 + 1)
        // Loop filters: level, sharpness, deltas.
        bits.write(0, bits: 12 + 3 + 1)
        if tools.hasDirectionalFilter { bits.write(0, bits: 2 + 2 + 12) }
        if tools.hasRestoration { bits.write(0, bits: 3 * 2) }
        // The largest transforms, single references, all transform types, and no global motion.
        bits.write(0, bits: 1 + 1 + 1 + 7)
        return bits.bytes
    }
}
