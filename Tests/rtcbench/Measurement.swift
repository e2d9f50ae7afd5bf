internal import Glibc

/// A point in a run: the processor time of this thread, and the allocations of the process.
///
/// Only the thread's own time, so that it does not include other programs.
struct Measurement {
    let allocations: UInt64
    private let time: timespec

    init() {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        self.time = time
        allocations = AllocationCounter.count
    }

    func nanoseconds(since earlier: Measurement) -> Double {
        Double(time.tv_sec - earlier.time.tv_sec) * 1e9 + Double(time.tv_nsec - earlier.time.tv_nsec)
    }
}
