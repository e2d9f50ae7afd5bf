/// The codec of a video for viewers who accept it, with the reason for it.
package struct CodecDecision: Sendable, Hashable {
    /// The reason for a codec.
    package enum Reason: String, Codable, CaseIterable, Sendable {
        /// The owner has chosen it.
        case chosen
        /// The machine has no other one.
        case only
        /// A recording has one codec.
        case recording
        /// The machine was too slow for the alternative.
        case processor
        /// Text scrolls so fast that it was coarse in the alternative.
        case scrolling
        /// The encoder of the alternative failed.
        case failed
        /// The frames are too large for the alternative.
        case size
        /// At the bitrate its frames are sharper than those of quicker codecs.
        case sharpest
        /// At the bitrate its frames arrive sooner than those of codecs with smaller frames.
        case quickest
    }

    /// The name of the codec.
    package let codec: String
    package let reason: Reason
    /// The codec that is not used for this reason; nil if there is none.
    package let alternative: String?
    /// The time until the alternative is tried again; nil if that depends on other things.
    package let retryTime: Duration?

    /// Whether the alternative is not used for some time.
    package var isResting: Bool { [.processor, .scrolling, .failed].contains(reason) }
}
