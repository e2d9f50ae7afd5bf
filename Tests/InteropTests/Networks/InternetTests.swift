import Foundation
import Testing
import TestSupport

extension Interop.NetworkTests {
    /// `rtcshare serve --internet` behind Debian's miniupnpd.
    @Suite(
        .serialized,
        .enabled(if: TestNetwork.find("miniupnpd") != nil, "miniupnpd is not installed (Debian: miniupnpd-nftables)"))
    struct InternetTests {
        /// The outside address of the sender's router. miniupnpd forwards nothing from addresses for documentation.
        private static let outside = "1.2.3.1"
        private static let viewerAddress = "1.2.3.2"
        private static let permission = """
            allow 1024-65535 10.0.1.0/24 1024-65535
            deny 0-65535 0.0.0.0/0 0-65535
            """

        /// A sender behind a router with miniupnpd, and a viewer outside.
        private struct Home {
            let network: TestNetwork
            let folder: TemporaryFolder
            let environment: [String: String]

            init() async throws {
                folder = try TemporaryFolder()
                network = try await TestNetwork(sender: .portRestricted, in: folder)
                environment = [
                    "DISPLAY": "", "WAYLAND_DISPLAY": "", "XDG_RUNTIME_DIR": folder.file("run").path,
                    "XDG_STATE_HOME": folder.file("state").path,
                ]
                try await network.run(
                    """
                    ip -n $sender_router address add \(InternetTests.outside)/24 dev wan
                    ip -n $viewer address add \(InternetTests.viewerAddress)/24 dev wan
                    """)
            }

            /// Starts miniupnpd on a router with these lines of configuration.
            func startRouter(
                _ configuration: String, on router: TestNetwork.Host = .senderRouter, wan: String = "wan",
                lan: String = "lan"
            ) async throws {
                let name = router == .senderRouter ? "sender_router" : router.rawValue
                try await network.run(
                    """
                    on $\(name) nft -f - <<'RULES'
                    table inet filter {
                        chain miniupnpd {
                        }
                        chain forward {
                            type filter hook forward priority filter;
                            jump miniupnpd
                        }
                        chain prerouting_miniupnpd {
                        }
                        chain prerouting {
                            type nat hook prerouting priority dstnat;
                            jump prerouting_miniupnpd
                        }
                        chain postrouting_miniupnpd {
                        }
                        chain postrouting {
                            type nat hook postrouting priority srcnat;
                            jump postrouting_miniupnpd
                        }
                    }
                    RULES
                    """)
                let file = try folder.write(
                    """
                    ext_ifname=\(wan)
                    listening_ip=\(lan)
                    http_port=0
                    ipv6_disable=yes
                    secure_mode=yes
                    uuid=00000000-0000-0000-0000-000000000001
                    \(configuration)

                    """, to: "miniupnpd-\(name).conf")
                let program = try network.start(
                    try #require(TestNetwork.find("miniupnpd")),
                    ["-d", "-f", file.path, "-P", folder.file("miniupnpd-\(name).pid").path], on: router)
                try await program.wait(for: "miniupnpd", timeout: .seconds(10)) {
                    (program.standardError + program.standardOutput).contains("HTTP listening")
                }
            }

            /// Starts a share, and waits for its report about the router.
            func share(_ options: [String] = []) async throws -> RunningProgram {
                let share = try network.start(
                    try #require(Peers.rtcshare),
                    ["serve", "--internet", "--listen", "8080", "--source", "test:640x360@15", "--audio", "none"]
                        + options, on: .sender, environment: environment)
                try await share.wait(for: "the report about the router", timeout: .seconds(30)) {
                    share.standardError.contains("router 10.0.1.1")
                }
                return share
            }

