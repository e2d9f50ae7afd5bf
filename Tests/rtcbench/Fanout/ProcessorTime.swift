internal import Glibc
internal import RTCShareCDatagrams
internal import RTCShareWireFormat

/// The processor time of this process, and some functions of Linux for benchmarks.
struct ProcessorTime {
    /// The processor time of all threads in nanoseconds.
    let total: Int64
    /// The kernel's part of it, by its own coarser count.
    let kernel: Int64

    static var now: ProcessorTime {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return ProcessorTime(
            total: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec),
            kernel: Int64(usage.ru_stime.tv_sec) * 1_000_000_000 + Int64(usage.ru_stime.tv_usec) * 1000)
    }

    static func - (left: ProcessorTime, right: ProcessorTime) -> ProcessorTime {
        ProcessorTime(total: left.total - right.total, kernel: left.kernel - right.kernel)
    }
}

enum Machine {
    /// The number of processors.
    static var processorCount: Int { sysconf(Int32(_SC_NPROCESSORS_ONLN)) }

    /// Restricts this process, with the threads that it starts from now on, to these processors.
    static func pin(to processors: Range<Int>) {
        processor_pin(UInt32(clamping: processors.lowerBound), UInt32(clamping: processors.count))
    }

    /// Raises the limit of open files to the maximum that the system permits.
    static func raiseFileLimit() {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// The resident memory of this process in bytes.
    static var residentByteCount: Int {
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        guard fgets(&line, 256, file) != nil else { return 0 }
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        return (pages ?? 0) * sysconf(Int32(_SC_PAGESIZE))
    }
}

/// The clock of frames' timestamps, which all processes of a machine share.
enum MonotonicTime {
    static var now: Instant {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// The time of the wall clock when this one read zero.
    static var unixNanosecondsAtZero: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec) - now.nanoseconds
    }
}
