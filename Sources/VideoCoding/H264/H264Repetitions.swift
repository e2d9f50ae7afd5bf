internal import RTCShareMedia
internal import RTCShareRTP

/// Repetitions of OpenH264's last frame without the library, which needs as long for an unchanged frame as for a change.
///
/// A repetition is a slice of skipped macroblocks (H.264 §7.3.4) without a loop filter. No frame refers to it, so that
/// the library's frame numbers stay valid (§7.4.3). But each frame has an order count of its own (§8.2.1): those of the
/// library's later frames are increased.
struct H264Repetitions {
    /// The maximum number of repetitions in a row, since order counts are sent with 16 bits.
    static let longestRow = 10_000

    /// The end of the header of OpenH264's sequence parameter sets: frame numbers of 15 bits, order counts of 16. Other
    /// bits follow.
    private static let numbering: [UInt8] = [0x8C, 0x8D]
    /// OpenH264's picture parameter set: CAVLC, one reference, and a filter parameter in each slice.
    private static let pictureParameters: [UInt8] = [0x68, 0xCE, 0x3C, 0x80]

    /// The frame number and the order count of the last frame, as the library has them. Nil if a key frame has other
    /// parameter sets than expected, or before the first one.
    private var last: (frame: UInt32, order: UInt32)?
    /// The number of macroblocks in a frame.
    private var macroblocks = 0
    /// The number of repetitions since the last key frame, and since the last frame.
    private var (count, row): (UInt32, Int) = (0, 0)

    /// Records a frame of the library, and returns it with its own order count.
    mutating func following(_ frame: H264Coder.Frame) throws(VideoCodingError) -> [UInt8] {
        row = 0
        if frame.isKeyFrame {
            count = 0
            last = Self.isExpected(frame.data) ? (0, 0) : nil
            macroblocks = frame.size.macroblocks
            return frame.data
        }
        // Only the beginning matters if nothing changes.
        guard last != nil, let (start, slice) = Self.slice(of: frame.data, limit: count > 0 ? .max : 16) else {
            last = nil
            // After repetitions its own order count would be an earlier one, and decoders would show it out of order.
            guard count == 0 else {
                throw .codecFailed(
                    library: "OpenH264", operation: "numbering a frame", reason: "it has an unexpected header")
            }
            return frame.data
        }
        var bits = slice.prefix(Self.headerBytes).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let order = UInt32(truncatingIfNeeded: bits >> 6) & 0xFFFF
        last = (UInt32(truncatingIfNeeded: bits >> 22) & 0x7FFF, order)
        guard count > 0 else { return frame.data }
        bits = bits & ~(0xFFFF << 6) | UInt64((order &+ count &* 2) & 0xFFFF) << 6
        let header = (0..<Self.headerBytes).map { UInt8(truncatingIfNeeded: bits >> (8 * (Self.headerBytes - 1 - $0))) }
        return frame.data[..<start] + Self.protected(header + slice.dropFirst(Self.headerBytes))
    }

    /// Returns a repetition of the last frame; nil if the library must make one.
    mutating func next() -> [UInt8]? {
        guard let last, row < Self.longestRow else { return nil }
        row += 1
        count &+= 1
        var bits = BitWriter()
        // A slice of a frame that no other frame refers to.
        bits.write(1, count: 8)
        // The first macroblock, the type P, and the parameter set, which are 0.
        bits.write(0b111, count: 3)
        bits.write((last.frame + 1) & 0x7FFF, count: 15)
        bits.write((last.order &+ count &* 2) & 0xFFFF, count: 16)
        // The usual references in the usual order, and the usual quantizer.
        bits.write(0b001, count: 3)
        // No filter.
        bits.writeExponentialGolomb(1)
        bits.writeExponentialGolomb(UInt32(macroblocks))
        return [0, 0, 0, 1] + Self.protected(bits.finish())
    }

    // MARK: Slices

    /// The number of bytes of a slice with the numbers: a NAL unit's header, three bits, 15, 16, and further ones.
    private static let headerBytes = 6

    private static func isExpected(_ keyFrame: [UInt8]) -> Bool {
        guard let units = try? AnnexB.units(of: keyFrame.span.bytes) else { return false }
        let (sequences, pictures) = (units.filter { $0.type == 7 }, units.filter { $0.type == 8 })
        guard sequences.count == 1, pictures.count == 1, units.count(where: \.isSlice) == 1 else { return false }
        return keyFrame[sequences[0].bytes].dropFirst(4).starts(with: numbering)
            && keyFrame[pictures[0].bytes].elementsEqual(pictureParameters)
    }

    /// Returns the first bytes of the only slice of a frame without its protection, and its position. Its first three
    /// fields are 0.
    private static func slice(of frame: [UInt8], limit: Int) -> (start: Int, bytes: [UInt8])? {
        guard let units = try? AnnexB.units(of: frame.span.bytes), units.count == 1, units[0].type == 1
        else { return nil }
        var bytes: [UInt8] = []
        var zeros = 0
        for byte in frame[units[0].bytes].prefix(limit) {
            if zeros >= 2, byte == 3 {
                zeros = 0
                continue
            }
            zeros = byte == 0 ? zeros + 1 : 0
            bytes.append(byte)
        }
        guard bytes.count > headerBytes, bytes[1] >> 5 == 0b111 else { return nil }
        return (units[0].bytes.lowerBound, bytes)
    }

    /// Returns the bytes of a NAL unit without start codes in them (H.264 §7.4.1).
    private static func protected(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + 16)
        var zeros = 0
        for byte in bytes {
            if zeros >= 2, byte <= 3 {
                result.append(3)
                zeros = 0
            }
            zeros = byte == 0 ? zeros + 1 : 0
            result.append(byte)
        }
        return result
    }
}

/// A writer of the fields of a NAL unit.
private struct BitWriter {
    private var bytes: [UInt8] = []
    private var free = 0

    mutating func write(_ value: UInt32, count: Int) {
        for position in stride(from: count - 1, through: 0, by: -1) {
            if free == 0 {
                bytes.append(0)
                free = 8
            }
            free -= 1
            bytes[bytes.count - 1] |= UInt8(value >> UInt32(position) & 1) << UInt8(free)
        }
    }

    /// Writes an unsigned number as H.264 §9.1 has it.
    mutating func writeExponentialGolomb(_ value: UInt32) {
        let length = UInt32.bitWidth - (value + 1).leadingZeroBitCount
        write(0, count: length - 1)
        write(value + 1, count: length)
    }

    /// Ends the unit with a 1 and zeros.
    mutating func finish() -> [UInt8] {
        write(1, count: 1)
        return bytes
    }
}
