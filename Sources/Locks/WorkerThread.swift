internal import Glibc

/// A dedicated thread for work that computes for long or blocks, so that it occupies none of the threads that tasks
/// share.
///
/// The thread is detached and ends when its body returns. Its owner ends it through the mailbox that the body waits on.
/// The body calls nothing after ``finish()`` has returned.
package final class WorkerThread: Sendable {
    private struct Ending {
        var hasEnded = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    /// The name and the body, as the argument of the new thread.
    private final class Launch {
        let name: String
        let worker: WorkerThread
        private var body: (@Sendable () -> Void)?

        init(named name: String, _ worker: WorkerThread, _ body: @escaping @Sendable () -> Void) {
            self.name = name
            self.worker = worker
            self.body = body
        }

        func execute() {
            worker.thread.withLock { $0 = pthread_self() }
            showName()
            body?()
            // The body's objects, such as sockets, are released before any thread learns of the end.
            body = nil
            worker.didEnd()
        }

        /// Names the thread for `top -H`. Swift does not see the C library's function for that.
        private func showName() {
            let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
            guard file >= 0 else { return }
            var name = name
            _ = name.withUTF8 { write(file, $0.baseAddress, $0.count) }
            close(file)
        }
    }

    private let thread = Locked<pthread_t?>(nil)
    private let ending = Mailbox(Ending())

    /// Starts a thread that runs `body`. `top -H` shows its name, of which Linux keeps 15 letters.
    package init(named name: String, _ body: @escaping @Sendable () -> Void) throws(WorkerThreadError) {
        var thread = pthread_t()
        let launch = Unmanaged.passRetained(Launch(named: name, self, body))
        let code = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Launch>.fromOpaque(argument).takeRetainedValue().execute()
                return nil
            }, launch.toOpaque())
        guard code == 0 else {
            launch.release()
            throw WorkerThreadError(errorNumber: code)
        }
        pthread_detach(thread)
    }

    /// Whether this is the calling thread.
    package var isCurrent: Bool {
        guard let thread = thread.withLock({ $0 }) else { return false }
        return pthread_equal(thread, pthread_self()) != 0
    }

    /// Waits until the thread has ended, without blocking the calling thread.
    package func finish() async {
        await withCheckedContinuation { continuation in
            let hasEnded = ending.post { ending in
                if !ending.hasEnded { ending.waiting.append(continuation) }
                return ending.hasEnded
            }
            if hasEnded { continuation.resume() }
        }
    }

    /// Blocks the calling thread until this thread has ended. Returns immediately on this thread itself. Tasks use
    /// ``finish()`` instead.
    package func join() {
        guard !isCurrent else { return }
        ending.take { $0.hasEnded ? .done(()) : .wait(until: nil) }
    }

    private func didEnd() {
        // The system can give its identifier to another thread.
        thread.withLock { $0 = nil }
        let waiting = ending.post { ending in
            ending.hasEnded = true
            defer { ending.waiting = [] }
            return ending.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Calls `body`, which may block, on a thread of its own, and returns its result.
    package static func run<Result: Sendable, Failure: Error>(
        named name: String, _ body: @escaping @Sendable () throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let result = await withCheckedContinuation { continuation in
            start(named: name) { continuation.resume(returning: Swift.Result(catching: body)) }
        }
        return try result.get()
    }

    /// Calls `body`, which may block, on a thread of its own, and does not wait for it. While the system has no thread left, it
    /// waits for one: the caller may be a thread that many share.
    package static func start(named name: String, _ body: @escaping @Sendable () -> Void) {
        start { () throws(WorkerThreadError) in _ = try WorkerThread(named: name, body) }
    }

    static func start(_ attempt: @escaping @Sendable () throws(WorkerThreadError) -> Void) {
        do throws(WorkerThreadError) {
            try attempt()
        } catch {
            Task {
                try? await Task.sleep(for: .milliseconds(100))
                start(attempt)
            }
        }
    }
}

/// An error for a thread that the system did not start.
package struct WorkerThreadError: Error, Sendable, Hashable {
    /// The system's error number.
    package let errorNumber: Int32
}
