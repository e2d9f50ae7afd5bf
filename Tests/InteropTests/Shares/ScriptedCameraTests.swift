import Foundation
import RTCShareLocks
import RTCShareMedia
import Testing
import TestSupport
import VideoNode

@testable import RTCShareCapture

extension Interop {
    /// What cameras do that no test of a whole share could have one do: by nodes that do as they are told.
    @Suite(
        "Cameras as a script", .serialized, .timeLimit(.minutes(2)),
        .enabled(if: Peers.mustRun || WaylandDesktop.missing == nil, "needs PipeWire and WirePlumber"))
    struct ScriptedCameraTests {
        private static let size = PixelSize(width: 64, height: 48)
        private static let pixels: [(video_node_pixels, CameraFormat.Pixels)] = [
            (video_node_yuy2, .yuy2), (video_node_nv12, .nv12), (video_node_i420, .i420), (video_node_mjpeg, .mjpeg),
            (video_node_bgrx, .bgrx), (video_node_bgra, .bgrx), (video_node_rgbx, .rgbx), (video_node_rgba, .rgbx),
            (video_node_bgr, .bgr), (video_node_rgb, .rgb),
        ]
        /// 64x48, by libjpeg.
        private static let jpeg =
            "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNywtQFdBRkxOUlNSMj5aYVpQ"
            + "YEpRUk//2wBDAQ4ODhMREyYVFSZPNS01T09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT0//wAARCAAw"
            + "AEADASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAb/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFgEBAQEAAAAAAAAAAAAAAAAAAAUH/8QA"
            + "FBEBAAAAAAAAAAAAAAAAAAAAAP/aAAwDAQACEQMRAD8AnwEZpIACgAWWbAAJ8BGaSAAoAFlmwACfARmkgAKABZZsAA//2Q=="

        /// A picture whose left half is red and whose right half is grey, in whatever layout.
        private static func picture(_ pixels: video_node_pixels, _ size: PixelSize = size) -> (
            bytes: [UInt8], stride: Int
        ) {
            // BT.601: red (81, 90, 240), grey (126, 128, 128).
            let columns = (0..<size.width).map { $0 < size.width / 2 }
            let pairs = (0..<size.width / 2).map { $0 < size.width / 4 }
            func rows(_ count: Int, _ row: [UInt8]) -> [UInt8] { (0..<count).flatMap { _ in row } }
            let luma = rows(size.height, columns.map { $0 ? 81 : 126 })
            func coloured(_ red: [UInt8], _ grey: [UInt8]) -> ([UInt8], Int) {
                (rows(size.height, columns.flatMap { $0 ? red : grey }), size.width * red.count)
            }
            switch pixels {
            case video_node_yuy2:
                return (
                    rows(size.height, pairs.flatMap { $0 ? [81, 90, 81, 240] : [126, 128, 126, 128] }), size.width * 2
                )
            case video_node_nv12:
                return (luma + rows(size.height / 2, pairs.flatMap { $0 ? [90, 240] : [128, 128] }), size.width)
            case video_node_i420:
                return (
                    luma + rows(size.height / 2, pairs.map { $0 ? 90 : 128 })
                        + rows(size.height / 2, pairs.map { $0 ? 240 : 128 }), size.width
                )
            case video_node_mjpeg: return ([UInt8](Data(base64Encoded: jpeg) ?? Data()), 0)
            case video_node_bgrx, video_node_bgra: return coloured([0, 0, 255, 7], [128, 128, 128, 7])
            case video_node_rgbx, video_node_rgba: return coloured([255, 0, 0, 7], [128, 128, 128, 7])
            case video_node_bgr: return coloured([0, 0, 255], [128, 128, 128])
            default: return coloured([255, 0, 0], [128, 128, 128])
            }
        }

        /// Whether a frame shows that picture.
        private static func isPicture(_ frame: VideoFrame?) -> Bool {
            guard let frame, frame.buffer.format == .i420 else { return false }
            return frame.buffer.withPlanes { set in
                zip(0..<3, [(81, 126), (90, 128), (240, 128)]).allSatisfy { plane, values in
                    let width = plane == 0 ? frame.size.width : frame.size.width / 2
                    let row = set.strides[plane] * (plane == 0 ? frame.size.height / 2 : frame.size.height / 4)
                    return abs(Int(set.planes[plane][row + width / 4]) - values.0) <= 3
                        && abs(Int(set.planes[plane][row + width * 3 / 4]) - values.1) <= 3
                }
            }
        }

