internal import Glibc
internal import RTCShareLocks
import Synchronization

/// Tells a source's thread to end, in any wait: for its next tick, for a file, for the display.
package final class StopSignal: Sendable {
    /// The reason for the end of a wait.
    enum Wakening { case ready, stopped, timedOut }

    // A pipe whose reading end becomes readable when the signal is raised.
    private let readingEnd: Int32
    private let writingEnd: Int32
    private let raised = Atomic(false)
    private let finished = Atomic(false)
    /// The number of calls of ``wake()``. An idle thread waits for the next one.
    private let resting = Mailbox(0)

    init() throws(CaptureError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw .systemRefused(call: "pipe", errorNumber: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (readingEnd, writingEnd) = (ends[0], ends[1])
    }

    deinit {
        close(readingEnd)
        close(writingEnd)
    }

    /// A descriptor that is readable after the signal was raised, for other ways to wait.
    package var descriptor: Int32 { readingEnd }

    package var isRaised: Bool { raised.load(ordering: .acquiring) }

    /// Whether the run is over, except for the notification of its end.
    var isFinished: Bool { finished.load(ordering: .acquiring) }

    /// Marks the run as over, before observers are notified: an observer of the end may start the next run.
    package func finish() { finished.store(true, ordering: .releasing) }

    func raise() {
        // One byte is enough, and more could fill the pipe.
        guard !raised.exchange(true, ordering: .acquiringAndReleasing) else { return }
        var byte: UInt8 = 1
        write(writingEnd, &byte, 1)
        wake()
    }

    /// Waits as long as `isUnwanted` returns true, at most `limit`. It ends when the signal is raised. Call ``wake()``
    /// after a change of the condition.
    package func rest(for limit: Duration? = nil, while isUnwanted: () -> Bool) {
        let end = limit.map { monotonicNow() + $0 }
        resting.take { _ in
            let isOver = isRaised || !isUnwanted() || end.map { $0 <= monotonicNow() } ?? false
            return isOver ? .done(()) : .wait(until: end)
        }
    }

    /// Makes a waiting thread check its condition again.
    package func wake() { resting.post { $0 &+= 1 } }

    /// Waits until `deadline`. Returns false if the signal was raised first.
    package func wait(until deadline: Duration) -> Bool {
        wait(readable: -1, until: deadline) == .timedOut
    }

    /// Waits until `file` or `other` is readable (or has ended), the signal is raised, or `deadline` (nil: none) has
    /// passed.
    func wait(readable file: Int32, or other: Int32 = -1, until deadline: Duration?) -> Wakening {
        while !isRaised {
            var entries = [
                pollfd(fd: readingEnd, events: Int16(POLLIN), revents: 0),
                pollfd(fd: file, events: Int16(POLLIN), revents: 0),
                pollfd(fd: other, events: Int16(POLLIN), revents: 0),
            ]
            let left = deadline.map { max($0 - monotonicNow(), .zero) }
            let result = poll(&entries, nfds_t(entries.count), left.map(\.wholeMilliseconds) ?? -1)
            if entries[0].revents != 0 { break }
            if entries[1].revents != 0 || entries[2].revents != 0 { return .ready }
            guard result == 0, let deadline else { continue }
            // The rest after the whole milliseconds for which poll can wait.
            let rest = deadline - monotonicNow()
            if rest > .milliseconds(1) { continue }
            if rest > .zero {
                var time = timespec(tv_sec: 0, tv_nsec: Int(rest.components.attoseconds / 1_000_000_000))
                nanosleep(&time, nil)
            }
            return isRaised ? .stopped : .timedOut
        }
        return .stopped
    }
}

extension Duration {
    /// The whole milliseconds in this duration, for `poll`.
    package var wholeMilliseconds: Int32 {
        // No wait is longer than a day, and this keeps the product small.
        Int32(min(components.seconds, 86400) * 1000 + components.attoseconds / 1_000_000_000_000_000)
    }
}
