import Foundation
import RTCShareCryptography
import RTCShareMedia
import TestSupport
import Testing

@testable import RTCShareVideoCoding
import RTCShareWireFormat

extension Interop {
    /// What browsers' decoders make of frames of our own, to a sample.
    @Suite(.serialized)
    struct BrowserDecoderTests {
        /// A picture, as a digest of each plane: the rows' samples one after the other.
        private struct Picture: Decodable, Equatable {
            let width: Int
            let height: Int
            let planes: [String]
        }

        /// `browser_decoder.py` describes the fields.
        private struct Report: Decodable {
            let browser: String
            let error: String?
            let pictures: [Picture]
        }

        @Test(
            "Chromium decodes a random share exactly as libvpx does, by every kind of frame, after losses too",
            .enabled(if: Peers.has(.chromium), "chromium is not installed"))
        func chromium() async throws {
            try await compare(with: .chromium)
        }

        @Test(
            "Firefox decodes a random share exactly as libvpx does, by every kind of frame, after losses too",
            .enabled(if: Peers.has(.firefox), "firefox-esr is not installed"))
        func firefox() async throws {
            try await compare(with: .firefox)
        }

        private func compare(with browser: Viewer) async throws {
            let folder = try TemporaryFolder()
            let frames = try Self.frames()
            let size = try #require(frames.first).size
            let kinds = [
                "key frames": frames.filter(\.isKeyFrame),
                "scrolls": frames.filter(\.isScroll),
                "partial updates": frames.filter { $0.isPartialUpdate && !$0.isScroll },
                "libvpx's": frames.filter { !$0.isPartialUpdate && !$0.isScroll && !$0.isKeyFrame },
            ]
            for (kind, frames) in kinds { #expect(frames.count > 1, "\(kind)") }

            let file = folder.file("share.ivf")
            try IVFFile.write(frames.map { ($0.data, $0.timestamp) }, size: size, to: file.path)
            let seen = try await decode(file, in: browser, folder)
            try #require(seen.error == nil, "\(seen.browser)")

            let decoder = try VP8Decoder()
            try #require(seen.pictures.count == frames.count)
            for (index, frame) in frames.enumerated() {
                let expected = try Self.describe(try #require(try decoder.decode(frame.data)))
                try #require(seen.pictures[index] == expected, "frame \(index) of \(frames.count), \(seen.browser)")
            }
        }

        /// What a viewer gets of the share by which libvpx's decoder and FFmpeg's are compared.
        private static func frames() throws -> [EncodedVideoFrame] {
            let size = PixelSize(width: 1920, height: 1080)
            var state = EncoderControl(
                settings: .init(bitrate: .kilobitsPerSecond(20000), maximumSize: size, hint: .text), now: .zero)
            var input = PictureInput()
            let encoder = try VP8Encoder(configuration: .init(size: size, bitrate: .kilobitsPerSecond(20000)))
            var seen: [EncodedVideoFrame] = []
            for picture in RandomShare(size: size, pictures: 160, seed: 1) {
                state.begin(new: true, now: picture.time)
                let order = state.order(isNew: true)
                try input.take(picture.frame, order: order)
                let (leading, outcome) = try encoder.encode(
                    &input, timestamp: picture.time, asKeyFrame: picture.wantsKeyFrame, order: order)
                guard picture.isSeen else { continue }
                seen += leading
                if case .encoded(let last) = outcome { seen.append(last) }
            }
            return seen
        }

        private static func describe(_ picture: PixelBuffer) throws -> Picture {
            let size = picture.size
            let planes = try picture.withPlanes { set in
                try (0..<picture.format.planeCount).map { plane in
                    let extent = picture.format.planeExtent(plane, of: size)
                    let samples = (0..<extent.rows).flatMap { row in
                        set.planes[plane][row * set.strides[plane]..<row * set.strides[plane] + extent.rowBytes]
                    }
                    let digest = try HashFunction.sha256.digest(of: samples.span.bytes)
                    return digest.map { String(format: "%02x", $0) }.joined()
                }
            }
            return Picture(width: size.width, height: size.height, planes: planes)
        }

        private func decode(_ file: URL, in browser: Viewer, _ folder: TemporaryFolder) async throws -> Report {
            let python = try #require(RunningProgram.find("python3"))
            let out = folder.file(browser.rawValue)
            let outcome = try await RunningProgram.run(
                python,
                [
                    Peers.script("browser_decoder.py"), "--browser", browser.rawValue, "--frames", file.path, "--out",
                    out.path,
                ], in: folder, timeout: .seconds(240))
            let report = try? Data(contentsOf: out.appendingPathComponent("pictures.json"))
            return try JSONDecoder().decode(
                Report.self, from: try #require(report, "browser_decoder.py: \(outcome.standardError)"))
        }
    }
}
