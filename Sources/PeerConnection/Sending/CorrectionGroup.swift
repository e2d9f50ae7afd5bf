/// The frames that a frame is corrected with.
enum CorrectionGroup: Hashable, Sendable {
    /// None: it is not corrected.
    case none
    /// It and those that follow, by so many packets of correction.
    case begun(corrections: UInt8)
    /// Those before it.
    case ofFramesBefore
}
