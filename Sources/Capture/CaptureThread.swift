import RTCShareLocks

/// The thread of a source: started and stopped from anywhere, one at a time.
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

    /// Runs `body` on a new thread; where one is running and has not called ``StopSignal/finish()``, does nothing.
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

    /// Asks the thread to end, and waits for nothing.
    package func cancel() { current.withLock { $0?.signal.raise() } }

    /// Asks the thread to end, and waits for that, unless it is the thread itself that asks.
    package func stop() {
        guard let run = current.withLock({ $0 }) else { return }
        run.signal.raise()
        run.thread.join()
    }
}