        private struct Session {
            let desktop: WaylandDesktop
            let portal: ScriptedPortal
            let access: CameraAccess
            private let folder: TemporaryFolder

            init() async throws {
                folder = try TemporaryFolder()
                desktop = try await WaylandDesktop(.none, in: folder)
                portal = try await ScriptedPortal(on: desktop)
                access = try CameraAccess.asked(on: portal.bus())
            }

            /// The camera of a name, once it is listed.
            func camera(_ name: String) async throws -> CameraDevice {
                var found: CameraDevice?
                try await wait(for: name) {
                    found = try CameraRegistry(access).devices().first { $0.name == name }
                    return found != nil
                }
                return try #require(found)
            }

            func open(
                _ name: String, size: PixelSize = ScriptedCameraTests.size, framesPerSecond: Double = 30
            ) async throws -> CameraSource {
                try CameraSource(
                    try await camera(name), size: size, framesPerSecond: framesPerSecond, access: access)
            }
        }

        /// Has a camera give its picture until that is seen.
        private func show(_ node: ScriptedNode, _ log: FrameLog) async throws {
            let before = log.now.count
            try await node.streams()
            let agreed = node.agreed
            let picture = Self.picture(agreed.pixels, PixelSize(width: Int(agreed.width), height: Int(agreed.height)))
            try await wait(for: "a picture") {
                node.give(picture.bytes, stride: picture.stride)
                return log.now.count > before && Self.isPicture(log.now.newest)
            }
        }

        @Test("A camera of each format is listed with its sizes and rates, and gives the same picture")
        func formats() async throws {
            let session = try await Session()
            for (code, pixels) in Self.pixels {
                let name = "camera-\(code.rawValue)"
                let node = try ScriptedNode(
                    name, on: session.desktop, [ScriptedNode.format(code, Self.size, rates: [30, 15])])
                let source = try await session.open(name, framesPerSecond: 10)
                #expect(source.device.formats.map(\.pixels) == [pixels])
                #expect(source.device.formats[0].frameRates == [30, 15] && source.captureFormat.framesPerSecond == 10)
                let log = FrameLog(source)
                try source.start()
                try await show(node, log)
                // Of the rates the least that is enough.
                #expect(source.format.pixels == pixels && node.agreed.rates.0 == 15, "\(source.format)")
                source.stop()
            }
        }

        @Test("The frames of a camera that is mounted sideways have its rotation")
        func turned() async throws {
            let session = try await Session()
            let node = try ScriptedNode(
                "sideways", on: session.desktop, [ScriptedNode.format(video_node_yuy2, Self.size)])
            let source = try await session.open("sideways")
            let log = FrameLog(source)
            try source.start()
            defer { source.stop() }
            try await node.streams()
            let picture = Self.picture(video_node_yuy2)
            for (transform, rotation) in [(UInt32(1), VideoRotation.quarter), (2, .half)] {
                try await wait(for: "\(rotation)") {
                    node.give(picture.bytes, stride: picture.stride) { $0.transform = transform }
                    return log.now.newest?.rotation == rotation
                }
            }
        }

        @Test("Cameras are changed while they run, by choice, one after the other, and by format")
        func switching() async throws {
            let session = try await Session()
            let larger = PixelSize(width: 128, height: 96)
            let front = try ScriptedNode(
                "front", on: session.desktop,
                [ScriptedNode.format(video_node_yuy2, Self.size), ScriptedNode.format(video_node_nv12, larger)])
            let back = try ScriptedNode("back", on: session.desktop, [ScriptedNode.format(video_node_bgrx, Self.size)])
            let other = try await session.camera("back")
            let source = try await session.open("front")
            let log = FrameLog(source)
            try source.start()
            defer { source.stop() }
            try await show(front, log)
            source.use(other)
            try await show(back, log)
            try await wait(for: "the first to be let go") { !front.isStreaming }
            try source.switchCamera()
            #expect(source.device.name == "front")
            try await show(front, log)
            source.use(source.device.formats.first { $0.size == larger } ?? source.format)
            try await wait(for: "the other format") { front.agreed.width == 128 }
            try await show(front, log)
            #expect(log.now.newest?.size == larger && log.now.sizes.last == larger && log.now.failure == nil)
            #expect(log.now.interruptions.isEmpty)
        }

