/// What this program shows: stripes that wander by a row each frame.
public struct Stripes: Sendable {
    /// Columns.
    public let width = 320
    /// Rows.
    public let height = 240

    /// The same stripes each time.
    public init() {}

    /// The brightness of a row in a frame.
    public func brightness(row: Int, frame: Int) -> UInt8 { (row + frame) / 16 % 2 == 0 ? 40 : 200 }
}
