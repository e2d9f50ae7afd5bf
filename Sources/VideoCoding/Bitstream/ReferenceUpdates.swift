/// The pictures that later frames may build on (RFC 6386 §9.7).
enum ReferenceFrame: CaseIterable {
    case last, golden, alternate
}

/// Which of the pictures that later frames may build on a frame has become, beside the last one (RFC 6386 §9.7).
struct ReferenceUpdates: Equatable {
    var golden: Bool
    var alternate: Bool

    /// What a key frame becomes.
    static let all = ReferenceUpdates(golden: true, alternate: true)

    init(golden: Bool, alternate: Bool) {
        self.golden = golden
        self.alternate = alternate
    }
}