            /// Watches the first link of a share from outside.
            func watch(_ share: RunningProgram) async throws {
                let link = try #require(share.standardOutput.split(separator: "\n").first.map(String.init))
                #expect(link.hasPrefix("https://\(InternetTests.outside):8080/#"))
                let stored = try JSONSerialization.jsonObject(
                    with: Data(contentsOf: folder.file("state/rtcshare/certificate.json")))
                let certificate = try #require((stored as? [String: Any])?["certificate"] as? String)
                let file = try folder.write(certificate, to: "certificate.pem")
                let viewer = try network.start(
                    try #require(Peers.rtcshare),
                    ["view", link, "--no-window", "--duration", "1", "--snapshot", folder.file("seen.png").path],
                    on: .viewer, environment: environment.merging(["SSL_CERT_FILE": file.path]) { $1 })
                let outcome = try await viewer.outcome(timeout: .seconds(30))
                #expect(outcome.status == 0, "\(outcome.standardError)")
                #expect((try? Data(contentsOf: folder.file("seen.png")).count) ?? 0 > 1000, "a picture")
            }

            /// The router's rules that forward a port to the sender.
            func forwardedPorts() async throws -> String {
                try await network.run(
                    "on $sender_router nft list table inet filter >\(folder.file("rules").path)")
                let rules = try String(contentsOf: folder.file("rules"), encoding: .utf8)
                return rules.split(separator: "\n").filter { $0.contains("dnat ip to 10.0.1.2:") }
                    .joined(separator: "\n")
            }

            /// Runs `rtcshare doctor --json`, and returns what it reports of the router.
            func diagnosedRouter() async throws -> [String: Any] {
                let program = try network.start(
                    try #require(Peers.rtcshare), ["doctor", "--json"], on: .sender, environment: environment)
                let outcome = try await program.outcome(timeout: .seconds(30))
                let report = try JSONSerialization.jsonObject(with: Data(outcome.standardOutput.utf8))
                return try #require((report as? [String: Any])?["router"] as? [String: Any])
            }
        }

        @Test(
            "A viewer on the internet watches by the printed link, and the router closes the ports at the end",
            arguments: [("yes", "PCP"), ("no", "UPnP")])
        func watched(isControllable: String, method: String) async throws {
            let home = try await Home()
            try await home.startRouter(
                "enable_natpmp=\(isControllable)\next_ip=\(Self.outside)\n\(Self.permission)")
            let router = try await home.diagnosedRouter()
            #expect(router["protocol"] as? String == method && router["reach"] as? String == "everywhere", "\(router)")
            #expect(router["outsideAddress"] as? String == Self.outside)
            #expect(try await home.forwardedPorts().isEmpty, "doctor leaves nothing behind")
            let share = try await home.share()
            #expect(
                share.standardError.contains(
                    "The router 10.0.1.1 forwards TCP port 8080 and UDP port 8080 to this machine (\(method))."),
                "\(share.standardError)")
            #expect(try await home.forwardedPorts().split(separator: "\n").count == 2)
            try await home.watch(share)
            share.interrupt()
            #expect(try await share.outcome(timeout: .seconds(20)).status == 0)
            #expect(try await home.forwardedPorts().isEmpty)
        }

        @Test("A port that was opened by PCP is closed at the end, although UPnP opened the other one")
        func bothMethods() async throws {
            let home = try await Home()
            try await home.startRouter("enable_natpmp=no\next_ip=\(Self.outside)\n\(Self.permission)")
            // Grants UDP ports for PCP, refuses all others, and prints the lifetimes that are requested.
            let script = try home.folder.write(
                """
                import socket, struct
                server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                server.bind(("10.0.1.1", 5351))
                print("ready", flush=True)
                while True:
                    request, client = server.recvfrom(1100)
                    if request[0] != 2:
                        continue
                    lifetime, = struct.unpack("!I", request[4:8])
                    print(request[36], lifetime, flush=True)
                    code = 0 if request[36] == 17 else 2
                    head = struct.pack("!BBBBII12x", 2, 129, 0, code, lifetime, 7)
                    outside = bytes(10) + b"\\xff\\xff" + socket.inet_aton("\(Self.outside)")
                    server.sendto(head + request[24:42] + request[40:42] + outside, client)
                """, to: "router.py")
            let python = try #require(TestNetwork.find("python3"))
            let router = try home.network.start(python, [script.path], on: .senderRouter)
            try await router.wait(for: "the router", timeout: .seconds(10)) { router.standardOutput.contains("ready") }
            let share = try await home.share()
            #expect(share.standardError.contains("to this machine (PCP and UPnP)."), "\(share.standardError)")
            #expect(try await home.forwardedPorts().split(separator: "\n").count == 1)
            share.interrupt()
            #expect(try await share.outcome(timeout: .seconds(20)).status == 0)
            #expect(try await home.forwardedPorts().isEmpty)
            #expect(router.standardOutput.contains("17 600") && router.standardOutput.contains("17 0"))
        }

