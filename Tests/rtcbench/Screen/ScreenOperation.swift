/// A drawing operation: executed by the X server for senders to capture, and by ``ScreenCanvas`` for the expected
/// result.
enum ScreenOperation {
    /// A rectangle in one color.
    case fill(x: Int, y: Int, width: Int, height: Int, colour: UInt32)
    /// A line of text in the fixed font with a background color, magnified by `scale`; `y` is the top of its cells.
    case text(x: Int, y: Int, [UInt8], colour: UInt32, background: UInt32, scale: Int = 1)
    /// A copy of existing pixels to another place, as in a scrolling terminal.
    case copy(x: Int, y: Int, width: Int, height: Int, toX: Int, toY: Int)
    /// One of the moving images.
    case picture(Int, x: Int, y: Int)
    /// A part of one of them.
    case part(of: Int, x: Int, y: Int, width: Int, height: Int, toX: Int, toY: Int)

    /// Returns the squares of a tick's code, only those that differ from the tick before.
    static func code(of tick: Int, after previous: Int?) -> [ScreenOperation] {
        let before = previous.map(TickCode.squares)
        let side = TickCode.side
        return TickCode.squares(of: tick).enumerated().compactMap { index, isWhite in
            guard before?[index] != isWhite else { return nil }
            return .fill(x: index * side, y: 0, width: side, height: side, colour: isWhite ? 0xFFFFFF : 0)
        }
    }
}
