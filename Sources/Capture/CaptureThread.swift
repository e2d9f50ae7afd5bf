internal import Glibc
import RTCShareLocks

/// The thread of a source: started and stopped from anywhere, one at a time.
package final class CaptureThread: Sendable {
    /// One run from start to end.
    private final class Run: Sendable {
        let signal: StopSignal
        let ended = Monitor(false)
        let thread = Locked<pthread_t?>(nil)

        init(signal: StopSignal) {
            self.signal = signal
        }
    }

    /// What a new thread is given.
    private final class Launch {
        let run: Run
        private var body: (@Sendable (StopSignal) -> Void)?

        init(run: Run, body: @escaping @Sendable (StopSignal) -> Void) {
            self.run = run
            self.body = body
        }

        func execute() {
            run.thread.withLock { $0 = pthread_self() }
            body?(run.signal)
            // What the run held, sockets for instance, is free once somebody has waited for its end.
            body = nil
            run.signal.finish()
            run.ended.update { $0 = true }
        }
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
            let run = Run(signal: try StopSignal())
            let launch = Unmanaged.passRetained(Launch(run: run, body: body))
            var thread = pthread_t()
            let status = pthread_create(
                &thread, nil,
                { argument in
                    guard let argument else { return nil }
                    Unmanaged<Launch>.fromOpaque(argument).takeRetainedValue().execute()
                    return nil
                }, launch.toOpaque())
            guard status == 0 else {
                launch.release()
                throw .systemRefused(call: "pthread_create", errorNumber: status)
            }
            pthread_detach(thread)
            current = run
        }
    }

    /// Asks the thread to end, and waits for nothing.
    package func cancel() { current.withLock { $0?.signal.raise() } }

    /// Asks the thread to end, and waits for that, unless it is the thread itself that asks.
    package func stop() {
        guard let run = current.withLock({ $0 }) else { return }
        run.signal.raise()
        guard run.thread.withLock({ $0 }) != pthread_self() else { return }
        run.ended.wait { hasEnded in hasEnded ? .done(()) : .wait(until: nil) }
    }
}
