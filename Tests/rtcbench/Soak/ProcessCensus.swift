internal import Glibc
internal import RTCShareCProcess
import RTCShareTransport

/// The resources of a process at one time.
struct ProcessCensus: Codable, Hashable {
    /// The resident memory in bytes.
    let resident: Int
    /// The allocated memory in bytes, as the C library counts it: without fragmentation.
    let allocated: Int
    let descriptors: Int
    let threads: Int
    /// The number of connections' timers on the event loops.
    let timers: Int

    /// Returns the resources of this process now, without the freed memory that the C library keeps for later.
    static func take() async -> ProcessCensus {
        memory_trim()
        return ProcessCensus(
            resident: Machine.residentByteCount, allocated: Int(clamping: memory_allocated()),
            // Without the descriptor through which the directory is read.
            descriptors: count(of: "/proc/self/fd") - 1, threads: count(of: "/proc/self/task"),
            timers: await ConnectionTimers.waitingCount())
    }

    private static func count(of folder: String) -> Int {
        guard let stream = opendir(folder) else { return 0 }
        defer { closedir(stream) }
        var count = 0
        while let entry = readdir(stream) {
            // Only `.` and `..` begin with a dot.
            if entry.pointee.d_name.0 != CChar(UInt8(ascii: ".")) { count += 1 }
        }
        return count
    }
}
