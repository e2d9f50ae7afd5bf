import FoundationEssentials
internal import Glibc
import RTCShareCPipeWireVideo
public import RTCShareMedia

/// A camera that PipeWire has.
public struct CameraDevice: Sendable, Hashable {
    /// PipeWire's name for it, which stays the same.
    public let name: String
    /// Its name for people.
    public let description: String
    /// What it can give; at least one.
    public let formats: [CameraFormat]
    /// Its number while it is there.
    let node: UInt32

    /// The cameras that there are at this moment.
    public static func all() throws(CaptureError) -> [CameraDevice] {
        var problem = [CChar](repeating: 0, count: 256)
        guard let cameras = pipewire_cameras_list(3000, &problem, problem.count) else {
            throw .camerasUnavailable(reason: String(nullTerminated: problem))
        }
        defer { pipewire_cameras_free(cameras) }
        return (0..<pipewire_cameras_count(cameras)).compactMap { index in
            pipewire_cameras_get(cameras, index).flatMap { CameraDevice($0.pointee) }
        }
    }

    /// The one of this name, or whose name for people has it in it, whatever the capitals; without a name, the first.
    static func find(_ name: String?) throws(CaptureError) -> CameraDevice {
        let cameras = try all()
        guard let name else {
            guard let first = cameras.first else { throw .unknownCamera(name: nil, cameras: []) }
            return first
        }
        let found =
            cameras.first { $0.name == name }
            ?? cameras.first { $0.description.lowercased().contains(name.lowercased()) }
        guard let found else { throw .unknownCamera(name: name, cameras: cameras) }
        return found
    }

    init(name: String, description: String, formats: [CameraFormat], node: UInt32) {
        (self.name, self.description, self.formats, self.node) = (name, description, formats, node)
    }

    private init?(_ camera: pipewire_camera) {
        let formats = UnsafeBufferPointer(start: camera.formats, count: Int(camera.format_count))
        guard !formats.isEmpty else { return nil }
        self.formats = formats.map { CameraFormat($0) }
        node = camera.node
        name = withUnsafeBytes(of: camera.name) { String(nullTerminated: $0.bindMemory(to: CChar.self)) }
        description = withUnsafeBytes(of: camera.description) { String(nullTerminated: $0.bindMemory(to: CChar.self)) }
    }

    /// The format that comes nearest to a size and a rate: a picture of about the size, then as many a second, then one that
    /// need not be decompressed.
    public func format(nearestTo size: PixelSize, framesPerSecond: Double) -> CameraFormat {
        func distance(_ format: CameraFormat) -> Double {
            let sizes = abs(log2(Double(format.size.area) / Double(max(1, size.area))))
            let missing = max(0, framesPerSecond - format.framesPerSecond) / framesPerSecond
            return sizes + missing * 2 + (format.pixels == .mjpeg ? 0.01 : 0)
        }
        return formats.min { distance($0) < distance($1) } ?? formats[0]
    }
}

/// What a camera gives.
public struct CameraFormat: Sendable, Hashable, CustomStringConvertible {
    /// How its pixels lie in memory.
    public enum Pixels: String, Sendable, Hashable {
        /// Two pixels in four bytes: luma, blue, luma, red.
        case yuy2 = "YUY2"
        /// A plane of luma, and one of blue and red.
        case nv12 = "NV12"
        /// Planes of luma, blue and red.
        case i420 = "I420"
        /// JPEG pictures.
        case mjpeg = "MJPEG"
        /// Four bytes a pixel: blue, green, red, and one that is not looked at.
        case bgrx = "BGRx"
        /// Four bytes a pixel: red, green, blue, and one that is not looked at.
        case rgbx = "RGBx"
        /// Three bytes a pixel: blue, green, red.
        case bgr = "BGR"
        /// Three bytes a pixel: red, green, blue.
        case rgb = "RGB"
    }

    /// How its pixels lie.
    public let pixels: Pixels
    /// The pictures' size.
    public let size: PixelSize
    /// The most pictures a second; zero where the camera doesn't say.
    public let framesPerSecond: Double

    /// `1280x720, 30 a second, MJPEG`.
    public var description: String {
        let rate = (framesPerSecond * 100).rounded() / 100
        let words = Int(exactly: rate)?.description ?? rate.description
        return "\(size), \(rate > 0 ? "\(words) a second, " : "")\(pixels.rawValue)"
    }

    private static let codes: [(Pixels, pipewire_camera_pixels)] = [
        (.yuy2, pipewire_camera_yuy2), (.nv12, pipewire_camera_nv12), (.i420, pipewire_camera_i420),
        (.mjpeg, pipewire_camera_mjpeg), (.bgrx, pipewire_camera_bgrx), (.rgbx, pipewire_camera_rgbx),
        (.bgr, pipewire_camera_bgr), (.rgb, pipewire_camera_rgb),
    ]

    /// A format of a picture's pixels, its size, and how many there are in a second.
    init(pixels: Pixels, size: PixelSize, framesPerSecond: Double) {
        (self.pixels, self.size, self.framesPerSecond) = (pixels, size, framesPerSecond)
    }

    fileprivate init(_ format: pipewire_camera_format) {
        self.init(
            pixels: Self.codes.first { $0.1 == format.pixels }?.0 ?? .i420,
            size: PixelSize(width: Int(format.width), height: Int(format.height)),
            framesPerSecond: format.frames_per_second)
    }

    var code: pipewire_camera_format {
        pipewire_camera_format(
            pixels: Self.codes.first { $0.0 == pixels }?.1 ?? pipewire_camera_i420, width: UInt32(size.width),
            height: UInt32(size.height), frames_per_second: framesPerSecond)
    }
}

extension String {
    /// The text before the first zero.
    init(nullTerminated characters: some Sequence<CChar>) {
        self.init(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
