/// The payload formats of all video codecs.
package enum VideoPayloadFormats {
    /// The formats of a connection whose owner sets none: those without a library that a machine may lack.
    package static let basic: [any VideoPayloadFormat] = [.vp8]

    /// The formats whose payloads can be explained.
    package static let explained: [any VideoPayloadFormat] = [.vp8, .av1, .h264]
}
