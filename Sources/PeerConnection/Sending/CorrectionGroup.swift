/// The group of frames that are corrected together with a frame.
enum CorrectionGroup: Hashable, Sendable {
    /// No group: the frame is not corrected.
    case none
    /// The frame and those that follow, with this number of correction packets.
    case begun(corrections: UInt8)
    /// The group of the frames before it.
    case ofFramesBefore
}
