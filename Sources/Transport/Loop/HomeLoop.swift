package import NIOCore
internal import NIOPosix

/// The event loop of a stream. A connection on the same event loop is called directly.
package struct HomeLoop: Sendable {
    package let eventLoop: any EventLoop
}

extension HomeLoop {
    /// Uses the event loop of a connection or, without one, of the first of some ports or, without any, one of
    /// SwiftNIO's for the whole process.
    package init(of connection: Connection? = nil, or ports: SharedPorts? = nil) {
        let given = connection?.eventLoop ?? ports?.ports.first?.eventLoop
        eventLoop = given ?? MultiThreadedEventLoopGroup.singleton.next()
    }
}
