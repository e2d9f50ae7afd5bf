internal import Glibc

/// A point in a run: the processor time that this thread has used, and the allocations of the process.
///
/// The thread's own time, so that what other programs do in between is not taken for the packets' cost.
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
