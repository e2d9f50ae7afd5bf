internal import Glibc
internal import RTCShareCProcess
internal import RTCShareCapture

/// This process's memory: who may see what it holds (keys, passwords, tokens, pictures), and how much it keeps.
enum ProcessMemory {
    /// Has neither a core dump nor another program of the same user show it. What this costs: a debugger has to start the
    /// program, or be root's, to look into it.
    static func keepFromOthers() {
        // Where dumps go through a program, the limit does not count, and the flag does (core(5)).
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        _ = process_forbid_dumps()
        // A portal that can't look at who asks refuses: it may, for as long as it takes to answer the first question.
        PortalIdentification.set { isAsking in
            _ = isAsking ? process_allow_dumps() : process_forbid_dumps()
        }
    }

    /// Gives back to the system what was freed, which the C library keeps for each thread that allocated: an encoder that is
    /// gone leaves megabytes in pieces.
    static func giveBack() { memory_trim() }
}
