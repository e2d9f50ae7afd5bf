internal import NIOCore
public import NIOPosix
public import RTCShareWireFormat
internal import Synchronization

/// A shared port on each of several event loops, for rooms that need more than one processor.
///
/// Each event loop has its own port, so that datagrams of a connection arrive on its event loop: the connection's
/// candidates have that port. With one port for all event loops, the kernel would choose among them by a hash of the
/// addresses, without regard to user name fragments. `Connection.send(_:to:)` visits all event loops in parallel.
public final class SharedPorts: Sendable {
    /// The ports, one per event loop.
    public let ports: [SharedPort]
    private let turn = Atomic(0)

    /// Uses open ports, at least one.
    package init(_ ports: [SharedPort]) { self.ports = ports }

    /// Opens a port that the system chooses on each of `count` event loops of `eventLoopGroup`. SwiftNIO's group for
    /// the whole process has as many as there are processors. The addresses are those of
    /// ``SharedPort/init(addresses:port:eventLoopGroup:)``.
    ///
    /// - Parameter count: The number of ports; nil for one per event loop, which is also the maximum.
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

    /// Returns the port for the next connection's ``Connection/Configuration/sharedPort``, in turn.
    public func next() -> SharedPort {
        let turn = turn.wrappingAdd(1, ordering: .relaxed).oldValue
        return ports[Int(UInt(bitPattern: turn) % UInt(ports.count))]
    }

    /// Closes all ports.
    public func close() async {
        for port in ports { await port.close() }
    }
}
