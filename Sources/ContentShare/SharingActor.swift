internal import RTCShareLocks

/// Isolates what belongs to rooms, shares and sessions to one thread of the process.
///
/// The thread never waits: what blocks runs on a ``WorkerThread``, and media on event loops and threads of their own.
@globalActor
package actor SharingActor {
    package static let shared = SharingActor()
    private static let executor = ThreadExecutor(named: "sharing")

    package nonisolated var unownedExecutor: UnownedSerialExecutor { Self.executor.asUnownedSerialExecutor() }

    /// Calls `body` after everything that the calling thread posted before; from event loops and threads.
    package nonisolated static func post(_ body: @escaping @Sendable @SharingActor () -> Void) {
        // A task whose closure is isolated is enqueued before `Task.init` returns (SE-0431).
        Task { @SharingActor in body() }
    }
}
