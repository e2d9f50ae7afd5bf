/// Something in the course of a share that a person might have noticed, or wonders about.
struct NotableEvent: Equatable {
    /// What it is about; the most disturbing first.
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

    /// Seconds since 1970.
    let time: Double
    let kind: Kind
    /// Where it was seen.
    var place: String
    /// In plain words.
    let what: String
    /// What the figures of that time give as reasons; empty where they show none.
    var reasons: [String] = []
}
