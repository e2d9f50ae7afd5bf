internal import NIOCore
internal import NIOPosix
public import WireFormat

/// A STUN server as `--ice-server` names it (RFC 7064).
public struct StunServer: Hashable, Sendable, CustomStringConvertible {
    /// The server's name or address.
    public let host: String
    /// Its port, 3478 where none is named.
    public let port: UInt16

    /// `stun:HOST` or `stun:HOST:PORT`; an IPv6 address stands in brackets.
    public static let defaultPort: UInt16 = 3478

    /// Reads a STUN URL.
    public init(_ url: String) throws(ConnectionError) {
        guard url.lowercased().hasPrefix("stun:") else { throw .invalidServer(url) }
        let rest = url.dropFirst("stun:".count)
        let end =
            rest.hasPrefix("[") ? rest.firstIndex(of: "]").map { rest.index(after: $0) } : rest.firstIndex(of: ":")
        let name = rest[..<(end ?? rest.endIndex)]
        let tail = rest[name.endIndex...]
        let isBracketed = name.hasPrefix("[") && name.hasSuffix("]")
        let host = isBracketed ? name.dropFirst().dropLast() : name
        // `UInt16` reads a sign too.
        let digits = tail.dropFirst().allSatisfy(\.isASCII) && tail.dropFirst().allSatisfy(\.isNumber)
        let port = tail.isEmpty ? Self.defaultPort : digits ? UInt16(tail.dropFirst()) : nil
        guard !host.isEmpty, tail.isEmpty || tail.first == ":", let port, port > 0,
            host.allSatisfy({ !"/?[]@".contains($0) && !$0.isWhitespace }),
            !isBracketed || IPAddress(host).map({ !$0.isV4 }) == true
        else { throw .invalidServer(url) }
        self.host = String(host)
        self.port = port
    }

    /// The server's addresses, of both families. Asks the machine's resolver, on a thread that may wait.
    public func addresses() async throws -> [TransportAddress] {
        if let address = TransportAddress(host, port: port) { return [address] }
        let found = await HostNameResolver.systemAddresses(of: host)
        guard !found.isEmpty else { throw ConnectionError.unresolvable(host: host) }
        return found.map { TransportAddress(ip: $0, port: port) }
    }

    /// The URL.
    public var description: String { host.contains(":") ? "stun:[\(host)]:\(port)" : "stun:\(host):\(port)" }
}
