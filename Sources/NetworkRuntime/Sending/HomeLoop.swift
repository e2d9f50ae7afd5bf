internal import NIOCore
internal import NIOPosix

/// The event loop that a stream lives on. A connection that lives there too is called directly.
package struct HomeLoop: Sendable {
    let eventLoop: any EventLoop
}

extension HomeLoop {
    /// That of a connection.
    package init(of connection: Connection) { eventLoop = connection.eventLoop }

    /// That of the first of some ports; without ports one of those that SwiftNIO has for the whole process.
    package init(of ports: SharedPorts? = nil) {
        eventLoop = ports?.ports.first?.eventLoop ?? MultiThreadedEventLoopGroup.singleton.next()
    }
}
