internal import RTCShareSDP

/// The version and the hash of this side's latest description.
struct DescriptionHistory {
    /// The version of the latest description; that of the first one before there is any.
    private(set) var version: UInt64 = 1
    /// The hash of the latest description: its text takes kilobytes, and a room has thousands of connections.
    private var newest: Int?

    /// Whether a description is the latest one.
    func isNewest(_ description: SessionDescription) -> Bool {
        newest == description.description.hashValue
    }

    /// Records a description of this side, unless it is older than the latest.
    mutating func note(_ description: SessionDescription) {
        let noted = description.origin.flatMap { UInt64($0.sessionVersion) } ?? version
        guard newest == nil || noted >= version else { return }
        version = noted
        newest = description.description.hashValue
    }
}
