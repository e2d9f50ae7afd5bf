internal import RTCShareMedia

/// The number of a tick, shown in the picture itself: a row of black and white squares in the left upper corner.
///
/// The bits are those of a Gray code, so that from one tick to the next only one square changes, and a square more says
/// whether the number is odd: a picture read amid a change of two squares is told apart. A square is one macroblock of
/// the codec, whose middle stays black or white whatever the quantizer.
enum TickCode {
    /// Squares of the number, the lowest bit first, and the one that says whether it is odd.
    static let bitCount = 17
    /// A square's side in pixels.
    static let side = 16
    /// What the row takes of the picture.
    static let size = PixelSize(width: bitCount * side, height: side)

    /// Which squares are white.
    static func squares(of tick: Int) -> [Bool] {
        let number = UInt16(truncatingIfNeeded: tick)
        let gray = number ^ number >> 1
        return (0..<16).map { gray >> $0 & 1 == 1 } + [number & 1 == 1]
    }

    /// The number that squares stand for; nil where they contradict each other.
    static func tick(of squares: [Bool]) -> Int? {
        guard squares.count == bitCount else { return nil }
        var number: UInt16 = 0
        for bit in (0..<16).reversed() {
            let higher = bit == 15 ? false : number >> (bit + 1) & 1 == 1
            if squares[bit] != higher { number |= 1 << bit }
        }
        return (number & 1 == 1) == squares[16] ? Int(number) : nil
    }

    /// Reads the number of a picture of a screen of this size, which may have been made smaller; nil where the picture has
    /// none, or none that can be.
    static func read(_ picture: any VideoFrameBuffer, of screen: PixelSize) -> Int? {
        let scale = Double(picture.size.width) / Double(max(1, screen.width))
        let square = scale * Double(side)
        guard picture.format == .i420, square >= 4, square * Double(bitCount) <= Double(picture.size.width),
            square <= Double(picture.size.height)
        else { return nil }
        return picture.withPlanes { set in
            let (luma, stride) = (set.planes[0], set.strides[0])
            // The middle alone: at the edges the codec's filter mixes neighbours.
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
