/// An event in a share that users might have noticed.
struct NotableEvent: Equatable {
    /// The kind, with the most disturbing first.
    enum Kind: String, CaseIterable {
        case freeze
        case connection
        case loss
        case target
        case frames
        case delay
        case audio
        case size
        case keyFrame = "key frame"
        case source
        case route
        case viewer
        case gap
        case rest = "idle"
    }

    /// The time in seconds since 1970.
    let time: Double
    let kind: Kind
    /// The place where it was observed.
    var place: String
    /// The description in plain words.
    let what: String
    /// The reasons in the statistics of that time; empty if they contain none.
    var reasons: [String] = []
}
