internal import Glibc
package import RTCShareWireFormat

/// The route from this machine to other IPv4 networks.
package struct DefaultRoute: Hashable, Sendable {
    /// The router's address.
    package let gateway: IPAddress
    /// This machine's address on the router's network.
    package let local: IPAddress

    /// Returns the current route; nil if there is none, or if it leads into a tunnel without a router.
    package static func current() -> DefaultRoute? {
        guard let messages = try? Netlink.list(getRoute, byteCount: routeByteCount),
            let gateway = gateway(in: messages),
            let local = NetworkInterfaces.source(toward: TransportAddress(ip: gateway, port: 9))
        else { return nil }
        return DefaultRoute(gateway: gateway, local: local)
    }

    /// `RTM_NEWROUTE` and `RTM_GETROUTE` of linux/rtnetlink.h, and the size of `rtmsg`.
    private static let (newRoute, getRoute, routeByteCount): (UInt16, UInt16, Int) = (24, 26, 12)
    /// `RT_TABLE_MAIN` of linux/rtnetlink.h.
    private static let mainTable: UInt32 = 254

    /// Returns the router of the best default route among the kernel's routes.
    static func gateway(in messages: [Netlink.Message]) -> IPAddress? {
        var best: (metric: UInt32, gateway: IPAddress?)?
        for message in messages where message.type == newRoute {
            guard let family: UInt8 = message.body.native(at: 0), Int32(family) == AF_INET,
                let prefixLength: UInt8 = message.body.native(at: 1), prefixLength == 0,
                let table: UInt8 = message.body.native(at: 4)
            else { continue }
            // `RTA_GATEWAY`, `RTA_PRIORITY` and `RTA_TABLE` of linux/rtnetlink.h.
            let attributes = Netlink.attributes(in: message.body.dropFirst(routeByteCount))
            guard attributes[15]?.native(at: 0) ?? UInt32(table) == mainTable else { continue }
            let metric: UInt32 = attributes[6]?.native(at: 0) ?? 0
            if let best, best.metric <= metric { continue }
            let gateway: UInt32? = attributes[5]?.native(at: 0)
            best = (metric, gateway.map { .v4(UInt32(bigEndian: $0)) })
        }
        return best?.gateway
    }
}
