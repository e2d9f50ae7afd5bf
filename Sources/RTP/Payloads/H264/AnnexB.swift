/// The format of H.264 frames as a stream of bytes: NAL units after start codes (H.264 Annex B).
package enum AnnexB {
    /// A NAL unit of a frame (H.264 §7.3.1).
    package struct Unit: Hashable, Sendable {
        /// Its `nal_unit_type`.
        package let type: UInt8
        /// Its bytes in the frame, from its header on, without the start code.
        package let bytes: Range<Int>

        static let idrSlice: UInt8 = 5
        /// The type of a sequence parameter set.
        package static let sequenceParameters: UInt8 = 7
        /// The type of a picture parameter set.
        package static let pictureParameters: UInt8 = 8
        /// Slices and their partitions.
        static let slices: ClosedRange<UInt8> = 1...5

        /// Whether it has a part of the coded picture.
        package var isSlice: Bool { Self.slices.contains(type) }
    }

    /// Returns the NAL units of a frame.
    package static func units(of frame: RawSpan) throws(RTPError) -> [Unit] {
        var units: [Unit] = []
        try forEachUnit(of: frame) { unit in
            units.append(unit)
            return true
        }
        return units
    }

    /// Calls `body` with each NAL unit until it returns false.
    static func forEachUnit(of frame: RawSpan, _ body: (Unit) -> Bool) throws(RTPError) {
        guard var start = firstUnit(of: frame) else { throw .invalid(.startCode, offset: 0) }
        while start < frame.byteCount {
            let code = nextCode(in: frame, from: start)
            var end = code ?? frame.byteCount
            // Zeros before a start code, and at the end, belong to no unit.
            while end > start, byte(frame, end - 1) == 0 { end -= 1 }
            guard end > start else { throw .truncated(.nalUnit, offset: start) }
            let header = byte(frame, start)
            guard header & 0x80 == 0 else { throw .invalid(.nalUnit, offset: start) }
            guard body(Unit(type: header & 0x1F, bytes: start..<end)), let code else { return }
            start = code + 3
        }
        throw .truncated(.nalUnit, offset: frame.byteCount)
    }

    private static func byte(_ frame: RawSpan, _ index: Int) -> UInt8 {
        frame.unsafeLoad(fromByteOffset: index, as: UInt8.self)
    }

    /// Returns the index after the first start code, if only zeros are before it.
    private static func firstUnit(of frame: RawSpan) -> Int? {
        guard let code = nextCode(in: frame, from: 0) else { return nil }
        for index in 0..<code where byte(frame, index) != 0 { return nil }
        return code + 3
    }

    /// Returns the index of the next start code's three bytes.
    private static func nextCode(in frame: RawSpan, from start: Int) -> Int? {
        var index = start + 2
        while index < frame.byteCount {
            switch byte(frame, index) {
            case 0: index += 1
            case 1 where byte(frame, index - 1) == 0 && byte(frame, index - 2) == 0: return index - 2
            default: index += 3
            }
        }
        return nil
    }
}
