public import RTCShareMedia

/// A monitor that shows a part of an X screen.
public struct DisplayOutput: Sendable, Hashable, CustomStringConvertible {
    /// RandR's name, for instance `HDMI-1`.
    public let name: String
    /// What its maker calls it, for instance `DELL U2720Q`; nil where the monitor doesn't say.
    public let productName: String?
    /// The part of the screen that it shows.
    public let area: PixelRectangle
    /// Whether the user called it the primary one.
    public let isPrimary: Bool

    /// The output called `name`, which shows `area`.
    public init(name: String, productName: String? = nil, area: PixelRectangle, isPrimary: Bool) {
        self.name = name
        self.productName = productName
        self.area = area
        self.isPrimary = isPrimary
    }

    /// `HDMI-1 (1920x1080+0+0)`.
    public var description: String { "\(name) (\(area.size)+\(area.x)+\(area.y))" }
}
