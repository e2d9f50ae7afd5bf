internal import Glibc

/// The files and sockets that this process may have open.
enum OpenFiles {
    /// Raises the limit as far as the system allows: the usual one, for programs that use select(2), is 1024, which is little
    /// for a share with many viewers. This program starts no others that would inherit it.
    static func raiseLimit() {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(resource, &limit)
    }
}
