import Foundation
import RTCShareTransport
import TestSupport
import Testing

extension Interop {
    /// Shares to other programs, and `rtcshare view` of theirs, over a path that loses each fifteenth packet
    /// once they are connected.
    @Suite(.serialized)
    struct LossyPathTests {
        static let losses = ["--loss-interval", "15", "--loss-start", "40", "--duration", "180"]

        /// An offer whose candidates have a port where nothing is: the other side knows its sender by the relay's packets.
        static func withoutRoutes(_ offer: String) -> String {
            offer.replacing(/(a=candidate:(?:[^ ]+ ){5})[0-9]+/) { "\($0.output.1)9" }
        }

        /// Puts the relay between both sides, at an address that every program sends to.
        static func startRelay(
            _ share: Share, _ options: [String] = losses, in folder: TemporaryFolder
        ) async throws -> RunningProgram {
            let addresses = NetworkInterfaces.routedAddresses().map { "\($0)" }
            let address = try #require(addresses.first { !$0.contains(":") }, "this machine has no network")
            return try await share.startRelay(options, at: address, in: folder)
        }

        @Test(
            "A viewer that loses packets gets them again, and shows the share",
            arguments: [Viewer.firefox, .gstreamer, .aiortc].filter(Peers.has))
        func sent(to viewer: Viewer) async throws {
            let folder = try TemporaryFolder()
            let share = try Share(environment: CommandLineTests.environment(folder), in: folder)
            let offer = try await share.offer(["--source", "test:160x120@30"])
            _ = try folder.write(Self.withoutRoutes(offer), to: "offer.sdp")
            let watching = try viewer.start(
                duration: 4, snapshotAt: "", viewer == .firefox ? ["--bare-addresses"] : [], in: folder)
            defer { watching.stop() }
            try await watching.wait(for: "the answer", timeout: .seconds(120)) {
                FileManager.default.fileExists(atPath: share.answer.path)
            }
            let relay = try await Self.startRelay(share, in: folder)
            defer { relay.stop() }
            let statistics = folder.file("sent.jsonl")
            let sending = try share.send(["--duration", "120", "--stats", statistics.path])
            defer { sending.stop() }
            let seen = try await watching.outcome(timeout: .seconds(120))
            try #require(seen.status == 0, "\(seen.standardError)\nrtcshare send: \(sending.standardError)")
            sending.interrupt()
            _ = try await sending.outcome(timeout: .seconds(20))
            let sent = StatisticsEntry.newest(in: statistics)
            let repeated = sent.compactMap(\.retransmittedPacketsSent).max() ?? 0
            let frames = try #require(try viewer.report(in: folder).frames)
            print("\(viewer.rawValue): \(frames) frames, \(repeated) packets sent again")
            // Some 120 on an idle machine.
            #expect(repeated > 0 && frames > 10)
            // Padding is sent again without a request.
            #expect(sent.compactMap(\.nackCount).max() ?? 0 > 0)
        }

        @Test(
            "rtcshare view gets what other programs send, in each codec that they have, and lost packets again",
            arguments: [
                (Viewer.chromium, "VP8"), (.chromium, "AV1"), (.chromium, "H264"), (.firefox, "VP8"), (.firefox, "AV1"),
                (.gstreamer, "VP8"), (.gstreamer, "H264"), (.aiortc, "VP8"), (.aiortc, "H264"),
            ].filter { Peers.has($0.0) })
        func viewed(sender: Viewer, codec: String) async throws {
            let folder = try TemporaryFolder()
            let share = try Share(environment: CommandLineTests.environment(folder), in: folder)
            let sending = try Self.start(sender, codec, in: folder)
            defer { sending.stop() }
            // The scripts close the standard output behind the whole offer.
            let output = "/proc/\(sending.processIdentifier)/fd/1"
            try await sending.wait(for: "the offer", timeout: .seconds(120)) {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: output)) == "/dev/null"
            }
            let offer = try String(contentsOf: folder.file("offer"), encoding: .utf8)
            _ = try folder.write(Self.withoutRoutes(offer), to: "offer.sdp")
            let statistics = folder.file("seen.jsonl")
            let viewer = try await share.view(["--stats", statistics.path, "--record", "seen.mkv"])
            defer { viewer.stop() }
            let relay = try await Self.startRelay(share, in: folder)
            defer { relay.stop() }
            try FileManager.default.moveItem(at: share.answer, to: folder.file("answer"))
            try await viewer.wait(for: "\(codec) of \(sender.rawValue)", timeout: .seconds(60)) {
                let report = StatisticsEntry.newest(in: statistics)
                return report.contains { $0.mimeType == "video/\(codec)" }
                    && report.contains { $0.framesDecoded ?? 0 > 15 && $0.retransmittedPacketsReceived ?? 0 > 0 }
            }
            viewer.interrupt()
            let seen = try await viewer.outcome(timeout: .seconds(20))
            #expect(seen.status == 0, "\(seen.standardError)")
            let samples = try await RecordedFilm.sound("seen.mkv", in: folder)
            #expect(samples.contains { abs($0) > 0.01 }, "the audio is silent")
        }

        /// Starts a program that sends a test pattern with audio. Its offer goes to `offer`, and it reads `answer`.
        private static func start(
            _ sender: Viewer, _ codec: String, in folder: TemporaryFolder
        ) throws -> RunningProgram {
            let command: (program: URL?, arguments: [String]) =
                switch sender {
                case .aiortc: (Peers.python, [Peers.script("aiortc_sender.py")])
                case .chromium, .firefox:
                    (
                        RunningProgram.find("python3"),
                        [
                            Peers.script("chromium_sender.py"), "--browser", sender.rawValue, "--width", "320",
                            "--height", "240",
                        ]
                    )
                case .gstreamer: (URL(fileURLWithPath: "/usr/bin/python3"), [Peers.script("gstreamer_sender.py")])
                }
            let input = "until [ -e answer ] || ! kill -0 $$; do sleep 0.05; done; cat answer"
            return try RunningProgram(
                URL(fileURLWithPath: "/bin/bash"),
                ["-c", "exec \"$@\" < <(\(input)) >offer", "bash", try #require(command.program).path]
                    + command.arguments + ["--pattern", "--codec", codec], in: folder)
        }
    }
}
