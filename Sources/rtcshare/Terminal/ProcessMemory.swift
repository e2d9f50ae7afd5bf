internal import Glibc
internal import RTCShareCProcess
internal import RTCShareCapture

/// The protection of this process's memory (keys, passwords, tokens, frames), and its size.
enum ProcessMemory {
    /// Protects the memory from core dumps and from other programs of the same user. As a consequence, a debugger must
    /// start the program, or belong to root.
    static func keepFromOthers() {
        // If a program receives the dumps, the limit does not apply, but the flag does (core(5)).
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        _ = process_forbid_dumps()
        // A portal that can't identify its caller rejects the request, so dumps are allowed until its first answer.
        PortalIdentification.set { isAsking in
            _ = isAsking ? process_allow_dumps() : process_forbid_dumps()
        }
    }

    /// Makes the threads share their free memory. With an arena for each, viewers who come and go spread long-lived
    /// allocations over all of them, and the process grows for hours (`rtcbench soak`).
    static func shareArenas() { memory_share_arenas() }

    /// Returns freed memory to the system, which the C library keeps in its arenas: an encoder that has ended leaves
    /// megabytes of fragments.
    static func giveBack() { memory_trim() }
}
