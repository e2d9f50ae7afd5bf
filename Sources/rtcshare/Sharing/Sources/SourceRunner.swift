internal import RTCShareLocks

/// A thread that starts and stops sources in the order of the calls. It exists while there is work.
///
/// Stopping a source waits for its thread, which can wait for a device or a display server. No task must block for
/// that.
final class SourceRunner: Sendable {
    private typealias Work = @Sendable () -> Void

    private struct State {
        var waiting: [Work] = []
        var hasThread = false
    }

    private let state = Locked(State())

    /// Starts sources, and waits until they have started.
    func start(_ body: @escaping @Sendable () throws -> Void) async throws {
        let result = await withCheckedContinuation { continuation in
            add { continuation.resume(returning: Result(catching: body)) }
        }
        try result.get()
    }

    /// Stops sources. The caller does not wait for their end.
    func stop(_ body: @escaping @Sendable () -> Void) { add(body) }

    /// Waits until all earlier calls are executed.
    func finish() async {
        await withCheckedContinuation { continuation in add { continuation.resume() } }
    }

    private func add(_ work: @escaping Work) {
        let needsThread = state.withLock { state in
            state.waiting.append(work)
            defer { state.hasThread = true }
            return !state.hasThread
        }
        guard needsThread else { return }
        WorkerThread.start(named: "sources") { while let work = self.next() { work() } }
    }

    private func next() -> Work? {
        state.withLock { state in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.hasThread = false
            return nil
        }
    }
}
