import Foundation
import RTCShareMedia
import RTCShareWireFormat
import Testing

@testable import RTCShareContentShare
@testable import RTCSharePeerConnection
@testable import rtcshare

@Suite("The text of a terminal")
struct TerminalTests {
    @Test(
        "A status fits into its row, in whole parts",
        arguments: [
            ("Sending 1920x1080, 30 fps", 79, "Sending 1920x1080, 30 fps"),
            ("Sending 1920x1080, 30 fps", 25, "Sending 1920x1080, 30 fps"),
            ("Sending 1920x1080, 30 fps", 24, "Sending 1920x1080"),
            ("Sending 1920x1080, 30 fps", 10, "Sending 19"), ("Sending", 0, ""), ("Sending", -1, ""),
            // Wide characters have two columns.
            ("画面を共有", 9, "画面を共"), ("画面を共有", 10, "画面を共有"), ("a画", 2, "a"),
        ])
    func statusRow(line: String, columns: Int, row: String) {
        #expect(line.statusRow(columns: columns) == row)
    }

    @Test(
        "A long line is broken between words, after its label, and a link stays whole",
        arguments: [
            ("short", 40, ["short"]),
            (
                "Another share has the name share, so this one is share-2.", 40,
                ["Another share has the name share, so", "this one is share-2."]
            ),
            (
                "limits:       2500 kbit/s, 30 frames per second", 31,
                ["limits:       2500 kbit/s, 30", "              frames per second"]
            ),
            (
                "Watch:  http://192.0.2.1:8080/#0123456789abcdef  (this network)", 40,
                ["Watch:", "        http://192.0.2.1:8080/#0123456789abcdef", "        (this network)"]
            ),
            ("  a row with an indent", 12, ["  a row with", "    an", "    indent"]),
            ("画面 を共有", 6, ["画面", "を共有"]), ("", 40, [""]),
        ])
    func wrapping(line: String, columns: Int, rows: [String]) {
        #expect(line.wrapped(columns: columns) == rows)
    }

    @Test("A message stays one line without a terminal")
    func piped() throws {
        let pipe = Pipe()
        let message = Array(repeating: "word", count: 100).joined(separator: " ")
        #expect(Terminal.text(of: [message], on: pipe.fileHandleForWriting.fileDescriptor) == message + "\n")
    }

