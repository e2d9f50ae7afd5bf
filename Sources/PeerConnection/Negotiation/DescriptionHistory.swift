internal import RTCShareSDP

/// The descriptions that this side made.
struct DescriptionHistory {
    /// The newest one's version; of the first one before there is any.
    private(set) var version: UInt64 = 1
    /// The newest one, as 64 bits that tell it from others: the text takes kilobytes, and a room has thousands.
    private var newest: Int?

    /// Whether a description says what the newest one says.
    func isNewest(_ description: SessionDescription) -> Bool {
        newest == description.description.hashValue
    }

    /// Takes note of a description of this side, unless it is older than the newest.
    mutating func note(_ description: SessionDescription) {
        let noted = description.origin.flatMap { UInt64($0.sessionVersion) } ?? version
        guard newest == nil || noted >= version else { return }
        version = noted
        newest = description.description.hashValue
    }
}
