internal import Glibc

/// A thread of its own, for work that computes for long or waits: it takes none of the threads that tasks share.
///
/// It is detached, and ends when its body returns: the owner asks for that by the mailbox that the body waits at. Nothing is
/// called back after ``finish()`` returned.
package final class WorkerThread: Sendable {
    private struct Ending {
        var hasEnded = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    /// The new thread's own.
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
            // Sockets, for instance, that the body held are closed before anybody learns of the end.
            body = nil
            worker.didEnd()
        }

        /// Names the thread for `top -H`. The C library hides its function for that from Swift.
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

    /// Runs `body` on a new thread. Its name, of which Linux keeps 15 letters, is what `top -H` shows.
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

    /// Returns when the thread has ended, and blocks no thread until then.
    package func finish() async {
        await withCheckedContinuation { continuation in
            let hasEnded = ending.post { ending in
                if !ending.hasEnded { ending.waiting.append(continuation) }
                return ending.hasEnded
            }
            if hasEnded { continuation.resume() }
        }
    }

    /// Blocks the calling thread until this one has ended; returns at once on this thread itself. Not for tasks, which have
    /// ``finish()``.
    package func join() {
        guard !isCurrent else { return }
        ending.take { $0.hasEnded ? .done(()) : .wait(until: nil) }
    }

    private func didEnd() {
        // The system may give its number to another.
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

/// The system gave no thread.
package struct WorkerThreadError: Error, Sendable, Hashable {
    /// The system's number of the reason.
    package let errorNumber: Int32
}