        @Test("A camera that another program uses gives what that one chose")
        func taken() async throws {
            let session = try await Session()
            let larger = PixelSize(width: 128, height: 96)
            let node = try ScriptedNode(
                "front", on: session.desktop,
                [ScriptedNode.format(video_node_yuy2, Self.size), ScriptedNode.format(video_node_nv12, larger)])
            let first = try await session.open("front", size: larger)
            let second = try await session.open("front", size: Self.size)
            let (one, other) = (FrameLog(first), FrameLog(second))
            try first.start()
            try await show(node, one)
            try second.start()
            defer { [first, second].forEach { $0.stop() } }
            try await show(node, other)
            #expect(other.now.newest?.size == larger && second.format.pixels == .nv12)
        }

        @Test("A camera that is unplugged is waited for, by its name; one that never gave anything is an error")
        func unplugged() async throws {
            let session = try await Session()
            let format = ScriptedNode.format(video_node_i420, Self.size)
            var node: ScriptedNode? = try ScriptedNode("front", on: session.desktop, [format])
            let source = try await session.open("front")
            let log = FrameLog(source)
            try source.start()
            defer { source.stop() }
            try await show(try #require(node), log)
            node = nil
            try await wait(for: "its going") { log.now.interruption != nil && log.now.isMuted }
            #expect(log.now.interruption?.description.contains("'front'") == true)
            let back = try ScriptedNode("front", on: session.desktop, [format])
            try await show(back, log)
            #expect(log.now.interruption == nil && !log.now.isMuted && log.now.failure == nil)

            let gone = CameraDevice(
                name: "gone", description: "gone", formats: source.device.formats, node: source.device.node)
            let none = try CameraSource(gone, size: Self.size, framesPerSecond: 30, access: session.access)
            let noneLog = FrameLog(none)
            try none.start()
            try await wait(for: "an error") { noneLog.now.failure != nil }
            #expect(noneLog.now.failure?.description.contains("'gone'") == true)
        }

        @Test("A light is switched where there is one, and goes out with the source; elsewhere that is an error")
        func torch() async throws {
            let session = try await Session()
            let format = ScriptedNode.format(video_node_yuy2, Self.size)
            let lit = try ScriptedNode("lit", on: session.desktop, hasLight: true, [format])
            let plain = try ScriptedNode("plain", on: session.desktop, [format])
            let source = try await session.open("lit")
            let log = FrameLog(source)
            #expect(source.isTorchAvailable && !source.isTorchEnabled)
            try source.setTorch(true)
            #expect(source.isTorchEnabled && lit.light == -1)
            try source.start()
            try await show(lit, log)
            try await wait(for: "light") { lit.light == 2 }
            try source.setTorch(false)
            try await wait(for: "darkness") { lit.light == 0 }
            try source.setTorch(true)
            try await wait(for: "light") { lit.light == 2 }
            source.use(try await session.camera("plain"))
            try await show(plain, log)
            try await wait(for: "darkness") { lit.light == 0 }
            #expect(!source.isTorchAvailable && !source.isTorchEnabled)
            #expect(throws: CaptureError.torchUnavailable(camera: "plain", reason: nil)) { try source.setTorch(true) }
            source.stop()
        }

        @Test("Cameras that come and go are told; one that nobody looks at is let go")
        func comingAndGoing() async throws {
            let session = try await Session()
            let told = Locked<[[String]]>([])
            let updates = try CameraRegistry.updates(by: session.access)
            let reading = Task {
                for await cameras in updates { told.withLock { $0.append(cameras.map(\.name).sorted()) } }
            }
            try await wait(for: "none") { told.withLock { $0 } == [[]] }
            let node = try ScriptedNode(
                "front", on: session.desktop, [ScriptedNode.format(video_node_nv12, Self.size)])
            var other: ScriptedNode? = try ScriptedNode(
                "back", on: session.desktop, [ScriptedNode.format(video_node_nv12, Self.size)])
            try await wait(for: "both") { told.withLock { $0.last } == ["back", "front"] }
            _ = other.take()
            try await wait(for: "one") { told.withLock { $0.last } == ["front"] }
            reading.cancel()

            let source = try await session.open("front")
            let log = FrameLog(source)
            try source.start()
            try await show(node, log)
            source.remove(log)
            try await wait(for: "rest") { !node.isStreaming }
            source.add(log)
            try await show(node, log)
            source.stop()
        }

        @Test("A person's no to the Camera portal is an error of its own")
        func declined() async throws {
            let session = try await Session()
            try session.portal.set(["AccessCamera": .uint32(1)])
            let bus = try session.portal.bus()
            #expect(throws: CaptureError.camerasDeclined) { try CameraAccess.asked(on: bus) }
            try session.portal.set(["AccessCamera": .uint32(2)])
            #expect { try CameraAccess.asked(on: bus) } throws: { "\($0)".contains("ended the question") }
        }
    }
}
