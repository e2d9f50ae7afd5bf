import Foundation
import Testing
import TestSupport

extension Interop.NetworkTests {
    /// A share whose network, or whose viewers' network, changes: the picture is back soon after the network, and nobody
    /// does anything for it. The times are limits for a busy machine; NATAndTURN.md has what was measured.
    @Suite(
        .serialized, .enabled(if: Peers.has(.chromium) && Peers.canDriveBrowsers, "no Chromium that can be driven"))
    struct NetworkChangeTests {
        /// A change, and what the hosts do for it.
        private struct Change {
            let name: String
            /// The network goes, or another one comes before it.
            var first = ""
            var pause = Duration.zero
            /// From here on there is a network that leads to the other side.
            let then: String
        }

        /// The longest time from the network to the picture.
        private static let limit = Duration.seconds(8)

        @Test(
            "The picture is back soon after a change of the presenter's network, or of a viewer's",
            arguments: [Viewer.chromium, .firefox].filter(Peers.has))
        func changes(browser: Viewer) async throws {
            let watched = try await WatchedShare(router: .fullCone, in: browser)
            defer { watched.stop() }
            try await watched.network.run(WatchedShare.otherNetworks)
            for change in Self.changes {
                try await watched.network.run(change.first)
                try await Task.sleep(for: change.pause)
                let since = Date()
                try await watched.network.run(change.then)
                try await watched.expectPictures(since: since, within: Self.limit, after: change.name)
            }
            try await watched.expectSight()
        }

        private static let changes = [
            Change(
                name: "viewers go from Wi-Fi to mobile, with both for a while",
                first: """
                    ip -n $viewer address add 10.0.3.2/24 dev mobile
                    ip -n $viewer link set mobile up
                    ip -n $viewer route add default via 10.0.3.1 metric 600
                    """, pause: .seconds(1),
                then: "ip -n $viewer link set lan down; ip -n $viewer address flush dev lan"),
            Change(
                name: "viewers go from mobile to Wi-Fi, with nothing in between",
                first: "ip -n $viewer link set mobile down; ip -n $viewer address flush dev mobile", pause: .seconds(3),
                then: """
                    ip -n $viewer address add 10.0.2.2/24 dev lan
                    ip -n $viewer link set lan up
                    ip -n $viewer route add default via 10.0.2.1
                    """),
            Change(
                name: "the presenter goes from Wi-Fi to cable, with both for a while",
                first: """
                    ip -n $sender address add 198.51.100.7/24 dev cable
                    ip -n $sender link set cable up
                    ip -n $sender route add default via 198.51.100.254 metric 50
                    """, pause: .seconds(1),
                then: "ip -n $sender link set wan down; ip -n $sender address flush dev wan"),
            Change(
                name: "the presenter goes to another network, with nothing in between",
                first: "ip -n $sender link set cable down; ip -n $sender address flush dev cable", pause: .seconds(3),
                then: """
                    ip -n $sender address add 198.51.100.8/24 dev dongle
                    ip -n $sender link set dongle up
                    ip -n $sender route add default via 198.51.100.254
                    """),
            Change(
                name: "a VPN of the presenter's comes",
                then: """
                    ip -n $sender link add tunnel type veth peer name tunnel netns $vpn
                    ip -n $vpn address add 10.8.0.1/24 dev tunnel
                    ip -n $vpn link set tunnel up
                    ip -n $sender address add 10.8.0.2/24 dev tunnel
                    ip -n $sender link set tunnel up
                    ip -n $sender route add 0.0.0.0/1 via 10.8.0.1
                    ip -n $sender route add 128.0.0.0/1 via 10.8.0.1
                    """),
            Change(
                name: "the VPN goes", first: ":", pause: .seconds(3), then: "ip -n $sender link del tunnel"),
        ]

        /// Longer than consent to send lasts (RFC 7675 §5.1), so that each side has given up the other.
        private static let sleep = Duration.seconds(32)
        /// A machine that sleeps receives nothing, and its system accepts no connections.
        private static func deafen(_ host: String) -> String {
            """
            on $\(host) nft -f - <<'RULES'
            table inet asleep {
                chain in { type filter hook input priority 0; policy drop; }
                chain out { type filter hook output priority 0; policy drop; }
            }
            RULES
            """
        }

        @Test("The picture is back soon after the presenter's machine slept, or the viewers'")
        func sleep() async throws {
            async let presenter: Void = sleep(of: "sender")
            async let viewers: Void = sleep(of: "viewer")
            _ = try await (presenter, viewers)
        }

