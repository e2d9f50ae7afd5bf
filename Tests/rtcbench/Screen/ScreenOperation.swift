/// What is drawn: by the X server for senders to capture, and by ``ScreenCanvas`` to know what they should show.
enum ScreenOperation {
    /// A rectangle in one colour.
    case fill(x: Int, y: Int, width: Int, height: Int, colour: UInt32)
    /// A line of text in the fixed font, on a background of its own, so many times as large; `y` is the top of its cells.
    case text(x: Int, y: Int, [UInt8], colour: UInt32, background: UInt32, scale: Int = 1)
    /// What is there already, elsewhere too: as a terminal scrolls.
    case copy(x: Int, y: Int, width: Int, height: Int, toX: Int, toY: Int)
    /// One of the moving pictures that were made before.
    case picture(Int, x: Int, y: Int)
    /// A part of one of them.
    case part(of: Int, x: Int, y: Int, width: Int, height: Int, toX: Int, toY: Int)

    /// The squares of a tick's code, those alone that the tick before had otherwise.
    static func code(of tick: Int, after previous: Int?) -> [ScreenOperation] {
        let before = previous.map(TickCode.squares)
        let side = TickCode.side
        return TickCode.squares(of: tick).enumerated().compactMap { index, isWhite in
            guard before?[index] != isWhite else { return nil }
            return .fill(x: index * side, y: 0, width: side, height: side, colour: isWhite ? 0xFFFFFF : 0)
        }
    }
}
