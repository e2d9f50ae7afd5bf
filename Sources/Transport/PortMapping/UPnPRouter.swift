internal import RTCShareCMiniUPnP
internal import RTCShareLocks
internal import RTCShareWireFormat

/// A router that maps ports by UPnP IGD. Its calls block, and run on threads of their own, one at a time.
final class UPnPRouter: Sendable {
    /// An error code of the router, or a negative one of the library.
    struct Failure: Error {
        let code: Int32
    }

    /// The lock lends it to one thread at a time.
    private struct Handle: @unchecked Sendable {
        let router: OpaquePointer
    }

    private let handle: Locked<Handle>

    /// The time to wait after the last answer of a device. Devices answer within a second (UDA 1.1 §1.3.2).
    private static let patience: Int32 = 1200
    /// The requested lifetime of a mapping, in seconds.
    private static let lifetime = GatewayClient.lifetime
    /// The number of outside ports that are tried, if the router does not choose a free one.
    private static let attempts = 4

    private init(_ router: OpaquePointer) { handle = Locked(Handle(router: router)) }

    deinit { handle.withLock { mini_upnp_free($0.router) } }

    /// The reason why UPnP can't be used on this machine; nil if it can.
    static var problem: String? { mini_upnp_library_problem().map { String(cString: $0) } }

    /// Looks for the service of a router. Returns nil if it has none, or if UPnP can't be used.
    static func find(_ route: DefaultRoute) async -> UPnPRouter? {
        await WorkerThread.run(named: "UPnP search") {
            guard problem == nil,
                let router = mini_upnp_find("\(route.gateway)", "\(route.local)", patience)
            else { return nil }
            return UPnPRouter(router)
        }
    }

    /// Maps a port, to the outside port `former` if that is possible, or extends its mapping. Returns the outside
    /// address; nil if the router has none.
    func map(_ port: ForwardedPort, former: UInt16?) async throws(Failure) -> TransportAddress? {
        try await WorkerThread.run(named: "UPnP mapping") { () throws(Failure) in
            try self.handle.withLock { (handle) throws(Failure) in
                guard let address = Self.outsideAddress(of: handle.router) else { return nil }
                var outside = former ?? port.number
                for attempt in 1... {
                    let code = Self.map(port, at: &outside, by: handle.router)
                    if code == 0 { break }
                    // ConflictInMappingEntry: another machine has the port.
                    guard code == 718, attempt < Self.attempts else { throw Failure(code: code) }
                    outside = .random(in: 49152 ... .max)
                }
                return TransportAddress(ip: address, port: outside)
            }
        }
    }

    private static func map(_ port: ForwardedPort, at outside: inout UInt16, by router: OpaquePointer) -> Int32 {
        let code = mini_upnp_map(router, port.transport.name, port.number, lifetime, &outside)
        // OnlyPermanentLeasesSupported.
        return code == 725 ? mini_upnp_map(router, port.transport.name, port.number, 0, &outside) : code
    }

    private static func outsideAddress(of router: OpaquePointer) -> IPAddress? {
        var text = [CChar](repeating: 0, count: 64)
        guard mini_upnp_outside_address(router, &text) == 0 else { return nil }
        let address = IPAddress(String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
        return address.flatMap { $0.canBeOutside ? $0 : nil }
    }

    /// Removes a mapping.
    func unmap(_ port: ForwardedPort, outside: UInt16) async {
        await WorkerThread.run(named: "UPnP mapping") {
            self.handle.withLock { _ = mini_upnp_unmap($0.router, port.transport.name, outside) }
        }
    }
}
