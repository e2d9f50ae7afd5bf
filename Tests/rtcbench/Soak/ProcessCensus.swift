internal import Glibc
internal import RTCShareCProcess
import RTCShareTransport

/// What a process holds at a moment.
struct ProcessCensus: Codable, Hashable {
    /// Bytes in memory.
    let resident: Int
    /// Bytes that were allocated and not freed, as the C library counts them: without what lies in gaps.
    let allocated: Int
    let descriptors: Int
    let threads: Int
    /// Timers of connections that wait on the event loops.
    let timers: Int

    /// This process, now: without the freed bytes that the C library keeps for later.
    static func take() async -> ProcessCensus {
        memory_trim()
        return ProcessCensus(
            resident: Machine.residentByteCount, allocated: Int(clamping: memory_allocated()),
            // Without the descriptor that the folder is read through.
            descriptors: count(of: "/proc/self/fd") - 1, threads: count(of: "/proc/self/task"),
            timers: await ConnectionTimers.waitingCount())
    }

    private static func count(of folder: String) -> Int {
        guard let stream = opendir(folder) else { return 0 }
        defer { closedir(stream) }
        var count = 0
        while let entry = readdir(stream) {
            // `.` and `..` alone begin with a dot.
            if entry.pointee.d_name.0 != CChar(UInt8(ascii: ".")) { count += 1 }
        }
        return count
    }
}
