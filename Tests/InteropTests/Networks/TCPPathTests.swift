import Foundation
import Testing
import TestSupport

extension Interop.NetworkTests {
    /// Viewers whose networks drop all UDP, and who connect by TCP to the port of the page.
    @Suite(.serialized)
    struct TCPPathTests {
        /// Drops UDP at both hosts.
        private static let withoutUDP = """
            for one in $sender $viewer; do on $one nft -f - <<'RULES'
            table inet blocked {
                chain in { type filter hook input priority 0; meta l4proto udp drop; }
                chain out { type filter hook output priority 0; meta l4proto udp drop; }
            }
            RULES
            done
            """

        /// `rtcshare serve` on the sender's host.
        struct ServedPage {
            let link: String
            let program: RunningProgram
            private let folder: TemporaryFolder
            private let environment: [String: String]

            init(
                _ options: [String] = [], environment more: [String: String] = [:], over network: TestNetwork,
                in folder: TemporaryFolder
            ) async throws {
                self.folder = folder
                environment = ["XDG_RUNTIME_DIR": folder.file("run").path, "XDG_STATE_HOME": folder.file("state").path]
                let program = try network.start(
                    try #require(Peers.rtcshare),
                    ["serve", "--listen", "8080", "--source", "test:640x360@30", "--audio", "none"] + options,
                    on: .sender, environment: environment.merging(more) { $1 })
                self.program = program
                try await program.wait(for: "the link", timeout: .seconds(30)) {
                    program.standardOutput.hasSuffix("\n")
                }
                link = try #require(program.standardOutput.split(separator: "\n").first.map(String.init))
            }

            /// Shows it in a program on the viewer's host, until that has a picture and the share has this path to it.
            func show(
                in viewer: Viewer, path: String, environment: [String: String] = [:], over network: TestNetwork
            ) async throws -> RunningProgram.Outcome? {
                if viewer == .chromium || viewer == .firefox {
                    let page = try await BrowserPage(viewer, on: network, in: folder)
                    try await page.go(to: link)
                    try await page.wait(state: "live")
                    try await wait(forPath: path)
                    return nil
                }
                let (program, arguments) = try viewer.player(of: link, in: folder)
                let playing = try network.start(program, arguments, on: .viewer, environment: environment)
                try await wait(forPath: path)
                playing.interrupt()
                let outcome = try await playing.outcome(timeout: .seconds(40))
                #expect(outcome.status == 0, "\(outcome.standardError)")
                if viewer == .aiortc {
                    #expect(outcome.standardOutput.contains("first_picture_s"), "\(outcome.standardOutput)")
                }
                return outcome
            }

            /// Waits until `rtcshare status` reports this kind of route to its only viewer.
            func wait(forPath path: String) async throws {
                let rtcshare = try #require(Peers.rtcshare)
                let deadline = ContinuousClock.now + .seconds(30)
                while true {
                    let outcome = try await RunningProgram.run(
                        rtcshare, ["status", "--json"], environment: environment, in: folder, timeout: .seconds(20))
                    let status = try? JSONSerialization.jsonObject(with: Data(outcome.standardOutput.utf8))
                    let viewers = (status as? [String: Any])?["viewers"] as? [[String: Any]]
                    if viewers?.count == 1, viewers?.first?["path"] as? String == path { return }
                    try #require(ContinuousClock.now < deadline, "no path \(path): \(outcome.standardOutput)")
                    try await Task.sleep(for: .milliseconds(200))
                }
            }
        }

        @Test("A thousand strangers at the port neither keep viewers out nor end what they watch")
        func strangers() async throws {
            let folder = try TemporaryFolder()
            let network = try await TestNetwork(in: folder)
            try await network.run(Self.withoutUDP)
            let share = try await ServedPage(over: network, in: folder)
            let rtcshare = try #require(Peers.rtcshare)
            func view(for seconds: Int) throws -> RunningProgram {
                try network.start(
                    rtcshare, ["view", share.link, "--no-window", "--duration", "\(seconds)"], on: .viewer)
            }
            let first = try view(for: 12)
            try await share.wait(forPath: "tcp")
            let strangers = try network.start(
                URL(fileURLWithPath: "/usr/bin/python3"),
                [Peers.script("strangers.py"), TestNetwork.senderRouterV4, "8080", "1000"], on: .server)
            try await strangers.wait(for: "a thousand connections", timeout: .seconds(60)) {
                strangers.standardOutput.contains("1000 connections")
            }
            let second = try await view(for: 2).outcome(timeout: .seconds(40))
            #expect(second.status == 0, "\(second.standardError)")
            let outcome = try await first.outcome(timeout: .seconds(60))
            #expect(outcome.status == 0, "\(outcome.standardError)")
            let descriptors = try FileManager.default.contentsOfDirectory(
                atPath: "/proc/\(share.program.processIdentifier)/fd")
            #expect(descriptors.count < 300)
        }

        @Test("An offer with --ice-tcp is answered over TCP")
        func offer() async throws {
            let folder = try TemporaryFolder()
            let network = try await TestNetwork(in: folder)
            try await network.run(Self.withoutUDP)
            let path = try await NetworkShare(over: network, sender: ["--ice-tcp"], in: folder).seen()
            #expect(path.remote == "prflx" && path.remoteAddress == TestNetwork.viewerRouterV4, "\(path)")
        }
    }
}
