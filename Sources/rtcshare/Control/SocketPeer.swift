internal import Glibc
internal import RTCShareContentShare

/// The process at the other end of a Unix domain socket, in the layout of Linux (`struct ucred`, unix(7)).
struct SocketPeer {
    private(set) var process: Int32 = 0
    private(set) var user: UInt32 = .max
    private var group: UInt32 = .max

    /// Creates a process of this user.
    init(user: UInt32) { self.user = user }

    /// Returns the process to which a socket is connected, or that listens there; without a user if it is unknown.
    init(of descriptor: Int32) {
        var length = socklen_t(MemoryLayout<SocketPeer>.size)
        _ = getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &self, &length)
    }

    /// Returns whether a process of `user` may communicate with it: it belongs to the same user, or to root.
    func isTrusted(by user: UInt32) -> Bool { self.user == user || self.user == 0 }

    /// The failure for a share that can't answer because its process is stopped (proc_pid_stat(5)); nil if it runs.
    var stop: CommandFailure? {
        guard let bytes = try? OpenFile(reading: "/proc/\(process)/stat").read(atMost: 512),
            let state = String(decoding: bytes, as: UTF8.self).split(separator: ")").last?.dropFirst().first,
            "Tt".contains(state)
        else { return nil }
        return CommandFailure(
            .unavailable, "the share does not answer, because its process \(process) is stopped",
            try: "kill -CONT \(process)")
    }
}
