/// The names of a peer's candidates that are being resolved, in batches.
struct NameResolutions: Sendable {
    private(set) var tasks: [Int: Task<Void, Never>] = [:]
    private var begun = 0
    /// The user name fragment of the peer's description whose candidates end when all names are resolved.
    var endingFragment: String?

    /// The number of batches in progress.
    var count: Int { tasks.count }

    /// Starts a batch, whose end ``end(_:)`` records by its number.
    mutating func begin(_ resolve: (_ number: Int) -> Task<Void, Never>) {
        begun += 1
        tasks[begun] = resolve(begun)
    }

    /// Records the end of a batch.
    mutating func end(_ number: Int) { tasks[number] = nil }

    /// Returns the fragment whose candidates have ended, once, if no name is being resolved any more.
    mutating func takeEnding() -> String? {
        guard tasks.isEmpty else { return nil }
        defer { endingFragment = nil }
        return endingFragment
    }

    /// Cancels all batches.
    mutating func cancel() {
        for task in tasks.values { task.cancel() }
        tasks = [:]
    }
}