        private func sleep(of host: String) async throws {
            let watched = try await WatchedShare(router: .portRestricted)
            defer { watched.stop() }
            let sleepers = host == "sender" ? [watched.share.processIdentifier] : try watched.viewersProcesses()
            try await watched.network.run(Self.deafen(host))
            for process in sleepers { kill(process, SIGSTOP) }
            try await Task.sleep(for: Self.sleep)
            for process in sleepers { kill(process, SIGCONT) }
            let since = Date()
            try await watched.network.run("on $\(host) nft delete table inet asleep")
            try await watched.expectPictures(since: since, within: Self.limit, after: "the \(host) slept")
            try await watched.expectSight()
        }
    }

    /// `rtcshare serve` on the sender's host, with a page in a browser and `rtcshare view` on the viewer's.
    private final class WatchedShare {
        private static let rate = 15.0

        let folder: TemporaryFolder
        let network: TestNetwork
        let share: RunningProgram
        private let viewing: RunningProgram
        private let page: BrowserPage
        private var path = Path(sessions: 0, fragment: "")

        /// The networks of another provider, of a phone and of a VPN, which lets only its own addresses through.
        static let otherNetworks = """
            ip -n $internet address add 198.51.100.254/24 dev segment
            on $internet sysctl -qw net.ipv4.ip_forward=1
            ip -n $sender route add default via 203.0.113.254
            ip -n $viewer_router route add default via 203.0.113.254
            for link in cable dongle; do
                ip -n $sender link add $link type veth peer name $link netns $internet
                ip -n $internet link set $link master segment up
            done
            for one in $mobile $vpn; do
                ip netns add $one
                ip -n $one link set lo up
                ip -n $one link add wan type veth peer name ${one##*-} netns $internet
                ip -n $internet link set ${one##*-} master segment up
                ip -n $one link set wan up
                on $one sysctl -qw net.ipv4.ip_forward=1
            done
            ip -n $mobile address add 203.0.113.3/24 dev wan
            ip -n $vpn address add 203.0.113.4/24 dev wan
            for one in $mobile $vpn; do ip -n $one route add default via 203.0.113.254; done
            ip -n $viewer link add mobile type veth peer name lan netns $mobile
            ip -n $mobile address add 10.0.3.1/24 dev lan
            ip -n $mobile link set lan up
            on $mobile nft -f - <<'RULES'
            \(Attachment.portRestricted.rules(host: "10.0.3.2"))
            RULES
            on $vpn nft -f - <<'RULES'
            table ip vpn {
                chain outward { type nat hook postrouting priority srcnat; oifname "wan" masquerade; }
                chain forward {
                    type filter hook forward priority filter; policy drop;
                    iifname "tunnel" ip saddr 10.8.0.0/24 accept
                    ct state established,related accept
                }
            }
            RULES
            """

        init(router: Attachment, in browser: Viewer = .chromium) async throws {
            let folder = try TemporaryFolder()
            self.folder = folder
            network = try await TestNetwork(viewer: router, in: folder)
            let environment = [
                "XDG_RUNTIME_DIR": folder.file("run").path, "XDG_STATE_HOME": folder.file("state").path,
                "DISPLAY": "", "WAYLAND_DISPLAY": "", "http_proxy": "",
            ]
            let rtcshare = try #require(Peers.rtcshare)
            let share = try network.start(
                rtcshare,
                [
                    "serve", "--no-control", "--no-token", "--listen", "8080", "--source",
                    "test:320x180@\(Int(Self.rate))", "--audio", "none",
                ], on: .sender, environment: environment)
            self.share = share
            try await share.wait(for: "the link", timeout: .seconds(30)) { share.standardOutput.hasSuffix("\n") }
            let link = "http://\(TestNetwork.senderRouterV4):8080/"
            viewing = try network.start(
                rtcshare,
                [
                    "view", link, "--no-window", "--stats", folder.file("viewer.jsonl").path, "--snapshot",
                    folder.file("seen.png").path,
                ], on: .viewer, environment: environment)
            page = try await BrowserPage(browser, on: network, in: folder)
            try await page.go(to: link)
            try await page.wait(state: "live")
            // The element of the picture stays, whatever comes and goes behind it.
            _ = try await page.evaluate(
                """
                (() => {
                  const video = document.querySelector("#stage video");
                  window.shownAt = [];
                  const note = () => { shownAt.push(Date.now() / 1000); video.requestVideoFrameCallback(note); };
                  video.requestVideoFrameCallback(note);
                  return true;
                })()
                """)
            path = try await pathOfPage()
            // Idle connections are closed by then. Firefox would try each one, although its network is gone.
            try await Task.sleep(for: .seconds(7))
        }

