internal import RTCShareLocks

/// The global actor of rooms, shares and sessions, and of the program's state that belongs to them.
///
/// Its thread never waits. Blocking calls run on separate threads, and media on event loops and codec threads. Code on
/// another actor, such as `MainActor`, calls with `await`. Code on this actor calls without it.
@globalActor
public actor SharingActor {
    /// The actor's only instance.
    public static let shared = SharingActor()
    static let executor = ThreadExecutor(named: "sharing")

    /// The executor of the actor's thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { Self.executor.asUnownedSerialExecutor() }

    /// Runs `body` after everything that the calling thread posted before. This is for event loops and threads.
    package nonisolated static func post(_ body: @escaping @Sendable @SharingActor () -> Void) {
        // A task with an isolated closure is enqueued before `Task.init` returns (SE-0431).
        Task { @SharingActor in body() }
    }
}
