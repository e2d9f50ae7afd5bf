internal import Glibc
internal import RTCShareNetworkRuntime
internal import RTCShareWireFormat

/// The addresses and names of this machine that links have.
enum LinkHosts {
    /// What the person said first; then the address that the default route has, and this machine's own name for itself;
    /// or all addresses.
    static func hosts(
        given: [String], listening: [IPAddress], all: Bool, route: () -> IPAddress? = defaultRoute
    ) throws -> [String] {
        if !listening.isEmpty, listening.allSatisfy(\.isLoopback) { return given + ["localhost"] }
        var addresses = listening.filter { !$0.isLoopback }
        if addresses.isEmpty {
            let usable = try NetworkInterfaces.usableAddresses().filter { !$0.isLoopback }
            let first = route() ?? usable.first { $0.isV4 } ?? usable.first
            addresses = (first.map { [$0] } ?? []) + (all ? usable.filter { $0 != first } : [])
        }
        let shown = all || given.isEmpty ? addresses.map(\.description) : []
        return given + shown.filter { !given.contains($0) } + ["localhost"]
    }

    /// The address that packets for elsewhere leave from; nothing is sent to find it out.
    static func defaultRoute() -> IPAddress? {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        // TEST-NET-3 (RFC 5737), which is nobody's.
        var remote = sockaddr_in()
        remote.sin_family = sa_family_t(AF_INET)
        remote.sin_port = in_port_t(9).bigEndian
        remote.sin_addr.s_addr = inet_addr("203.0.113.1")
        var local = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isKnown = withUnsafePointer(to: &remote) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) == 0 }
        }
        guard isKnown else { return nil }
        let isNamed = withUnsafeMutablePointer(to: &local) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) == 0 }
        }
        guard isNamed else { return nil }
        let address = IPAddress.v4(UInt32(bigEndian: local.sin_addr.s_addr))
        return address.isLoopback || address.isUnspecified ? nil : address
    }
}

/// `[ADDR:]PORT` on the command line.
struct ListenAddress: Equatable {
    let address: IPAddress?
    let port: UInt16

    init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":") else {
            guard let port = UInt16(text) else { return nil }
            (address, self.port) = (nil, port)
            return
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard let port = UInt16(text[text.index(after: colon)...]) else { return nil }
        self.port = port
        if host.isEmpty || host == "*" {
            address = nil
        } else {
            guard let address = host == "localhost" ? .v4(0x7F00_0001) : IPAddress(host) else { return nil }
            self.address = address
        }
    }
}