        func stop() {
            viewing.stop()
            share.stop()
        }

        /// `rtcshare view`, and the process group of Chromium.
        func viewersProcesses() throws -> [pid_t] { [viewing.processIdentifier, -(try page.browserProcess())] }

        /// Waits until both viewers see moving pictures again.
        func expectPictures(since: Date, within limit: Duration, after change: String) async throws {
            let inPage = try await firstPicture(in: "page", after: change) { try await shownByPage(since: since) }
            let inView = try await firstPicture(in: "view", after: change) { try shownByView(since: since) }
            let new = try await pathOfPage()
            let means = new == path ? "path kept" : new.sessions == path.sessions ? "ICE restart" : "new session"
            path = new
            print("\(change): page \(Self.text(inPage)) (\(means)), view \(Self.text(inView))")
            #expect(.seconds(inPage) < limit, "\(change): the page")
            #expect(.seconds(inView) < limit, "\(change): rtcshare view")
        }

        private static func text(_ seconds: Double) -> String { String(format: "%.1f s", seconds) }

        private func firstPicture(
            in viewer: String, after change: String, _ shown: () async throws -> Double?
        ) async throws -> Double {
            let deadline = ContinuousClock.now + .seconds(40)
            while true {
                if let time = try await shown() { return time }
                try #require(
                    ContinuousClock.now < deadline,
                    "\(change): no picture in \(viewer)\n\(share.standardError)\n\(viewing.standardError)")
                try await Task.sleep(for: .milliseconds(100))
            }
        }

        /// The seconds until the page showed the first of the pictures that go on for two seconds; nil before that.
        private func shownByPage(since: Date) async throws -> Double? {
            let start = since.timeIntervalSince1970
            let times = try #require(try await page.evaluate("shownAt.filter((at) => at >= \(start))") as? [Double])
            func count(from first: Double) -> Int { times.count { $0 >= first && $0 < first + 1 } }
            return times.first { count(from: $0) >= 3 && count(from: $0 + 1) >= 3 }.map { $0 - start }
        }

        /// The same of `rtcshare view`, as its statistics tell it each second.
        private func shownByView(since: Date) throws -> Double? {
            let text = String(decoding: (try? Data(contentsOf: folder.file("viewer.jsonl"))) ?? Data(), as: UTF8.self)
            let rows = text.split(separator: "\n").compactMap { line -> (time: Double, pictures: Int)? in
                let report = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [[String: Any]]
                guard let time = report?.first?["timestamp"] as? Double else { return nil }
                let pictures = report?.compactMap { $0["framesDecoded"] as? Int }.reduce(0, +)
                return (time / 1000 - since.timeIntervalSince1970, pictures ?? 0)
            }
            // A new session counts from zero.
            let seconds = zip(rows, rows.dropFirst()).map { before, after in
                (time: after.time, pictures: max(0, after.pictures - before.pictures))
            }
            let first = zip(seconds, seconds.dropFirst()).first { $0.time > 0 && $0.pictures > 0 && $1.pictures > 0 }?.0
            return first.map { max(0, $0.time - Double($0.pictures) / Self.rate) }
        }

        private struct Path: Equatable {
            let sessions: Int
            let fragment: String
        }

        /// How often the page has connected, and with which ICE credentials it is connected now.
        private func pathOfPage() async throws -> Path {
            let facts =
                try await page.evaluate(
                    """
                    (() => {
                      const { length, [length - 1]: last } = watched.connections;
                      return [length, last.localDescription?.sdp.match(/ice-ufrag:(.*)/)[1] ?? ""];
                    })()
                    """) as? [Any]
            return Path(sessions: facts?.first as? Int ?? 0, fragment: facts?.last as? String ?? "")
        }

        /// Ends `rtcshare view`, and looks at what both viewers showed last.
        func expectSight() async throws {
            try await page.photograph(to: folder.file("page.png"))
            viewing.interrupt()
            let outcome = try await viewing.outcome(timeout: .seconds(20))
            #expect(outcome.status == 0, "\(outcome.standardError)")
            for picture in ["page.png", "seen.png"] {
                #expect(try Data(contentsOf: folder.file(picture)).count > 1000, "\(picture)")
            }
        }
    }
}