        @Test(
            "Another share starts while the router still closes the ports of the last one",
            .enabled(if: Peers.mustRun || RunningProgram.find("curl") != nil, "curl is not installed"))
        func startDuringEnd() async throws {
            let home = try await Home()
            // Grants ports for PCP, and does not answer requests to close them.
            let script = try home.folder.write(
                """
                import socket, struct
                server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                server.bind(("10.0.1.1", 5351))
                print("ready", flush=True)
                while True:
                    request, client = server.recvfrom(1100)
                    lifetime, = struct.unpack("!I", request[4:8])
                    if request[0] != 2 or lifetime == 0:
                        continue
                    head = struct.pack("!BBBBII12x", 2, 129, 0, 0, lifetime, 7)
                    outside = bytes(10) + b"\\xff\\xff" + socket.inet_aton("\(Self.outside)")
                    server.sendto(head + request[24:42] + request[40:42] + outside, client)
                """, to: "router.py")
            let python = try #require(TestNetwork.find("python3"))
            let router = try home.network.start(python, [script.path], on: .senderRouter)
            try await router.wait(for: "the router", timeout: .seconds(10)) { router.standardOutput.contains("ready") }
            for name in ["run", "home"] {
                try FileManager.default.createDirectory(
                    at: home.folder.file(name), withIntermediateDirectories: true,
                    attributes: [.posixPermissions: 0o700])
            }
            let own = [
                "HOME": home.folder.file("home").path, "XDG_CONFIG_HOME": home.folder.file("home").path, "BROWSER": "",
            ]
            let presenter = try home.network.start(
                try #require(Peers.rtcshare), ["present"], on: .sender,
                environment: home.environment.merging(own) { $1 })
            let socket = home.folder.file("run/rtcshare/share.sock").path
            try await presenter.wait(for: "the control socket", timeout: .seconds(30)) {
                FileManager.default.fileExists(atPath: socket)
            }
            let start = ["--json", #"{"source":"test:640x360@15","isOnInternet":true}"#]
            for (request, status) in [(start, "201"), (["--request", "DELETE"], "200"), (start, "201")] {
                let outcome = try await RunningProgram.run(
                    try #require(RunningProgram.find("curl")),
                    [
                        "--silent", "--unix-socket", socket, "--write-out", " %{http_code}",
                        "http://localhost/v1/share",
                    ] + request, in: home.folder, timeout: .seconds(30))
                #expect(outcome.standardOutput.hasSuffix(status), "\(outcome.standardOutput)")
            }
            presenter.interrupt()
        }

        @Test("A device that repeats its answer to a search does not delay a share")
        func chattyDevice() async throws {
            let home = try await Home()
            let script = try home.folder.write(
                """
                import socket, struct, time
                group = socket.inet_aton("239.255.255.250") + socket.inet_aton("10.0.1.1")
                server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                server.bind(("", 1900))
                server.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, group)
                print("ready", flush=True)
                _, client = server.recvfrom(2000)
                answer = "\\r\\n".join([
                    "HTTP/1.1 200 OK", "ST: urn:schemas-upnp-org:device:InternetGatewayDevice:1",
                    "USN: uuid:device", "LOCATION: http://10.0.1.9/device.xml", "", ""])
                print("asked", flush=True)
                for _ in range(300):
                    server.sendto(answer.encode(), client)
                    time.sleep(0.4)
                """, to: "device.py")
            let python = try #require(TestNetwork.find("python3"))
            let device = try home.network.start(python, [script.path], on: .senderRouter)
            try await device.wait(for: "the device", timeout: .seconds(10)) { device.standardOutput.contains("ready") }
            let share = try await home.share()
            #expect(device.standardOutput.contains("asked"))
            #expect(share.standardError.contains("does not answer PCP, NAT-PMP or UPnP"), "\(share.standardError)")
            share.interrupt()
            #expect(try await share.outcome(timeout: .seconds(20)).status == 0)
        }

        @Test("A viewer whose network drops UDP watches over TCP by the forwarded port of the page")
        func watchedOverTCP() async throws {
            let home = try await Home()
            try await home.startRouter("enable_natpmp=yes\next_ip=\(Self.outside)\n\(Self.permission)")
            try await home.network.run(
                """
                on $viewer nft -f - <<'RULES'
                table inet blocked {
                    chain in { type filter hook input priority 0; meta l4proto udp drop; }
                    chain out { type filter hook output priority 0; meta l4proto udp drop; }
                }
                RULES
                """)
            let share = try await home.share()
            try await home.watch(share)
            share.interrupt()
        }

        @Test("A share says that the router's settings forbid the port, and serves the local network")
        func refused() async throws {
            let home = try await Home()
            try await home.startRouter("enable_natpmp=no\next_ip=\(Self.outside)\ndeny 0-65535 0.0.0.0/0 0-65535")
            let share = try await home.share()
            #expect(share.standardOutput.hasPrefix("https://10.0.1.2:8080/#"), "\(share.standardOutput)")
            #expect(
                share.standardError.contains("refuses to forward TCP port 8080 (UPnP): its settings forbid it."),
                "\(share.standardError)")
            share.interrupt()
        }

