import Foundation
import Testing
import TestSupport

/// A small internet of network namespaces: a public segment, a server on it, and a sender and a viewer, each on the
/// segment or behind a router of its own.
///
/// ```
///   sender ── router ──┐                    ┌── router ── viewer
///   10.0.1.2    .1     │ .1   public     .2 │     .1     10.0.2.2
///                      └──── 203.0.113.0 ───┘
///                         2001:db8:113::/64
///                               │ .10, .11
///                             server
/// ```
/// Inside, IPv6 is 2001:db8:1::/64 and 2001:db8:2::/64, which the segment knows the way to. Namespaces bear the name of
/// this process, and only those are ever deleted.
final class TestNetwork {
    enum Host: String, CaseIterable {
        case internet, server, sender, viewer
        case senderRouter = "sender-router"
        case viewerRouter = "viewer-router"
        /// The router of another network, and the far end of a tunnel; a test that needs them makes them.
        case mobile, vpn
    }

    /// Which versions of IP the hosts have.
    enum Versions {
        case v4, v6, both

        var hasV4: Bool { self != .v6 }
        var hasV6: Bool { self != .v4 }
    }

    static let serverV4 = "203.0.113.10"
    static let alternateV4 = "203.0.113.11"
    /// The sender's router, or the sender where it has none.
    static let senderRouterV4 = "203.0.113.1"
    static let viewerRouterV4 = "203.0.113.2"
    private static let internetV4 = "203.0.113.254"
    static let serverV6 = "2001:db8:113::10"

    private let name: String
    private let folder: TemporaryFolder
    private let versions: Versions
    private var programs: [RunningProgram] = []

    init(
        sender: Attachment = .direct, viewer: Attachment = .direct, versions: Versions = .v4, in folder: TemporaryFolder
    ) async throws {
        name = "rtcshare-\(ProcessInfo.processInfo.processIdentifier)-\(UUID().uuidString.prefix(6))"
        self.folder = folder
        self.versions = versions
        let script = ([publicSegment] + [edge(.sender, sender, number: 1), edge(.viewer, viewer, number: 2)])
            .joined(separator: "\n")
        try await run(script)
    }

    deinit {
        // The namespaces last as long as somebody is in them.
        for program in programs { program.stop() }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [
            "-c", Host.allCases.map { "ip netns del \(namespace($0)) 2>/dev/null" }.joined(separator: ";"),
        ]
        guard (try? process.runAlone()) != nil else { return }
        process.waitUntilExit()
    }

    /// Starts a program on a host; it ends with the network at the latest.
    @discardableResult
    func start(
        _ program: URL, _ arguments: [String], on host: Host, environment: [String: String] = [:]
    ) throws -> RunningProgram {
        let ip = try #require(Self.find("ip"))
        let running = try RunningProgram(
            ip, ["netns", "exec", namespace(host), program.path] + arguments, environment: environment, in: folder)
        programs.append(running)
        return running
    }

    /// Runs commands of the shell, in which `on HOST` stands for `ip netns exec …`, and `ip -n $HOST` works.
    func run(_ script: String) async throws {
        let variables = Host.allCases.map { host in
            "\(host.rawValue.replacing("-", with: "_"))=\(namespace(host))"
        }
        let prelude = variables + ["on() { where=$1; shift; ip netns exec \"$where\" \"$@\"; }", "set -e"]
        let outcome = try await RunningProgram.run(
            URL(fileURLWithPath: "/bin/sh"), ["-c", (prelude + [script]).joined(separator: "\n")], in: folder,
            timeout: .seconds(20))
        try #require(outcome.status == 0, "\(outcome.standardError)\n\(script)")
    }

    /// Puts another translating router between a host's router and the segment.
    func addOuterRouter(of host: Host) async throws {
        let between = host == .sender ? "192.168.76" : "192.168.77"
        try await run(
            """
            ip -n $internet link set \(host.rawValue) nomaster
            ip -n $internet address add \(between).1/24 dev \(host.rawValue)
            on $internet sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
            ip -n $\(host.rawValue)_router address flush dev wan
            ip -n $\(host.rawValue)_router address add \(between).2/24 dev wan
            ip -n $\(host.rawValue)_router route add default via \(between).1
            on $internet nft -f - <<'RULES'
            table ip translation {
                chain outward {
                    type nat hook postrouting priority srcnat;
                    ip saddr \(between).2 masquerade
                }
            }
            RULES
            """)
    }

    private func namespace(_ host: Host) -> String { "\(name)-\(host.rawValue)" }

