internal import FoundationEssentials
internal import Glibc
internal import RTCShareLocks

/// Where everything of SDL's windows happens: one thread, as SDL asks. The compiler sees to it.
@globalActor
actor ViewActor {
    static let shared = ViewActor()

    nonisolated var unownedExecutor: UnownedSerialExecutor { ViewExecutor.shared.asUnownedSerialExecutor() }
}

/// The thread of ``ViewActor``. It rests where there is nothing to do; where there are windows, it waits for their events,
/// and whoever has something for it wakes it by an event.
final class ViewExecutor: SerialExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var hasThread = false
        /// The thread's own clock.
        var clock: clockid_t?
        /// What ends the wait for events; nil while nobody waits for any.
        var wakening: (@Sendable () -> Void)?

        /// To be called once where there is something to do.
        mutating func takeWakening() -> (@Sendable () -> Void)? {
            defer { wakening = nil }
            return wakening
        }
    }

    static let shared = ViewExecutor()
    private let mailbox = Mailbox(State())

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let (isFirst, wakening) = mailbox.post { state in
            state.jobs.append(job)
            defer { state.hasThread = true }
            return (!state.hasThread, state.takeWakening())
        }
        if isFirst { startThread() }
        wakening?()
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    /// Has who waits for events look at what there is to do.
    func wake() {
        let wakening = mailbox.post { $0.takeWakening() }
        wakening?()
    }

    /// Says that events are about to be waited for, and `wakening` ends that: until it was called, or ``waitsNoLonger()``.
    /// Called before it is looked whether there is something to do, so that nothing comes unnoticed in between.
    func waits(_ wakening: @escaping @Sendable () -> Void) {
        mailbox.post { $0.wakening = $0.jobs.isEmpty ? wakening : nil }
    }

    /// Whether something was to be done since ``waits(_:)``.
    var isWanted: Bool { mailbox.read { $0.wakening == nil } }

    /// Says that events are waited for no longer.
    func waitsNoLonger() {
        mailbox.post { $0.wakening = nil }
    }

    /// What the thread has taken of the processor's time.
    var processorTime: Duration {
        var time = timespec()
        guard let clock = mailbox.read({ $0.clock }), clock_gettime(clock, &time) == 0 else { return .zero }
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    private func startThread() {
        do throws(WorkerThreadError) {
            _ = try WorkerThread(named: "video window") { [self] in
                var clock = clockid_t()
                if pthread_getcpuclockid(pthread_self(), &clock) == 0 { mailbox.post { $0.clock = clock } }
                while true {
                    let job = mailbox.take { $0.jobs.isEmpty ? .wait(until: nil) : .done($0.jobs.removeFirst()) }
                    job.runSynchronously(on: asUnownedSerialExecutor())
                }
            }
        } catch {
            // The next job tries again.
            mailbox.post { $0.hasThread = false }
        }
    }
}
