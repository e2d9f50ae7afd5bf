/// The names of a peer's candidates that are being resolved, in batches.
struct NameResolutions: Sendable {
    private(set) var tasks: [Int: Task<Void, Never>] = [:]
    private var begun = 0
    /// The user name fragment of the peer's description whose candidates end once all names are resolved.
    var endingFragment: String?

    /// How many batches are under way.
    var count: Int { tasks.count }

    /// Begins a batch, which ``end(_:)`` is to be told of by its number.
    mutating func begin(_ resolve: (_ number: Int) -> Task<Void, Never>) {
        begun += 1
        tasks[begun] = resolve(begun)
    }

    /// Takes note that a batch has ended.
    mutating func end(_ number: Int) { tasks[number] = nil }

    /// The fragment whose candidates have ended, once: where no name is being resolved any more.
    mutating func takeEnding() -> String? {
        guard tasks.isEmpty else { return nil }
        defer { endingFragment = nil }
        return endingFragment
    }

    /// Has all of them end.
    mutating func cancel() {
        for task in tasks.values { task.cancel() }
        tasks = [:]
    }
}
