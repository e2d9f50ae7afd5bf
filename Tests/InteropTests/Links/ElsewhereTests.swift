import Foundation
import RTCShareTransport
import TestSupport
import RTCSharePeerConnection
import Testing

@testable import rtcshare

extension Interop {
    /// A link for viewers elsewhere, as the article of that name has it: through nginx, through ssh, through a relay.
    @Suite(.serialized)
    struct ElsewhereTests {
        private static let nginx = program("nginx")
        private static let sshd = program("sshd")

        /// Servers are in folders that PATH of a plain user lacks.
        private static func program(_ name: String) -> URL? {
            RunningProgram.find(name)
                ?? ["/usr/sbin/\(name)", "/usr/local/sbin/\(name)"].map { URL(fileURLWithPath: $0) }
                .first { FileManager.default.isExecutableFile(atPath: $0.path) }
        }

        /// A program that closes every descriptor that it inherits: by one of them `Process` notices a child's end. A shell
        /// keeps it.
        private static func start(
            _ program: URL, _ arguments: [String], in folder: TemporaryFolder
        ) throws -> RunningProgram {
            let keeper = "\"$@\" & program=$!; trap 'kill $program' TERM INT; wait $program; wait $program"
            return try RunningProgram(
                URL(fileURLWithPath: "/bin/sh"), ["-c", keeper, "sh", program.path] + arguments, in: folder)
        }

        /// Watches by a link, which is not the server's own.
        private func watch(_ link: String, of share: ServedShare) async throws {
            let viewer = try share.view(["--duration", "1"], link: link)
            defer { viewer.stop() }
            let outcome = try await viewer.outcome(timeout: .seconds(40))
            #expect(
                outcome.status == 0 && outcome.standardError.contains("screen of alice"), "\(outcome.standardError)")
            try await share.wait(for: "nobody", until: \.isEmpty)
            guard Peers.has(.chromium), Peers.canDriveBrowsers else { return }
            let page = try await BrowserPage(.chromium, in: share.share.folder)
            try await page.go(to: link)
            try await page.wait(state: "live")
            // Events come through at once, not when a buffer is full.
            try await share.ask("pause")
            try await page.wait(state: "paused")
            try await share.ask("resume")
            try await page.wait(state: "live")
            #expect(try await page.complaints() == [])
            #expect(try await page.evaluate("location.href") as? String == link)
        }

