internal import RTCShareContentShare

/// A queue that runs closures one after the other, in the order of the calls.
@SharingActor final class TurnQueue {
    private var isTaken = false
    private(set) var waiting: [CheckedContinuation<Void, Never>] = []

    nonisolated init() {}

    /// Calls `body` after the bodies of all earlier calls have returned.
    func run<Result>(_ body: @SharingActor () async throws -> Result) async rethrows -> Result {
        if isTaken { await withCheckedContinuation { waiting.append($0) } }
        isTaken = true
        // The turn is passed on directly to a waiting call, so that no later call comes first.
        defer { if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() } }
        return try await body()
    }
}
