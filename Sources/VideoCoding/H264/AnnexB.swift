/// The format of H.264 frames as a stream of bytes: NAL units after start codes (H.264 Annex B).
package enum AnnexB {
    /// A NAL unit of a frame (H.264 §7.3.1).
    package struct Unit: Hashable, Sendable {
        /// Its `nal_unit_type`.
        package let type: UInt8
        /// Its bytes in the frame, from its header on, without the start code.
        package let bytes: Range<Int>

        static let idrSlice: UInt8 = 5
        static let sequenceParameters: UInt8 = 7
        static let pictureParameters: UInt8 = 8
        /// Slices and their partitions.
        static let slices: ClosedRange<UInt8> = 1...5

        /// Whether it has a part of the coded picture.
        package var isSlice: Bool { Self.slices.contains(type) }
    }

    /// Returns the NAL units of a frame.
    package static func units(of frame: Span<UInt8>) throws(VideoCodingError) -> [Unit] {
        var units: [Unit] = []
        try forEachUnit(of: frame) { unit in
            units.append(unit)
            return true
        }
        return units
    }

    /// Calls `body` with each NAL unit until it returns false.
    static func forEachUnit(of frame: Span<UInt8>, _ body: (Unit) -> Bool) throws(VideoCodingError) {
        guard var start = firstUnit(of: frame) else { throw .corruptedFrame(reason: "it begins without a start code") }
        while start < frame.count {
            let code = nextCode(in: frame, from: start)
            var end = code ?? frame.count
            // Zeros before a start code, and at the end, belong to no unit.
            while end > start, frame[end - 1] == 0 { end -= 1 }
            guard end > start else { throw .corruptedFrame(reason: "a NAL unit is empty") }
            guard frame[start] & 0x80 == 0 else { throw .corruptedFrame(reason: "a NAL unit's forbidden bit is set") }
            guard body(Unit(type: frame[start] & 0x1F, bytes: start..<end)), let code else { return }
            start = code + 3
        }
        throw .corruptedFrame(reason: "it ends with a start code")
    }

    /// Returns the index after the first start code, if only zeros are before it.
    private static func firstUnit(of frame: Span<UInt8>) -> Int? {
        guard let code = nextCode(in: frame, from: 0) else { return nil }
        for index in 0..<code where frame[index] != 0 { return nil }
        return code + 3
    }

    /// Returns the index of the next start code's three bytes.
    private static func nextCode(in frame: Span<UInt8>, from start: Int) -> Int? {
        var index = start + 2
        while index < frame.count {
            switch frame[index] {
            case 0: index += 1
            case 1 where frame[index - 1] == 0 && frame[index - 2] == 0: return index - 2
            default: index += 3
            }
        }
        return nil
    }
}
