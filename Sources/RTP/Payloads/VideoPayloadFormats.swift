/// The payload formats of all video codecs.
package enum VideoPayloadFormats {
    /// The formats in the order of preference of descriptions.
    package static let all: [any VideoPayloadFormat] = [.vp8]
}
