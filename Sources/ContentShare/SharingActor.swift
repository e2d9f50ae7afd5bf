internal import RTCShareLocks

/// The global actor of rooms, shares and sessions, and of whatever a program keeps beside them.
///
/// Its thread never waits: what blocks runs on a thread of its own, and media on event loops and codec threads. A program
/// that lives on another actor, such as `MainActor`, calls with `await`; one that is isolated to this actor calls directly.
@globalActor
public actor SharingActor {
    /// The one instance.
    public static let shared = SharingActor()
    static let executor = ThreadExecutor(named: "sharing")

    /// The executor of the thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { Self.executor.asUnownedSerialExecutor() }

    /// Calls `body` after everything that the calling thread posted before; from event loops and threads.
    package nonisolated static func post(_ body: @escaping @Sendable @SharingActor () -> Void) {
        // A task whose closure is isolated is enqueued before `Task.init` returns (SE-0431).
        Task { @SharingActor in body() }
    }
}