    private var publicSegment: String {
        """
        for one in $internet $server; do ip netns add $one; ip -n $one link set lo up; done
        ip -n $internet link add segment type bridge
        ip -n $internet link set segment up
        \(join("$server", port: "server"))
        \(address("$server", "wan", v4: "\(Self.serverV4)/24", v6: "\(Self.serverV6)/64"))
        \(versions.hasV4 ? defaultRoute : "")
        \(versions.hasV4 ? "ip -n $server address add \(Self.alternateV4)/24 dev wan" : "")
        \(versions.hasV6 ? routes("$server") : "")
        """
    }

    /// As on the internet, the server has a way to addresses of private networks, on which nothing arrives: a relay
    /// whose own system tells it that there is none relays no more (coturn 4.6).
    private var defaultRoute: String {
        """
        ip -n $internet address add \(Self.internetV4)/24 dev segment
        ip -n $server route add default via \(Self.internetV4)
        """
    }

    /// A host with or without its router.
    private func edge(_ host: Host, _ attachment: Attachment, number: Int) -> String {
        let inside = "$\(host.rawValue)"
        let outside = "203.0.113.\(number)/24"
        let outsideV6 = "2001:db8:113::\(number)/64"
        let start = "ip netns add \(inside)\nip -n \(inside) link set lo up"
        guard attachment.hasRouter else {
            return """
                \(start)
                \(join(inside, port: host.rawValue))
                \(address(inside, "wan", v4: outside, v6: outsideV6))
                \(versions.hasV6 ? routes(inside) : "")
                """
        }
        let router = "$\(host.rawValue)_router"
        return """
            \(start)
            ip netns add \(router)
            ip -n \(router) link set lo up
            \(join(router, port: host.rawValue))
            ip -n \(inside) link add lan type veth peer name lan netns \(router)
            ip -n \(inside) link set lan up
            ip -n \(router) link set lan up
            on \(router) sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward; echo 1 >/proc/sys/net/ipv6/conf/all/forwarding'
            \(address(router, "wan", v4: outside, v6: outsideV6))
            \(address(router, "lan", v4: "10.0.\(number).1/24", v6: "2001:db8:\(number)::1/64"))
            \(address(inside, "lan", v4: "10.0.\(number).2/24", v6: "2001:db8:\(number)::2/64"))
            \(versions.hasV4 ? "ip -n \(inside) route add default via 10.0.\(number).1" : "")
            \(versions.hasV6 ? "ip -n \(inside) -6 route add default via 2001:db8:\(number)::1" : "")
            \(versions.hasV6 ? routes(router) : "")
            on \(router) nft -f - <<'RULES'
            \(attachment.rules(host: "10.0.\(number).2"))
            RULES
            """
    }

    /// The interface `wan` of a host, on the public segment.
    private func join(_ host: String, port: String) -> String {
        """
        ip -n \(host) link add wan type veth peer name \(port) netns $internet
        ip -n $internet link set \(port) master segment up
        ip -n \(host) link set wan up
        """
    }

    private func address(_ host: String, _ interface: String, v4: String, v6: String) -> String {
        """
        \(versions.hasV4 ? "ip -n \(host) address add \(v4) dev \(interface)" : "")
        \(versions.hasV6 ? "ip -n \(host) address add \(v6) dev \(interface) nodad" : "")
        """
    }

    /// The ways to the networks behind the routers; the one to a network of one's own is there already.
    private func routes(_ host: String) -> String {
        (1...2).map { "ip -n \(host) -6 route add 2001:db8:\($0)::/64 via 2001:db8:113::\($0) 2>/dev/null || :" }
            .joined(separator: "\n")
    }

    /// A program of PATH, or of the folders that only root has there.
    static func find(_ program: String) -> URL? {
        RunningProgram.find(program)
            ?? ["/usr/sbin", "/sbin"].map { URL(fileURLWithPath: "\($0)/\(program)") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }
}

extension TestNetwork {
    /// Why networks can't be made here, or nil. Found out by making one.
    static let missing: String? = {
        guard geteuid() == 0 else { return "networks of their own need root" }
        for program in ["ip", "nft", "conntrack", "turnserver"] where find(program) == nil {
            return "networks of their own need \(program) (Debian: iproute2, nftables, conntrack, coturn)"
        }
        let name = "rtcshare-\(ProcessInfo.processInfo.processIdentifier)-probe"
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [
            "-c",
            """
            trap 'ip netns del \(name) 2>/dev/null' EXIT
            ip netns add \(name) && ip -n \(name) link add probe type veth peer name other &&
            ip -n \(name) link add segment type bridge && ip netns exec \(name) nft -f - <<'RULES'
            \(Attachment.addressRestricted.rules(host: "10.0.0.2"))
            RULES
            """,
        ]
        let errors = Pipe()
        process.standardError = errors
        guard (try? process.runAlone()) != nil else { return "networks of their own need a shell" }
        let said = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus != 0 else { return nil }
        return "networks of their own can't be made here: \(String(decoding: said, as: UTF8.self))"
    }()
}
