import Foundation
import TestSupport
import Testing

extension Interop.NetworkTests {
    /// Hosts that have only IPv6, on networks with and without a translation of IPv4 (NAT64).
    @Suite(.serialized)
    struct IPv6Tests {
        /// A host behind a router that translates: the host has no IPv4 any more, the other one no IPv6.
        struct TranslatedNetwork {
            let network: TestNetwork
            let host: TestNetwork.Host
            /// The file that names the name server of the host.
            private let resolver: URL

            /// `number` is that of the host's networks.
            init(for host: TestNetwork.Host, number: Int, in folder: TemporaryFolder) async throws {
                self.host = host
                let isSender = host == .sender
                let network = try await TestNetwork(
                    sender: isSender ? .portRestricted : .direct, viewer: isSender ? .direct : .portRestricted,
                    versions: .both, in: folder)
                self.network = network
                let (router, other) = isSender ? ("$sender_router", "$viewer") : ("$viewer_router", "$sender")
                let nameServer = "2001:db8:\(number)::1"
                resolver = try folder.write("nameserver \(nameServer)\n", to: "resolv.conf")
                let translator = try folder.write(
                    """
                    tun-device nat64
                    ipv4-addr 192.168.255.1
                    prefix 2001:db8:64::/96
                    dynamic-pool 192.168.255.0/24
                    data-dir \(folder.url.path)
                    """, to: "tayga.conf")
                try await network.run(
                    """
                    ip -n $\(host.rawValue) -4 address flush dev lan
                    ip -n \(other) -6 address flush dev wan scope global
                    on \(router) tayga --config \(translator.path) --mktun
                    ip -n \(router) link set nat64 up
                    ip -n \(router) route add 192.168.255.0/24 dev nat64
                    ip -n \(router) -6 route add 2001:db8:64::/96 dev nat64
                    on \(router) nft -f - <<'RULES'
                    table ip nat64 {
                        chain outward { type nat hook postrouting priority 50; oifname "wan" masquerade; }
                        chain forward { type filter hook forward priority -10; iifname "nat64" accept; }
                    }
                    add rule inet firewall forward iifname { "nat64", "lan" } accept
                    RULES
                    """)
                try network.start(
                    URL(fileURLWithPath: "/usr/sbin/tayga"), ["--config", translator.path, "-d"],
                    on: isSender ? .senderRouter : .viewerRouter)
                let names = try network.start(
                    URL(fileURLWithPath: "/usr/bin/python3"), [Peers.script("dns64.py"), nameServer],
                    on: isSender ? .senderRouter : .viewerRouter)
                try await names.wait(for: "the name server", timeout: .seconds(10)) {
                    names.standardOutput.contains("ready")
                }
            }

            /// The program and the first arguments that run another one on the host with its name server.
            var prefix: [String] {
                ["-c", "mount --bind \(resolver.path) /etc/resolv.conf && exec \"$@\"", "sh"]
            }
        }

        @Test("rtcshare view without IPv4 watches a link with an IPv4 address through NAT64")
        func viewer() async throws {
            let folder = try TemporaryFolder()
            let translated = try await TranslatedNetwork(for: .viewer, number: 2, in: folder)
            let share = try await TCPPathTests.ServedPage(over: translated.network, in: folder)
            #expect(share.link.contains(TestNetwork.senderRouterV4), "\(share.link)")
            let viewing = try translated.network.start(
                URL(fileURLWithPath: "/bin/sh"),
                translated.prefix + [
                    try #require(Peers.rtcshare).path, "view", share.link, "--no-window", "--duration", "1",
                ], on: .viewer)
            let outcome = try await viewing.outcome(timeout: .seconds(40))
            #expect(outcome.status == 0, "\(outcome.standardError)")
        }

        /// Chromium 156 gathers no candidates in such a namespace, whatever the page.
        @Test(
            "A link with an IPv6 address is watched where no host has IPv4",
            arguments: [Viewer.firefox, .gstreamer, .aiortc].filter(Peers.has))
        func link(viewer: Viewer) async throws {
            let folder = try TemporaryFolder()
            let network = try await TestNetwork(versions: .v6, in: folder)
            let share = try await TCPPathTests.ServedPage(over: network, in: folder)
            #expect(share.link.hasPrefix("http://[2001:db8:113::1]:8080/"), "\(share.link)")
            _ = try await share.show(in: viewer, path: "direct", over: network)
        }
    }
}
