internal import RTCShareContentShare

/// Runs one body after the other, in the order of the calls.
@SharingActor final class TurnQueue {
    private var isTaken = false
    private(set) var waiting: [CheckedContinuation<Void, Never>] = []

    nonisolated init() {}

    /// Calls `body` when the bodies of all earlier calls have returned.
    func run<Result>(_ body: @SharingActor () async throws -> Result) async rethrows -> Result {
        if isTaken { await withCheckedContinuation { waiting.append($0) } }
        isTaken = true
        // A turn that others wait for is handed on, so that no later call comes before them.
        defer { if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() } }
        return try await body()
    }
}
