package import NIOCore
internal import NIOPosix

/// The event loop that a stream lives on. A connection that lives there too is called directly.
package struct HomeLoop: Sendable {
    package let eventLoop: any EventLoop
}

extension HomeLoop {
    /// That of a connection, or else of the first of some ports, or else one of those that SwiftNIO has for the whole process.
    package init(of connection: Connection? = nil, or ports: SharedPorts? = nil) {
        let given = connection?.eventLoop ?? ports?.ports.first?.eventLoop
        eventLoop = given ?? MultiThreadedEventLoopGroup.singleton.next()
    }
}
