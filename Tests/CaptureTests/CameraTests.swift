import RTCShareMedia
import Testing

@testable import RTCShareCapture

@Suite("Cameras")
struct CameraTests {
    private static func device(_ formats: [CameraFormat]) -> CameraDevice {
        CameraDevice(name: "cam", description: "A camera", formats: formats, node: 1)
    }

    private static func format(_ pixels: CameraFormat.Pixels, _ width: Int, _ height: Int, _ rate: Double)
        -> CameraFormat
    {
        CameraFormat(pixels: pixels, size: PixelSize(width: width, height: height), frameRates: [rate])
    }

    /// The formats of a typical camera: large frames at the full rate are only available as JPEG.
    private static let usual = device([
        format(.yuy2, 640, 480, 30), format(.yuy2, 1280, 720, 10), format(.yuy2, 1920, 1080, 5),
        format(.mjpeg, 640, 480, 30), format(.mjpeg, 1280, 720, 30), format(.mjpeg, 1920, 1080, 30),
    ])

    @Test(
        "The nearest format has the closest size, then the closest rate, then pixels that need no decompression",
        arguments: [
            (PixelSize(width: 1280, height: 720), 30.0, format(.mjpeg, 1280, 720, 30)),
            (PixelSize(width: 1280, height: 720), 10.0, format(.yuy2, 1280, 720, 10)),
            (PixelSize(width: 640, height: 360), 30.0, format(.yuy2, 640, 480, 30)),
            (PixelSize(width: 3840, height: 2160), 30.0, format(.mjpeg, 1920, 1080, 30)),
            (PixelSize(width: 1920, height: 1080), 5.0, format(.yuy2, 1920, 1080, 5)),
        ])
    func nearest(size: PixelSize, rate: Double, expected: CameraFormat) {
        #expect(Self.usual.format(nearestTo: size, framesPerSecond: rate) == expected)
    }

    @Test(
        "The rotation of a frame undoes a quarter turn of the camera, and leaves a mirrored frame upright",
        arguments: [(0, .upright), (1, .quarter), (2, .half), (3, .threeQuarters)] as [(UInt32, VideoRotation)])
    func rotation(transform: UInt32, expected: VideoRotation) {
        #expect(PictureTurn(waylandTransform: transform).rotation == expected)
        // These mirror the content first.
        let mirrored = PictureTurn(waylandTransform: transform + 4)
        #expect(mirrored.isMirrored && mirrored.rotation == expected)
    }

    /// Returns a grey buffer with a red left half in a layout, with the given stride or that of GStreamer.
    private static func buffer(_ pixels: CameraFormat.Pixels, _ size: PixelSize, stride: Int) -> [UInt8] {
        // BT.601: grey (126, 128, 128), red (81, 90, 240).
        func isRed(_ x: Int) -> Bool { x < size.width / 2 }
        func luma(_ x: Int) -> UInt8 { isRed(x) ? 81 : 126 }
        func blue(_ x: Int) -> UInt8 { isRed(x) ? 90 : 128 }
        func red(_ x: Int) -> UInt8 { isRed(x) ? 240 : 128 }
        func rows(_ count: Int, _ stride: Int, _ bytes: [UInt8]) -> [UInt8] {
            (0..<count).flatMap { _ in bytes + Array(repeating: 7, count: stride - bytes.count) }
        }
        let columns = 0..<size.width
        let halves = Array(Swift.stride(from: 0, to: size.width, by: 2))
        let rgb = columns.map { isRed($0) ? [255, 0, 0] as [UInt8] : [128, 128, 128] }
        let lumas = rows(size.height, stride, columns.map(luma))
        switch pixels {
        case .yuy2:
            return rows(size.height, stride, halves.flatMap { [luma($0), blue($0), luma($0 + 1), red($0)] })
        case .nv12: return lumas + rows(size.height / 2, stride, halves.flatMap { [blue($0), red($0)] })
        case .i420:
            return lumas + rows(size.height / 2, stride / 2, halves.map(blue))
                + rows(size.height / 2, stride / 2, halves.map(red))
        case .bgrx: return rows(size.height, stride, rgb.flatMap { [$0[2], $0[1], $0[0], 9] })
        case .rgbx: return rows(size.height, stride, rgb.flatMap { $0 + [9] })
        case .bgr: return rows(size.height, stride, rgb.flatMap { [$0[2], $0[1], $0[0]] })
        case .rgb: return rows(size.height, stride, rgb.flatMap { $0 })
        case .mjpeg: return []
        }
    }

    @Test(
        "A frame is the same whatever its layout",
        arguments: [
            (CameraFormat.Pixels.yuy2, 2), (.nv12, 1), (.i420, 1), (.bgrx, 4), (.rgbx, 4), (.bgr, 3), (.rgb, 3),
        ], [0, 64])
    func layouts(_ layout: (pixels: CameraFormat.Pixels, bytesEach: Int), padding: Int) throws {
        let size = PixelSize(width: 36, height: 20)
        let stride = size.width * layout.bytesEach + padding
        let bytes = Self.buffer(layout.pixels, size, stride: stride)
        let pictures = CameraPictures(CameraFormat(pixels: layout.pixels, size: size, frameRates: [30]))
        // Without a given stride, rows are contiguous.
        let picture = try #require(
            try bytes.withUnsafeBytes { try pictures.picture(of: $0, stride: padding == 0 ? 0 : stride) })
        let planes = picture.withPlanes { set in
            (0..<3).map { plane in
                (0..<(plane == 0 ? 20 : 10)).map { row in
                    Array(set.planes[plane][(row * set.strides[plane])...].prefix(plane == 0 ? 36 : 18)).map(Int.init)
                }
            }
        }
        func near(_ value: Int, _ expected: Int) -> Bool { abs(value - expected) <= 2 }
        #expect(planes[0].allSatisfy { near($0[2], 81) && near($0[33], 126) })
        #expect(planes[1].allSatisfy { near($0[1], 90) && near($0[16], 128) })
        #expect(planes[2].allSatisfy { near($0[1], 240) && near($0[16], 128) })
        // A buffer that lacks a byte is none.
        let short = bytes.dropLast(padding + 1)
        let refused = try Array(short).withUnsafeBytes { try pictures.picture(of: $0, stride: stride) }
        #expect(refused == nil)
    }

    @Test("Data that is not JPEG is rejected")
    func brokenJPEG() throws {
        let pictures = CameraPictures(
            CameraFormat(pixels: .mjpeg, size: PixelSize(width: 64, height: 64), frameRates: [30]))
        for bytes in [[], [0xFF, 0xD8], Array(repeating: 0xFF, count: 5000), [0xFF, 0xD8, 0xFF, 0xD9]] as [[UInt8]] {
            let picture = try bytes.withUnsafeBytes { try pictures.picture(of: $0, stride: 0) }
            #expect(picture == nil)
        }
    }
}
