internal import FoundationEssentials
internal import Glibc
import RTCShareCPipeWireVideo
public import RTCShareMedia

/// A format of a camera.
public struct CameraFormat: Sendable, Hashable, CustomStringConvertible {
    /// The layout of the pixels in memory.
    public enum Pixels: String, Sendable, Hashable, CaseIterable {
        /// Two pixels in four bytes: luma, blue, luma, red.
        case yuy2 = "YUY2"
        /// A plane of luma, and one of blue and red.
        case nv12 = "NV12"
        /// Planes of luma, blue and red.
        case i420 = "I420"
        /// JPEG images.
        case mjpeg = "MJPEG"
        /// Four bytes per pixel: blue, green, red, and an unused byte.
        case bgrx = "BGRx"
        /// Four bytes per pixel: red, green, blue, and an unused byte.
        case rgbx = "RGBx"
        /// Three bytes per pixel: blue, green, red.
        case bgr = "BGR"
        /// Three bytes per pixel: red, green, blue.
        case rgb = "RGB"
    }

    /// The layout of the pixels.
    public let pixels: Pixels
    /// The frames' size.
    public let size: PixelSize
    /// The frame rates, the highest first.
    private let rates: [Rate]

    /// The possible frame rates per second, the highest first; empty if the camera names none.
    public var frameRates: [Double] { rates.map(\.perSecond) }
    /// The highest frame rate per second; zero if the camera names none.
    public var framesPerSecond: Double { rates.first?.perSecond ?? 0 }

    /// The text `1280x720, 30/15 a second, MJPEG`.
    public var description: String {
        let rates = rates.map { rate in
            let rounded = (rate.perSecond * 100).rounded() / 100
            return Int(exactly: rounded)?.description ?? rounded.description
        }.joined(separator: "/")
        return "\(size), \(rates.isEmpty ? "" : "\(rates) a second, ")\(pixels.rawValue)"
    }

    /// A frame rate as the fraction that the camera reports.
    private struct Rate: Sendable, Hashable {
        let numerator: UInt32
        let denominator: UInt32
        var perSecond: Double { Double(numerator) / Double(max(denominator, 1)) }
    }

    /// Creates a format with a pixel layout, a size, and the possible frame rates.
    init(pixels: Pixels, size: PixelSize, frameRates: [Double]) {
        self.pixels = pixels
        self.size = size
        rates = frameRates.sorted(by: >).map { Rate(numerator: UInt32($0 * 1000), denominator: 1000) }
    }

    /// Returns the format with one rate: the lowest that is not below this, or else the highest.
    func at(framesPerSecond wanted: Double) -> CameraFormat {
        let rate = rates.last { $0.perSecond > wanted - 0.01 } ?? rates.first
        return CameraFormat(pixels, size, rate.map { [$0] } ?? [])
    }

    private init(_ pixels: Pixels, _ size: PixelSize, _ rates: [Rate]) {
        (self.pixels, self.size, self.rates) = (pixels, size, rates)
    }
}

extension CameraFormat {
    private static let codes: [(Pixels, pipewire_camera_pixels)] = [
        (.yuy2, pipewire_camera_yuy2), (.nv12, pipewire_camera_nv12), (.i420, pipewire_camera_i420),
        (.mjpeg, pipewire_camera_mjpeg), (.bgrx, pipewire_camera_bgrx), (.rgbx, pipewire_camera_rgbx),
        (.bgr, pipewire_camera_bgr), (.rgb, pipewire_camera_rgb),
    ]

    init(_ format: pipewire_camera_format) {
        let rates = withUnsafeBytes(of: format.rates) { bytes in
            bytes.bindMemory(to: pipewire_rate.self).prefix(Int(format.rate_count)).map {
                Rate(numerator: $0.numerator, denominator: $0.denominator)
            }
        }
        self.init(
            Self.codes.first { $0.1 == format.pixels }?.0 ?? .i420,
            PixelSize(width: Int(format.width), height: Int(format.height)), rates)
    }

    var code: pipewire_camera_format {
        var code = pipewire_camera_format()
        code.pixels = Self.codes.first { $0.0 == pixels }?.1 ?? pipewire_camera_i420
        code.width = UInt32(size.width)
        code.height = UInt32(size.height)
        withUnsafeMutableBytes(of: &code.rates) { bytes in
            let places = bytes.bindMemory(to: pipewire_rate.self)
            for (place, rate) in zip(places.indices, rates) {
                places[place] = pipewire_rate(numerator: rate.numerator, denominator: rate.denominator)
            }
        }
        code.rate_count = UInt32(min(rates.count, Int(PIPEWIRE_MOST_RATES)))
        return code
    }
}