    @Test("The status line of a share in layers has each of them, with its rates or the reason of its pause")
    func layers() throws {
        func sent(at second: Int64, reason: SendingSummary.PauseReason?) -> [Int: SendingSummary] {
            var best = OutboundStatistics.Video()
            (best.frameWidth, best.frameHeight) = (1280, 720)
            let layers = [
                SendingSummary.Layer(rid: "f", bytesSent: UInt64(second) * 250_000, video: best),
                SendingSummary.Layer(rid: "h", pauseReason: reason),
            ]
            let time = Instant(nanoseconds: second * 1_000_000_000)
            return [1: SendingSummary(time: time, video: best, codec: "VP8", layers: layers)]
        }
        var sending = ShareStatus()
        _ = sending.line(for: sent(at: 1, reason: nil))
        #expect(
            sending.line(for: sent(at: 2, reason: .bitrate)).hasPrefix(
                "Sending layer 1: 1280x720 0 fps 2000 kbit/s, layer 2: paused (not enough bitrate), VP8, 0 kbit/s"))
        let rates = sending.rates(for: sent(at: 4, reason: .encoder))
        let layers = try #require(rates.viewers[1]?.layers)
        #expect(
            layers == [
                .init(rid: "f", width: 1280, height: 720, bitrate: 2000), .init(rid: "h", pauseReason: .encoder),
            ])
        let json = String(decoding: try ControlJSON.encode(layers), as: UTF8.self)
        #expect(json.contains(#"{"bitrate":0,"framesPerSecond":0,"pauseReason":"encoder","rid":"h"}"#))
    }

    /// Returns a summary of two layers with these counts of frames, of which the best one is paused for a reason.
    private static func summary(
        second: Int64, frames: [UInt64], pausing reason: SendingSummary.PauseReason?
    ) -> SendingSummary {
        let videos = frames.map { count in
            var video = OutboundStatistics.Video()
            (video.framesSent, video.frameWidth, video.frameHeight) = (count, 1280, 720)
            return video
        }
        let layers = [
            SendingSummary.Layer(rid: "f", video: videos[0], pauseReason: reason),
            SendingSummary.Layer(rid: "h", video: videos[1]),
        ]
        return SendingSummary(
            time: Instant(nanoseconds: second * 1_000_000_000), video: videos[reason == nil ? 0 : 1], layers: layers)
    }

    @Test("The frame rate of a share is that of one layer, even if another one was the best before")
    func otherBestLayer() {
        var sending = ShareStatus()
        _ = sending.rates(for: [1: Self.summary(second: 1, frames: [1000, 10], pausing: nil)])
        let fallen = sending.rates(for: [1: Self.summary(second: 2, frames: [1000, 20], pausing: .bitrate)])
        #expect(fallen.framesPerSecond == 10)
        let risen = sending.rates(for: [1: Self.summary(second: 3, frames: [1030, 30], pausing: nil)])
        #expect(risen.framesPerSecond == 30)
    }

    @Test("The status line has the layers of a server, even if a direct viewer has more frames per second")
    func layersBesideViewer() {
        var sending = ShareStatus()
        for second in Int64(1)...3 {
            let frames = UInt64(second) * 20
            var direct = Self.summary(second: second, frames: [second == 2 ? 90 : frames, 0], pausing: nil)
            direct.layers = []
            let line = sending.line(
                for: [1: direct, 2: Self.summary(second: second, frames: [frames, frames], pausing: nil)], places: 1)
            #expect(second == 1 || line.contains("layer 1: 1280x720 20 fps"), "\(line)")
        }
    }

    @Test("A server that accepts only one layer has a single stream")
    func refusedLayers() {
        var sending = ShareStatus()
        for second in Int64(1)...2 {
            var summary = Self.summary(second: second, frames: [UInt64(second) * 20, 0], pausing: nil)
            summary.layers[1].pauseReason = .refused
            let rates = sending.rates(for: [1: summary])
            #expect(rates.layers == nil && rates.framesPerSecond == (second == 1 ? 0 : 20))
        }
    }

    @Test("The status lines of both sides wait for the first frame")
    func firstPicture() {
        func sent(at second: Int64, width: Int) -> [Int: SendingSummary] {
            var video = OutboundStatistics.Video()
            (video.frameWidth, video.frameHeight) = (width, width)
            let time = Instant(nanoseconds: second * 1_000_000_000)
            return [1: SendingSummary(time: time, video: video, codec: width > 0 ? "AV1" : nil)]
        }
        var sending = ShareStatus()
        _ = sending.line(for: sent(at: 1, width: 0))
        #expect(sending.line(for: sent(at: 2, width: 0)) == "Waiting for the first frame")
        #expect(sending.line(for: sent(at: 3, width: 64)).hasPrefix("Sending 64x64, 0 fps, AV1, 0 kbit/s"))
        var viewing = ViewStatus()
        func line(at time: Double, width: Int?, _ pause: VideoTileState.PauseState = .unpaused) -> String? {
            var report = StatisticsReport(timestamp: time)
            var decoder = VideoDecoderStatistics()
            (decoder.frameWidth, decoder.frameHeight) = (width, width)
            report.inboundRTP[1] = InboundRTPStreamStats(
                id: "i", kind: .video, mid: "0", ssrc: 1, codecId: nil, remoteId: nil, trackIdentifier: nil,
                lastPacketReceivedTimestamp: nil, video: nil, audio: nil, decoder: decoder)
            return viewing.line(for: report, large: 1, processorTime: .zero, pauseState: pause)
        }
        #expect(line(at: 1000, width: nil) == nil)
        #expect(line(at: 2000, width: nil) == "Waiting for the first frame")
        #expect(line(at: 3000, width: 64)?.hasPrefix("Viewing 64x64, 0 fps") == true)
        #expect(line(at: 4000, width: 64, .pausedBySender) == "Viewing 64x64, paused by the presenter")
        #expect(line(at: 5000, width: 64, .pausedForPoorConnection) == "Viewing 64x64, no data arrives")
    }
}
