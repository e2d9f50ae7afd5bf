public import RTCShareMedia

/// A monitor that shows a part of an X screen.
public struct DisplayOutput: Sendable, Hashable, CustomStringConvertible {
    /// The RandR name, for example `HDMI-1`.
    public let name: String
    /// The manufacturer's product name, for example `DELL U2720Q`; nil if the monitor does not report it.
    public let productName: String?
    /// The part of the screen that it shows.
    public let area: PixelRectangle
    /// Whether the user made it the primary one.
    public let isPrimary: Bool

    /// Creates an output with a name, which shows `area`.
    public init(name: String, productName: String? = nil, area: PixelRectangle, isPrimary: Bool) {
        self.name = name
        self.productName = productName
        self.area = area
        self.isPrimary = isPrimary
    }

    /// The text `HDMI-1 (1920x1080+0+0)`.
    public var description: String { "\(name) (\(area.size)+\(area.x)+\(area.y))" }
}
