import RTCShareLocks

/// The thread of a source, which any thread can start and stop. One runs at a time.
package final class CaptureThread: Sendable {
    /// One run from start to end.
    private struct Run {
        let signal: StopSignal
        let thread: WorkerThread
    }

    private let current = Locked<Run?>(nil)

    package init() {}

    deinit {
        current.withLock { $0?.signal.raise() }
    }

    /// Runs `body` on a new thread. Does nothing if one is running that has not called ``StopSignal/finish()``.
    package func start(_ body: @escaping @Sendable (StopSignal) -> Void) throws(CaptureError) {
        try current.withLock { current throws(CaptureError) in
            if let current, !current.signal.isFinished { return }
            let signal = try StopSignal()
            do throws(WorkerThreadError) {
                let thread = try WorkerThread(named: "capture") {
                    body(signal)
                    signal.finish()
                }
                current = Run(signal: signal, thread: thread)
            } catch {
                throw .systemRefused(call: "pthread_create", errorNumber: error.errorNumber)
            }
        }
    }

    /// Requests the end of the thread, without waiting.
    package func cancel() { current.withLock { $0?.signal.raise() } }

    /// Requests the end of the thread and waits for it, unless it is called on that thread.
    package func stop() {
        guard let run = current.withLock({ $0 }) else { return }
        run.signal.raise()
        run.thread.join()
    }
}
