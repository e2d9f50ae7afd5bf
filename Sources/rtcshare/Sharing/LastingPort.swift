internal import FoundationEssentials

/// Ports of a session that another process continues, perhaps hours later. A port of the system's choice could be another
/// program's until then.
enum LastingPort {
    /// The first port that is used. Servers often have lower ones.
    private static let first: UInt16 = 10_000
    private static let count = 5

    /// Returns some ports, in random order, that the system gives to no program by itself.
    static func candidates() -> [UInt16] {
        candidates(outside: try? String(contentsOfFile: "/proc/sys/net/ipv4/ip_local_port_range", encoding: .utf8))
    }

    /// Returns the ports for the first and the last port that the system chooses; none if it leaves hardly any.
    static func candidates(outside range: String?) -> [UInt16] {
        let bounds = (range ?? "").split(whereSeparator: \.isWhitespace).compactMap { UInt16($0) }
        guard let end = bounds.first, end >= first + 1000 else { return [] }
        return (0..<count).map { _ in UInt16.random(in: first..<end) }
    }
}