        @Test(
            "nginx hands a share on, under a path too, and says who asks",
            .enabled(if: Peers.mustRun || nginx != nil, "no nginx"),
            arguments: ["", "/office"])
        func reverseProxy(path: String) async throws {
            let folder = try TemporaryFolder()
            let port = try freePort()
            let share = try await ServedShare(
                ["--public-url", "http://localhost:\(port)\(path)", "--behind-proxy"], in: folder)
            defer { share.stop() }
            #expect(share.link.hasPrefix("http://localhost:\(port)\(path)/#"), "\(share.link)")
            let own = try #require(
                share.program.standardOutput.split(separator: "\n").dropFirst().first.flatMap {
                    URL(string: String($0))?.port
                })
            let nginx = try await Self.startNginx(
                at: port,
                """
                location \(path)/ {
                    proxy_pass http://127.0.0.1:\(own);
                    proxy_http_version 1.1;
                    proxy_set_header Host $host;
                    proxy_set_header X-Forwarded-For 192.0.2.77;
                    proxy_set_header Connection "";
                }
                """, in: folder)
            defer { nginx.stop() }
            let viewer = try share.view(link: share.link)
            defer { viewer.stop() }
            try await share.wait(for: "the address") { $0.first?.address == "192.0.2.77" }
            viewer.interrupt()
            try await share.wait(for: "nobody", until: \.isEmpty)
            try await watch(share.link, of: share)
        }

        @Test(
            "nginx in its shortest form, which takes a path away that the share does not know of, hands it on",
            .enabled(if: Peers.mustRun || nginx != nil, "no nginx"))
        func strippedPath() async throws {
            let folder = try TemporaryFolder()
            let port = try freePort()
            let share = try await ServedShare(in: folder)
            defer { share.stop() }
            let nginx = try await Self.startNginx(
                at: port, "location /office/ { proxy_pass http://127.0.0.1:\(share.port)/; }", in: folder)
            defer { nginx.stop() }
            try await watch("http://localhost:\(port)/office/#\(share.token)", of: share)
        }

        /// Starts nginx with a location that hands a share on, and waits until it listens.
        private static func startNginx(
            at port: UInt16, _ location: String, in folder: TemporaryFolder
        ) async throws -> RunningProgram {
            let configuration = """
                daemon off;
                pid \(folder.file("nginx.pid").path);
                error_log stderr;
                events {}
                http {
                    access_log off;
                    client_body_temp_path \(folder.file("body").path);
                    proxy_temp_path \(folder.file("proxy").path);
                    fastcgi_temp_path \(folder.file("fastcgi").path);
                    uwsgi_temp_path \(folder.file("uwsgi").path);
                    scgi_temp_path \(folder.file("scgi").path);
                    server {
                        listen 127.0.0.1:\(port);
                        \(location)
                    }
                }
                """
            let file = try folder.write(configuration, to: "nginx.conf")
            let program = try start(
                try #require(nginx), ["-e", "stderr", "-p", folder.url.path, "-c", file.path], in: folder)
            try await program.wait(for: "nginx", timeout: .seconds(20)) {
                FileManager.default.fileExists(atPath: folder.file("nginx.pid").path)
            }
            return program
        }

        @Test(
            "A machine of one's own hands a share on by ssh",
            .enabled(if: Peers.mustRun || sshd != nil && RunningProgram.find("ssh-keygen") != nil, "no sshd"))
        func tunnel() async throws {
            let folder = try TemporaryFolder()
            let (port, sshPort) = (try freePort(), try freePort())
            let share = try await ServedShare(["--public-url", "http://localhost:\(port)"], in: folder)
            defer { share.stop() }
            let own = try #require(
                share.program.standardOutput.split(separator: "\n").dropFirst().first.flatMap {
                    URL(string: String($0))?.port
                })
            for key in ["host", "user"] {
                let made = try await RunningProgram.run(
                    try #require(RunningProgram.find("ssh-keygen")),
                    ["-q", "-t", "ed25519", "-N", "", "-f", folder.file(key).path], in: folder, timeout: .seconds(30))
                try #require(made.status == 0, "\(made.standardError)")
            }
            let configuration = try folder.write(
                """
                Port \(sshPort)
                ListenAddress 127.0.0.1
                HostKey \(folder.file("host").path)
                AuthorizedKeysFile \(folder.file("user.pub").path)
                PidFile none
                StrictModes no
                UsePAM no
                PasswordAuthentication no

                """, to: "sshd_config")
            // What sshd confines its unprivileged part to; its packages make it when the service starts.
            try? FileManager.default.createDirectory(atPath: "/run/sshd", withIntermediateDirectories: false)
            let sshd = try Self.start(try #require(Self.sshd), ["-D", "-e", "-f", configuration.path], in: folder)
            defer { sshd.stop() }
            try await sshd.wait(for: "sshd", timeout: .seconds(20)) { sshd.standardError.contains("Server listening") }
            let ssh = try Self.start(
                try #require(RunningProgram.find("ssh")),
                [
                    "-v", "-F", "none", "-N", "-p", "\(sshPort)", "-i", folder.file("user").path,
                    "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=\(folder.file("known").path)",
                    "-o", "ExitOnForwardFailure=yes", "-R", "\(port):localhost:\(own)", "localhost",
                ], in: folder)
            defer { ssh.stop() }
            try await ssh.wait(for: "the tunnel", timeout: .seconds(20)) {
                ssh.standardError.contains("remote forward success")
            }
            try await watch(share.link, of: share)
        }

        @Test(
            "Where relays alone are allowed, a viewer of a link comes through the share's",
            .enabled(if: Peers.mustRun || program("turnserver") != nil, "no turnserver"))
        func relay() async throws {
            let folder = try TemporaryFolder()
            let address = "\(try #require(NetworkInterfaces.routedAddresses().first, "this machine has no network"))"
            let port = try freePort()
            let turn = try RunningProgram(
                try #require(Self.program("turnserver")),
                [
                    "-n", "--listening-ip", address, "--listening-port", "\(port)", "--relay-ip", address, "--no-tls",
                    "--no-dtls", "--no-cli", "--lt-cred-mech", "--realm", "links.test", "--user", "alice:wonderland",
                    "--userdb", "turn.db", "--pidfile", "turn.pid", "--log-file", "stdout", "--simple-log",
                    "--relay-threads", "1",
                ], in: folder)
            defer { turn.stop() }
            try await turn.wait(for: "coturn", timeout: .seconds(20)) {
                let table = try? kernelTable("/proc/net/tcp")
                return table?.contains(String(format: ":%04X ", port)) ?? false
            }
            let share = try await ServedShare(
                ["--ice-server", "turn:\(address):\(port)", "--ice-transport-policy", "relay"],
                environment: ["RTCSHARE_ICE_USERNAME": "alice", "RTCSHARE_ICE_PASSWORD": "wonderland"], in: folder)
            defer { share.stop() }
            let viewer = try share.view()
            defer { viewer.stop() }
            try await viewer.wait(for: "the picture", timeout: .seconds(40)) {
                viewer.standardError.contains("screen of alice, 640x360")
            }
            try await share.wait(for: "a relayed viewer") { $0.first?.path == .relayed }
        }
    }
}
