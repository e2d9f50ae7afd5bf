internal import Glibc

/// The limit of files and sockets that this process may have open.
enum OpenFiles {
    /// Raises the limit as far as the system allows: the usual one, for programs that use select(2), is 1024, which is
    /// low for a share with many viewers. This program starts no others that would inherit it.
    static func raiseLimit() {
        guard var limit else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(resource, &limit)
    }

    /// The minimum: event loops, libraries and one connection need fewer.
    private static let least = 32

    /// - Throws: `CommandFailure` if the limit is too low for commands that connect.
    static func checkLimit() throws(CommandFailure) {
        guard let limit, limit.rlim_cur < least else { return }
        throw CommandFailure(
            .unavailable, "only \(limit.rlim_cur) files can be open at a time, and at least \(least) are needed",
            try: "ulimit -n 1024 (in a new shell)")
    }

    private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)

    private static var limit: rlimit? {
        var limit = rlimit()
        return getrlimit(resource, &limit) == 0 ? limit : nil
    }
}
