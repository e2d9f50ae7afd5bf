/// This program's own idea of a description, under a name that rtcshare has too.
public struct SessionDescription {
    /// As it is written.
    public let text: String

    /// A description of this text.
    public init(text: String) { self.text = text }

    /// How many media it offers.
    public var mediaCount: Int { text.split(separator: "\r\n").count { $0.hasPrefix("m=") } }
}
