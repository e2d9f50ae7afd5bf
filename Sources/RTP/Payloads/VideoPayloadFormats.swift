/// The payload formats of all video codecs.
package enum VideoPayloadFormats {
    /// The formats in the order of preference of descriptions.
    package static let all: [any VideoPayloadFormat] = [.vp8]

    /// The formats whose payloads can be explained.
    package static let explained: [any VideoPayloadFormat] = [.vp8, .av1]
}
