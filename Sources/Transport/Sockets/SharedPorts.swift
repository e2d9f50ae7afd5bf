internal import NIOCore
public import NIOPosix
public import RTCShareWireFormat
internal import Synchronization

/// A shared port on each of several event loops, for rooms that are more than one processor carries.
///
/// Each event loop has a port of its own, so that what arrives for a connection arrives where it lives: the candidates of a
/// connection name its loop's port. With one port for all loops it would be the kernel that chooses among them, by a hash
/// of the addresses, which knows nothing of user name fragments. `Connection.send(_:to:)` visits
/// each loop once, all at the same time.
public final class SharedPorts: Sendable {
    /// One a loop.
    public let ports: [SharedPort]
    private let turn = Atomic(0)

    /// Ports that are open already, of which there is one at least.
    package init(_ ports: [SharedPort]) { self.ports = ports }

    /// Opens a port the system picks on each of `count` event loops of `eventLoopGroup`, of which SwiftNIO's for the whole
    /// process has as many as there are processors; at the addresses that
    /// ``SharedPort/init(addresses:port:eventLoopGroup:)`` would open one at.
    ///
    /// - Parameter count: how many; nil for one an event loop, which more than that is held to.
    public init(
        addresses: [IPAddress] = [], count: Int? = nil, eventLoopGroup: MultiThreadedEventLoopGroup = .singleton
    ) async throws {
        let loops = Array(eventLoopGroup.makeIterator())
        var ports: [SharedPort] = []
        do {
            for loop in loops.prefix(max(1, count ?? loops.count)) {
                ports.append(try await SharedPort(addresses: addresses, port: 0, on: loop))
            }
        } catch {
            for port in ports { await port.close() }
            throw error
        }
        self.ports = ports
    }

    /// The port for the next connection's ``Connection/Configuration/sharedPort``: each in its turn.
    public func next() -> SharedPort {
        let turn = turn.wrappingAdd(1, ordering: .relaxed).oldValue
        return ports[Int(UInt(bitPattern: turn) % UInt(ports.count))]
    }

    /// Closes all of them.
    public func close() async {
        for port in ports { await port.close() }
    }
}
