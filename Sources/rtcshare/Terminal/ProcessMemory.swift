internal import Glibc
internal import RTCShareCProcess

/// Who may see what this process holds in memory: keys, passwords, tokens, pictures.
enum ProcessMemory {
    /// Has neither a core dump nor another program of the same user show it. What this costs: a debugger has to start the
    /// program, or be root's, to look into it.
    static func keepFromOthers() {
        // Where dumps go through a program, the limit does not count, and the flag does (core(5)).
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        _ = process_forbid_dumps()
    }
}
