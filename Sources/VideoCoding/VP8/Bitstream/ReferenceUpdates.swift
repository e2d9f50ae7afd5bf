/// The reference frames to which later frames can refer (RFC 6386 §9.7).
enum ReferenceFrame: CaseIterable {
    case last, golden, alternate
}

/// The reference frames that a frame updates, in addition to the last frame (RFC 6386 §9.7).
struct ReferenceUpdates: Equatable {
    var golden: Bool
    var alternate: Bool

    /// The updates of a key frame.
    static let all = ReferenceUpdates(golden: true, alternate: true)

    init(golden: Bool, alternate: Bool) {
        self.golden = golden
        self.alternate = alternate
    }
}
