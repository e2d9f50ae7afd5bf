internal import RTCShareMedia

/// The number of a tick, visible in the frame itself: a row of black and white squares in the upper left corner.
///
/// The bits are those of a Gray code, so that consecutive ticks differ in only one square, and a further square has the
/// parity: a frame that was captured between the changes of two squares is detected. A square is one macroblock of the
/// codec, whose middle remains black or white at any quantizer.
enum TickCode {
    /// The number of squares: those of the number, the lowest bit first, and the one of the parity.
    static let bitCount = 17
    /// The side of a square in pixels.
    static let side = 16
    /// The size of the row.
    static let size = PixelSize(width: bitCount * side, height: side)

    /// Returns which squares are white.
    static func squares(of tick: Int) -> [Bool] {
        let number = UInt16(truncatingIfNeeded: tick)
        let gray = number ^ number >> 1
        return (0..<16).map { gray >> $0 & 1 == 1 } + [number & 1 == 1]
    }

    /// Returns the number of these squares; nil if they contradict each other.
    static func tick(of squares: [Bool]) -> Int? {
        guard squares.count == bitCount else { return nil }
        var number: UInt16 = 0
        for bit in (0..<16).reversed() {
            let higher = bit == 15 ? false : number >> (bit + 1) & 1 == 1
            if squares[bit] != higher { number |= 1 << bit }
        }
        return (number & 1 == 1) == squares[16] ? Int(number) : nil
    }

    /// Reads the number in a frame of a screen of this size, which may have been scaled down; nil if the frame has no
    /// valid one.
    static func read(_ picture: any VideoFrameBuffer, of screen: PixelSize) -> Int? {
        let scale = Double(picture.size.width) / Double(max(1, screen.width))
        let square = scale * Double(side)
        guard picture.format == .i420, square >= 4, square * Double(bitCount) <= Double(picture.size.width),
            square <= Double(picture.size.height)
        else { return nil }
        return picture.withPlanes { set in
            let (luma, stride) = (set.planes[0], set.strides[0])
            // Only the middle: at the edges the codec's filter mixes neighbors.
            let rows = Int(square / 4)..<max(Int(square / 4) + 1, Int(square * 3 / 4))
            return tick(
                of: (0..<bitCount).map { index in
                    let start = Double(index) * square
                    let columns =
                        Int(start + square / 4)..<max(Int(start + square / 4) + 1, Int(start + square * 3 / 4))
                    var sum = 0
                    for y in rows {
                        for x in columns { sum += Int(luma[y * stride + x]) }
                    }
                    return sum > rows.count * columns.count * 126
                })
        }
    }
}
