internal import Glibc
internal import RTCShareCProcess
internal import RTCShareContentShare
internal import RTCShareMedia
internal import RTCShareWireFormat

/// A TCP socket of this machine, as the kernel describes it (sock_diag(7)).
struct KernelSocket {
    private let entry: socket_entry

    /// Finds the socket at an IPv4 address that is connected to `peer`. Without one, this finds the socket that listens at
    /// the address.
    /// - Throws: The reason if there is none, or if the kernel doesn't tell.
    init(at address: TransportAddress, to peer: TransportAddress) throws(CommandFailure) {
        guard case .v4(let own) = address.ip, case .v4(let other) = peer.ip else {
            throw CommandFailure(.internalError, "this is not an address of IPv4")
        }
        var entry = socket_entry()
        let error = socket_find(own, address.port, other, peer.port, &entry)
        guard error == 0 else { throw CommandFailure(.unavailable, systemMessage(error)) }
        self.entry = entry
    }

    /// Returns whether a program of this user has the socket open, and the socket is connected.
    ///
    /// A socket without an inode was closed by its program: its user is unknown, and described as root.
    func isConnection(of user: UInt32) -> Bool {
        entry.state == TCP_ESTABLISHED && entry.user == user && entry.inode != 0
    }

    /// Checks that the kernel tells the users of sockets to this process, which listens at `address`.
    static func checkUsers(at address: TransportAddress) throws(CommandFailure) {
        do throws(CommandFailure) {
            _ = try KernelSocket(at: address, to: TransportAddress(ip: .v4(0), port: 0))
            let overflow = Self.text(of: "/proc/sys/kernel/overflowuid").flatMap { UInt32($0.trimmed) }
            if isAmbiguous(geteuid(), overflow: overflow ?? 65_534, map: Self.text(of: "/proc/self/uid_map") ?? "") {
                throw CommandFailure(.unavailable, "this user namespace has no number for your user")
            }
        } catch {
            throw CommandFailure(
                .unavailable, "can't tell your programs from those of other users: \(error.message)")
        }
    }

    /// Returns whether sockets of other users can have this user's number: in a namespace, all users without a number of
    /// their own have the overflow number (user_namespaces(7)).
    static func isAmbiguous(_ user: UInt32, overflow: UInt32, map: String) -> Bool {
        user == overflow && map.split(whereSeparator: \.isWhitespace) != ["0", "0", "4294967295"]
    }

    private static func text(of path: String) -> String? {
        (try? OpenFile(reading: path).read(atMost: 4096)).map { String(decoding: $0, as: UTF8.self) }
    }
}
