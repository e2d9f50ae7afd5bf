import Foundation
import Testing
import TestSupport

extension Interop {
    /// A share over a path that loses packets and is long, to receivers that other people wrote.
    @Suite(.serialized)
    struct ForwardErrorCorrectionTests {
        /// The statistics of the video in a browser, at one time.
        private struct Inbound: Decodable {
            var type: String
            var kind: String?
            var packetsLost: Int?
            var framesDecoded: Int?
        }

        private struct Report: Decodable {
            struct Dump: Decodable {
                var stats: [Inbound]
            }
            /// Of a browser.
            var stats: [Dump]?
            /// The number of packets that GStreamer put together from corrections.
            var packetsCorrected: Int?

            /// The picture's statistics, one a second.
            var pictures: [Inbound] {
                (stats ?? []).compactMap { dump in dump.stats.first { $0.type == "inbound-rtp" && $0.kind == "video" } }
            }
        }

        private struct Outbound: Decodable {
            var type: String
            var fecPacketsSent: Int?
        }

        /// Shares over a path of 100 ms each way, which loses what `losing` says. Where a viewer does not ask for packets
        /// again, what it can't correct has it wait seconds for a key frame.
        private func watch(
            by viewer: Viewer = .chromium, losing: [String] = [], seconds: Int, asksAgain: Bool = true,
            isCorrected: Bool = true
        ) async throws -> (received: Report, sent: [Outbound]) {
            let folder = try TemporaryFolder()
            let share = try Share(in: folder)
            let offer = try await share.offer(["--source", "test:640x360@30"])
            // The viewer knows the sender by the relay's packets alone.
            let bare = offer.split(separator: "\r\n").filter {
                !$0.hasPrefix("a=candidate:") && (asksAgain || !$0.hasPrefix("a=rtcp-fb:") || !$0.hasSuffix(" nack"))
            }
            _ = try folder.write(bare.joined(separator: "\r\n") + "\r\n", to: "offer.sdp")
            let watching = try viewer.start(
                duration: seconds, snapshotAt: "3",
                [viewer == .gstreamer ? "--corrections" : "--bare-addresses"], in: folder)
            defer { watching.stop() }
            try await watching.wait(for: "the answer", timeout: .seconds(120)) {
                FileManager.default.fileExists(atPath: share.answer.path)
            }
            if !isCorrected {
                let answer = try String(contentsOf: share.answer, encoding: .utf8).split(separator: "\r\n")
                let without = answer.filter { !$0.contains(" red/90000") && !$0.contains(" ulpfec/90000") }
                try #require(without.count == answer.count - 2)
                try Data((without.joined(separator: "\r\n") + "\r\n").utf8).write(to: share.answer)
            }
            let relay = try await LossyPathTests.startRelay(
                share, ["--delay", "100", "--seed", "5", "--duration", "\(seconds + 100)"] + losing, in: folder)
            defer { relay.stop() }
            let statistics = folder.file("stats.jsonl")
            let sending = try share.send([
                "--max-bitrate", "1000", "--duration", "\(seconds + 20)", "--stats", statistics.path,
            ])
            defer { sending.stop() }
            let outcome = try await watching.outcome(timeout: .seconds(seconds + 120))
            try #require(outcome.status == 0, "\(outcome.standardError)\nrtcshare send: \(sending.standardError)")
            sending.interrupt()
            _ = try await sending.outcome(timeout: .seconds(20))
            let report = folder.file("\(viewer.rawValue)/report.json")
            let sent = try String(contentsOf: statistics, encoding: .utf8).split(separator: "\n").compactMap { line in
                try JSONDecoder().decode([Outbound].self, from: Data(line.utf8)).first { $0.type == "outbound-rtp" }
            }
            return (try JSONDecoder.forViewerReports.decode(Report.self, from: Data(contentsOf: report)), sent)
        }

        @Test(
            "Where packets are lost on a long way they are corrected, and Chromium shows the share",
            .enabled(if: Peers.hasCommandLine && Peers.has(.chromium), "chromium is not installed"))
        func lossy() async throws {
            let (received, sent) = try await watch(losing: ["--loss", "0.03"], seconds: 10)
            let last = try #require(received.pictures.last)
            let corrections = try #require(sent.last?.fecPacketsSent)
            print(
                "\(corrections) corrections, \(last.packetsLost ?? 0) packets lost, \(last.framesDecoded ?? 0) frames")
            #expect(corrections > 33)
            #expect(try #require(last.framesDecoded) > 133)
        }

        @Test(
            "Browsers put together from corrections what they do not ask for again, and else show next to nothing",
            .enabled(if: Peers.hasCommandLine), arguments: [Viewer.chromium, .firefox].filter(Peers.has))
        func corrected(in browser: Viewer) async throws {
            // One at a time, so that chance has no part in it.
            let losing = ["--loss-interval", "40"]
            let (with, _) = try await watch(by: browser, losing: losing, seconds: 8, asksAgain: false)
            let (without, sent) = try await watch(
                by: browser, losing: losing, seconds: 8, asksAgain: false, isCorrected: false)
            let frames = try #require(with.pictures.last?.framesDecoded)
            let others = try #require(without.pictures.last?.framesDecoded)
            print("\(frames) frames; without corrections \(others)")
            #expect(sent.last?.fecPacketsSent == 0)
            #expect(frames > 80)
            #expect(frames > others * 2)
        }

        @Test(
            "GStreamer, which reports no loss while it asks for packets, puts some together from corrections",
            .enabled(
                if: Peers.hasCommandLine && Peers.has(.gstreamer), "/usr/bin/python3 has no GStreamer with webrtcbin"))
        func correctedInGStreamer() async throws {
            let (received, sent) = try await watch(by: .gstreamer, losing: ["--loss-interval", "40"], seconds: 12)
            let corrections = try #require(sent.last?.fecPacketsSent)
            let corrected = try #require(received.packetsCorrected)
            print("\(corrections) corrections, \(corrected) packets put together")
            #expect(corrections > 20)
            #expect(corrected > 0)
        }

        @Test(
            "Where nothing is lost nothing is sent for it",
            .enabled(if: Peers.hasCommandLine && Peers.has(.chromium), "chromium is not installed"))
        func clean() async throws {
            let (received, sent) = try await watch(seconds: 6)
            #expect(try #require(received.pictures.last?.framesDecoded) > 60)
            #expect(sent.last?.fecPacketsSent == 0)
        }
    }
}