        @Test("A share and doctor say that no router answers")
        func unanswered() async throws {
            let home = try await Home()
            let router = try await home.diagnosedRouter()
            #expect(
                router["problem"] as? String == "the router 10.0.1.1 does not answer PCP, NAT-PMP or UPnP", "\(router)")
            let share = try await home.share()
            #expect(
                share.standardError.contains(
                    "Viewers on the internet can't join: the router 10.0.1.1 does not answer PCP, NAT-PMP or UPnP."),
                "\(share.standardError)")
            #expect(share.standardError.contains("forward TCP port 8080 and UDP port 8080 to 10.0.1.2 there"))
            share.interrupt()
        }

        @Test("A share behind two routers that open ports says that another router is in front of the first one")
        func twoRouters() async throws {
            let home = try await Home()
            try await home.network.addOuterRouter(of: .sender)
            try await home.network.run("ip -n $internet address add \(Self.outside)/24 dev segment")
            try await home.startRouter(
                "enable_natpmp=yes\next_ip=\(Self.outside)\nallow 1024-65535 192.168.77.0/24 1024-65535",
                on: .internet, wan: "segment", lan: "sender")
            try await home.startRouter("enable_natpmp=yes\n\(Self.permission)")
            let share = try await home.share()
            #expect(share.standardError.contains("another router is in front of it"), "\(share.standardError)")
            #expect(share.standardError.contains("Try: bridge mode on one of the routers"))
            #expect(share.standardOutput.hasPrefix("https://10.0.1.2:8080/#"))
            share.interrupt()
        }

        @Test(
            "A share says that the outside address of a router with NAT-PMP is a provider's or another router's",
            arguments: [("100.64.1.2", "carrier-grade NAT"), ("192.168.77.2", "another router is in front of it")])
        func notPublic(address: String, words: String) async throws {
            let home = try await Home()
            let script = try home.folder.write(
                """
                import socket, struct, sys
                server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                server.bind(("10.0.1.1", 5351))
                print("ready", flush=True)
                while True:
                    request, client = server.recvfrom(1100)
                    head = bytes([0, request[1] | 128])
                    if request[0] != 0:
                        answer = head + struct.pack("!HI", 1, 7)
                    elif request[1] == 0:
                        answer = head + struct.pack("!HI", 0, 7) + socket.inet_aton(sys.argv[1])
                    else:
                        answer = head + struct.pack("!HI", 0, 7) + request[4:]
                    server.sendto(answer, client)
                """, to: "router.py")
            let python = try #require(TestNetwork.find("python3"))
            let router = try home.network.start(python, [script.path, address], on: .senderRouter)
            try await router.wait(for: "the router", timeout: .seconds(10)) { router.standardOutput.contains("ready") }
            let share = try await home.share()
            #expect(
                share.standardError.contains(words) && share.standardError.contains(address), "\(share.standardError)")
            share.interrupt()
        }
    }
}
