import Foundation
import Testing
import TestSupport

extension Interop.NetworkTests {
    /// A simulcast in a room, whose viewers have networks of different rates.
    @Suite(.serialized, .enabled(if: Peers.mustRun || JanusServer.missing == nil, "needs janus"))
    struct RoomLayersTests {
        private static let ports: (http: UInt16, webSocket: UInt16) = (8088, 8188)
        private static let environment = ["DISPLAY": "", "WAYLAND_DISPLAY": "", "http_proxy": ""]

        /// Returns the newest values of the received video.
        private static func video(_ file: URL) -> (width: Int, frames: Int) {
            let text = (try? Data(contentsOf: file)).map { String(decoding: $0, as: UTF8.self) } ?? ""
            for line in text.split(separator: "\n").reversed() {
                let report = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [[String: Any]]
                let video = report?.first {
                    $0["type"] as? String == "inbound-rtp" && $0["kind"] as? String == "video"
                }
                if let video { return (video["frameWidth"] as? Int ?? 0, video["framesDecoded"] as? Int ?? 0) }
            }
            return (0, 0)
        }

        @Test("A viewer with a slow network gets a lower layer, and the best one when the network is fast again")
        func slowViewer() async throws {
            let folder = try TemporaryFolder()
            let network = try await TestNetwork(viewer: .portRestricted, in: folder)
            let configuration = try TemporaryFolder()
            try JanusServer.write(
                [JanusServer.Room(id: 5, settings: ["bitrate = 0"])], ports: Self.ports, address: TestNetwork.serverV4,
                to: configuration)
            let janus = try network.start(
                JanusServer.executable, ["--configs-folder", configuration.url.path, "--disable-colors"], on: .server)
            try await janus.wait(for: "Janus", timeout: .seconds(30)) { JanusServer.isReady(janus) }
            let room = ["--janus", "http://\(TestNetwork.serverV4):\(Self.ports.http)/janus", "--janus-room", "5"]
            let rtcshare = try #require(Peers.rtcshare)
            // The layers of motion differ in their sizes.
            let sending = try network.start(
                rtcshare,
                [
                    "send", "--attendee", "alice", "--source", "test:1280x720@30", "--hint", "motion", "--no-control",
                    "--layers", "3", "--max-bitrate", "2500", "--audio", "none",
                ] + room, on: .sender, environment: Self.environment)
            try await sending.wait(for: "the publication", timeout: .seconds(30)) {
                sending.standardError.contains("is published to")
            }
            func view(_ name: String, on host: TestNetwork.Host) throws -> (program: RunningProgram, file: URL) {
                let file = folder.file("\(name).jsonl")
                let program = try network.start(
                    rtcshare,
                    ["view", "--no-window", "--janus-publisher", "alice#content", "--stats", file.path] + room,
                    on: host, environment: Self.environment)
                return (program, file)
            }
            let (fast, fastFile) = try view("fast", on: .server)
            let (slow, slowFile) = try view("slow", on: .viewer)
            for (program, file) in [(fast, fastFile), (slow, slowFile)] {
                try await program.wait(for: "the best layer", timeout: .seconds(30)) {
                    Self.video(file).width == 1280
                }
            }
            // Some 300 kbit/s.
            try await network.run(
                """
                on $viewer_router nft add table ip slow
                on $viewer_router nft add chain ip slow forward '{ type filter hook forward priority filter; }'
                on $viewer_router nft add rule ip slow forward iifname wan limit rate over 40 kbytes/second burst 10 kbytes drop
                """)
            try await slow.wait(for: "the lowest layer", timeout: .seconds(60)) {
                Self.video(slowFile).width == 320
            }
            // It is watched there, and nobody else is affected.
            let before = (slow: Self.video(slowFile).frames, fast: Self.video(fastFile).frames)
            try await slow.wait(for: "its frames", timeout: .seconds(30)) {
                Self.video(slowFile).frames > before.slow + 20
            }
            try await fast.wait(for: "the others' frames", timeout: .seconds(30)) {
                let video = Self.video(fastFile)
                return video.width == 1280 && video.frames > before.fast + 20
            }
            try await network.run("on $viewer_router nft delete table ip slow")
            try await slow.wait(for: "the best layer again", timeout: .seconds(90)) {
                Self.video(slowFile).width == 1280
            }
            for program in [slow, fast, sending] { program.interrupt() }
            for program in [slow, fast, sending] {
                #expect(try await program.outcome(timeout: .seconds(20)).status == 0, "\(program.standardError)")
            }
        }
    }
}
