/// Work that is done in its order while its owner does something else.
struct TaskChain {
    private var last: Task<Void, Never>?

    /// Begins the work after all that was appended before.
    mutating func append(_ work: @escaping @Sendable () async -> Void) {
        last = Task { [last] in
            await last?.value
            await work()
        }
    }
}
