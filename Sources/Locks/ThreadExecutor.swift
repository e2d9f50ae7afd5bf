internal import Glibc

/// An executor that runs jobs on one thread of its own, in the order in which they were enqueued, whatever their
/// priorities.
///
/// The thread starts with the first job and never ends: the executor is for the global actors of a process.
package final class ThreadExecutor: SerialExecutor {
    private struct State {
        /// The pending jobs: those that the thread has taken, in reverse order, and then those in `enqueued`.
        private var taken: [UnownedJob] = []
        private var enqueued: [UnownedJob] = []
        var hasThread = false
        var thread: pthread_t?
        /// The clock of the thread's processor time.
        var clock: clockid_t?
        private(set) var alarm: (@Sendable () -> Void)?
        var observer: (@Sendable (UnownedJob) -> Void)?

        mutating func append(_ job: UnownedJob) { enqueued.append(job) }

        mutating func takeFirst() -> UnownedJob? {
            if taken.isEmpty {
                swap(&taken, &enqueued)
                taken.reverse()
            }
            return taken.popLast()
        }

        mutating func setAlarm(_ alarm: (@Sendable () -> Void)?) {
            self.alarm = taken.isEmpty && enqueued.isEmpty ? alarm : nil
        }

        mutating func takeAlarm() -> (@Sendable () -> Void)? {
            defer { alarm = nil }
            return alarm
        }
    }

    private let name: String
    private let mailbox = Mailbox(State())

    /// Creates an executor whose thread has this name, of which Linux keeps 15 letters.
    package init(named name: String) { self.name = name }

    /// Runs the job after the pending ones.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let (isFirst, alarm) = mailbox.post { state in
            state.append(job)
            defer { state.hasThread = true }
            return (!state.hasThread, state.takeAlarm())
        }
        if isFirst { startThread() }
        alarm?()
    }

    /// Calls `observer` with each job before it runs from now on, for tests that count them; nil ends that.
    package func observe(_ observer: (@Sendable (UnownedJob) -> Void)?) { mailbox.post { $0.observer = observer } }

    /// Whether the calling thread is the executor's.
    package var isCurrent: Bool { mailbox.read { $0.thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false } }

    /// Returns whether the calling thread is the executor's, for the runtime, which calls this if no task names its
    /// executor.
    package func isIsolatingCurrentContext() -> Bool? { isCurrent }

    /// Traps if the calling thread is not the executor's.
    package func checkIsolated() { precondition(isCurrent, "this runs outside the thread \"\(name)\"") }

    /// The processor time that the thread has taken.
    package var processorTime: Duration {
        var time = timespec()
        guard let clock = mailbox.read({ $0.clock }), clock_gettime(clock, &time) == 0 else { return .zero }
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    private func startThread() {
        do throws(WorkerThreadError) {
            _ = try WorkerThread(named: name) { [self] in run() }
        } catch {
            // The next job retries.
            mailbox.post { $0.hasThread = false }
        }
    }

    private func run() {
        var clock = clockid_t()
        let hasClock = pthread_getcpuclockid(pthread_self(), &clock) == 0
        mailbox.post { state in
            state.thread = pthread_self()
            if hasClock { state.clock = clock }
        }
        while true {
            let (job, observer) = mailbox.take { state in
                state.takeFirst().map { .done(($0, state.observer)) } ?? .wait(until: nil)
            }
            observer?(job)
            LockCheck.whileNotWaiting { job.runSynchronously(on: asUnownedSerialExecutor()) }
        }
    }

    // MARK: Jobs that wait for something else

    /// Sets the function that interrupts the running job's wait for events of another kind. The next job that is
    /// enqueued or ``soundAlarm()`` calls it once. If a job is pending already, the alarm is cleared immediately. Set
    /// the alarm before you look for events, so that you miss none in between.
    package func setAlarm(_ alarm: (@Sendable () -> Void)?) { mailbox.post { $0.setAlarm(alarm) } }

    /// Whether an alarm is set and has not been called yet.
    package var hasAlarm: Bool { mailbox.read { $0.alarm != nil } }

    /// Interrupts the wait of the running job if it has set an alarm.
    package func soundAlarm() {
        let alarm = mailbox.post { $0.takeAlarm() }
        alarm?()
    }
}
