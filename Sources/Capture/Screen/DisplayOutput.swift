public import RTCShareMedia

/// A monitor that shows a part of an X screen.
public struct DisplayOutput: Sendable, Hashable, CustomStringConvertible {
    /// RandR's name, for instance `HDMI-1`.
    public let name: String
    /// The part of the screen that it shows.
    public let area: PixelRectangle
    /// Whether the user called it the primary one.
    public let isPrimary: Bool

    /// The output called `name`, which shows `area`.
    public init(name: String, area: PixelRectangle, isPrimary: Bool) {
        self.name = name
        self.area = area
        self.isPrimary = isPrimary
    }

    /// `HDMI-1 (1920x1080+0+0)`.
    public var description: String { "\(name) (\(area.size)+\(area.x)+\(area.y))" }
}
