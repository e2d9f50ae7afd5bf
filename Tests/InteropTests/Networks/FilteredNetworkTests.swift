import Foundation
import Testing
import TestSupport

extension Interop.NetworkTests {
    /// Viewers of a link behind two translating routers in a row, the first of which filters.
    @Suite(.serialized)
    struct FilteredNetworkTests {
        /// What the viewer's router drops, in nft's language.
        enum Filter: String, CaseIterable {
            case nothing = ""
            case udp = "meta l4proto udp drop"
            case udpExceptDNS = "udp dport != 53 udp sport != 53 drop"
            case exceptWeb = "meta l4proto udp drop; iifname lan tcp dport != { 80, 443, 8080 } drop"

            /// The route that is left for viewers with ICE over TCP.
            var path: String { self == .nothing ? "direct" : "tcp" }
        }

        /// A share on the public segment, perhaps with a TURN server, and the network of its viewers.
        private struct Home {
            let folder: TemporaryFolder
            let network: TestNetwork
            let share: TCPPathTests.ServedPage
            private let environment: [String: String]

            init(_ options: [String] = [], server: String? = nil) async throws {
                folder = try TemporaryFolder()
                network = try await TestNetwork(viewer: .portRestricted, in: folder)
                try await network.addOuterRouter(of: .viewer)
                if server != nil {
                    let certificate = try await TestCertificate(for: "IP:\(TestNetwork.serverV4)", in: folder)
                    try await network.startServer(certificate: certificate)
                    environment = ["SSL_CERT_FILE": certificate.certificate.path]
                } else {
                    environment = [:]
                }
                share = try await TCPPathTests.ServedPage(
                    options + (server.map { ["--ice-server", $0] } ?? []), environment: environment, over: network,
                    in: folder)
            }

            func apply(_ filter: Filter) async throws {
                try await network.run(
                    """
                    on $viewer_router nft -f - <<'RULES'
                    add table inet filter
                    add chain inet filter forward { type filter hook forward priority filter - 2; }
                    flush chain inet filter forward
                    table inet filter { chain forward { \(filter.rawValue); }; }
                    RULES
                    """)
            }

            func show(in viewer: Viewer, path: String) async throws -> RunningProgram.Outcome? {
                try await share.show(in: viewer, path: path, environment: environment, over: network)
            }
        }

        private static func report(_ viewer: String, _ filter: Filter, _ seconds: Double) {
            print("\(viewer), drop \(filter): first picture after \(String(format: "%.2f", seconds)) s")
        }

        @Test(
            "A browser behind two routers watches over UDP, and over TCP where that is dropped",
            .enabled(if: Peers.canDriveBrowsers, "no Python to drive browsers"),
            arguments: [Viewer.chromium, .firefox].filter(Peers.has))
        func browser(_ browser: Viewer) async throws {
            let home = try await Home()
            let page = try await BrowserPage(browser, on: home.network, in: home.folder)
            for filter in Filter.allCases {
                try await home.apply(filter)
                try await page.go(to: home.share.link)
                try await page.wait(state: "live")
                try await home.share.wait(forPath: filter.path)
                let first = try await page.evaluate("watched.firstPicture") as? Double
                Self.report(browser.rawValue, filter, try #require(first) / 1000)
            }
        }

        @Test("rtcshare view behind two routers watches over UDP, and over TCP where that is dropped")
        func view() async throws {
            let home = try await Home()
            for filter in Filter.allCases {
                try await home.apply(filter)
                let begin = Date()
                let viewer = try home.network.start(
                    try #require(Peers.rtcshare), ["view", home.share.link, "--no-window"], on: .viewer)
                try await viewer.wait(for: "the video", timeout: .seconds(40)) {
                    viewer.standardError.contains("Video 1 is added")
                }
                Self.report("view", filter, Date().timeIntervalSince(begin))
                try await home.share.wait(forPath: filter.path)
                viewer.interrupt()
                #expect(try await viewer.outcome(timeout: .seconds(20)).status == 0, "\(viewer.standardError)")
            }
        }

        /// libnice, which controls here, nominates a single TCP pair only after the checks of the UDP pair have failed, for
        /// which it needs two seconds (`priv_conn_check_tick_stream_nominate`).
        @Test(
            "GStreamer behind two routers watches over UDP, and over TCP where that is dropped",
            .enabled(if: Peers.has(.gstreamer), "/usr/bin/python3 has no GStreamer with webrtcbin"))
        func gstreamer() async throws {
            let home = try await Home()
            for filter in Filter.allCases {
                try await home.apply(filter)
                _ = try await home.show(in: .gstreamer, path: filter.path)
                let report = try Viewer.gstreamer.report(in: home.folder)
                let (begin, first) = (report.negotiations?.first?.offerMs, report.firstFrameMs)
                Self.report("GStreamer", filter, (try #require(first) - #require(begin)) / 1000)
            }
        }

        @Test(
            "Other programs watch through the share's TURN server where UDP is dropped, and ICE over TCP is off",
            .enabled(if: Peers.has(.aiortc) && Peers.has(.gstreamer), "no Python with aiortc, or none with GStreamer"),
            arguments: [
                (Viewer.aiortc, "turn", "?transport=tcp", Filter.allCases), (.aiortc, "turns", "", [.exceptWeb]),
                (.gstreamer, "turn", "?transport=tcp", [.udp]),
            ])
        func relayed(viewer: Viewer, scheme: String, query: String, filters: [Filter]) async throws {
            let credentials = "\(TestNetwork.username):\(TestNetwork.password)"
            let server = "\(scheme):\(credentials)@\(TestNetwork.serverV4):443\(query)"
            let home = try await Home(["--no-ice-tcp"], server: server)
            for filter in filters {
                try await home.apply(filter)
                let outcome = try await home.show(in: viewer, path: filter == .nothing ? "direct" : "relayed")
                guard viewer == .aiortc, let text = outcome?.standardOutput else { continue }
                let report = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
                Self.report("aiortc by \(scheme)", filter, try #require(report?["first_picture_s"] as? Double))
            }
        }

        @Test(
            "Where no route is left, view, the page and the share name a TURN server as the cure",
            .enabled(if: Peers.has(.chromium) && Peers.canDriveBrowsers, "no chromium, or no Python to drive it"))
        func noRoute() async throws {
            let home = try await Home(["--no-ice-tcp"])
            try await home.apply(.udp)
            let viewer = try home.network.start(
                try #require(Peers.rtcshare), ["view", home.share.link, "--no-window"], on: .viewer)
            let page = try await BrowserPage(.chromium, on: home.network, in: home.folder)
            try await page.go(to: home.share.link)
            try await page.wait(state: "nopath")
            let words = try await page.evaluate("document.body.innerText") as? String
            #expect(words?.contains("--ice-server 'turn:HOST?transport=tcp'") == true, "\(words ?? "no words")")
            let outcome = try await viewer.outcome(timeout: .seconds(40))
            #expect(outcome.status == 69, "\(outcome.standardError)")
            for cure in ["--ice-tcp", "?transport=tcp'"] {
                #expect(outcome.standardError.contains(cure), "\(outcome.standardError)")
            }
            // Once for each of the two.
            let share = home.share.program
            let advice = "no route to it was found.\nTry: --ice-server 'turn:USER:PASSWORD@HOST?transport=tcp'\n"
            try await share.wait(for: "the advice", timeout: .seconds(10)) {
                share.standardError.components(separatedBy: advice).count > 2
            }
        }
    }
}
