/// The publishers that a subscriber wants to receive: those that it receives, and those that are missing.
struct SubscribedPublishers {
    /// Their names or ids, in the order of the request.
    let requested: [String]
    /// Whether some can be absent at the start of the session, because they may have ended their share.
    let canBeAbsent: Bool
    /// The ids at the start of the session, by names.
    private var ids: [String: JanusID] = [:]
    /// The publishers who have left, or were absent at the start.
    private(set) var missing: Set<String> = []
    /// The missing publishers who were present in the latest poll of the room.
    private var listed: Set<String> = []

    init(_ requested: [String], canBeAbsent: Bool = false) {
        (self.requested, self.canBeAbsent) = (requested, canBeAbsent)
    }

    /// Starts with those who are present in a report of the room, and returns their ids.
    /// - Throws: An error if one is absent who can't be absent, or if all are absent.
    mutating func start(with report: JanusRoomReport) throws(JanusError) -> [JanusID] {
        for name in requested { ids[name] = report.publisher(named: name)?.id }
        missing = Set(requested.filter { ids[$0] == nil })
        if let absent = requested.first(where: missing.contains), !canBeAbsent || ids.isEmpty {
            throw .noPublisher(absent, present: report.publishers.map { $0.display ?? $0.id.description })
        }
        return requested.compactMap { ids[$0] }
    }

    /// Records the publishers that have left, by the subscriber's current streams.
    mutating func update(_ streams: [JanusRoomReport.Stream]) {
        let present = Set(streams.compactMap(\.feedID))
        missing = Set(requested.filter { name in ids[name].map { !present.contains($0) } ?? true })
    }

    /// Returns the missing publishers who are present again, according to this report of the room and the one before. A
    /// publisher that has just left can still be listed once.
    mutating func returned(in report: JanusRoomReport) -> Set<String> {
        let before = listed
        listed = missing.filter { report.publisher(named: $0) != nil }
        return listed.intersection(before)
    }
}
