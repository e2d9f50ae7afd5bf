internal import RTCShareWireFormat

/// The heuristics of the encoder, each with a name by which it can be left out. The article of `VideoCoding` shows the
/// gain of each one at a real receiver.
package struct EncoderHeuristics: NamedOptionSet, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Fewer or smaller frames while bits or processor time are short. Without it, frames wait for their bits and are
    /// coarse.
    package static let qualityGovernor = EncoderHeuristics(rawValue: 1 << 0)
    /// A page that would take long is blurred first, and then sharpened part by part. Without it, it arrives late.
    package static let pictureSharpening = EncoderHeuristics(rawValue: 1 << 1)
    /// The encoder searches farther for motion where that pays. Without it, the search has one range.
    package static let motionSearch = EncoderHeuristics(rawValue: 1 << 2)
    /// Video without a content hint is taken for motion while most of each frame is new. Without it, it is detail.
    package static let motionDetector = EncoderHeuristics(rawValue: 1 << 3)
    /// Motion to the side is found as scrolling is. Without it, only motion up and down is.
    package static let sidewaysSearch = EncoderHeuristics(rawValue: 1 << 4)

    package static let named: KeyValuePairs<String, EncoderHeuristics> = [
        "quality-governor": .qualityGovernor, "picture-sharpening": .pictureSharpening,
        "motion-search": .motionSearch, "motion-detector": .motionDetector, "sideways-search": .sidewaysSearch,
    ]
}
