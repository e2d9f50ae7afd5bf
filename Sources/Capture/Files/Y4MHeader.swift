import RTCShareMedia

/// The first line of a y4m stream (`YUV4MPEG2 W… H… F… I… A… C… X…`).
struct Y4MHeader: Sendable, Hashable {
    /// The layout of a frame's planes in the file.
    enum Sampling: Sendable, Hashable {
        case i420, i422, i444, luma
    }

    /// The size in the file, which may be odd.
    let size: PixelSize
    /// The size with square pixels and even sides. No side is smaller than in the file, except for an odd last row or
    /// column.
    let squareSize: PixelSize
    let framesPerSecond: Double
    let sampling: Sampling
    /// Whether luma and chroma use all of 0 to 255, instead of the limited range of frames.
    let isFullRange: Bool

    static let magic = "YUV4MPEG2"
    static let maximumSide = VideoFrame.maximumSide
    static let maximumArea = 8192 * 4320
    /// The rate if the header names none (`F0:0`, or no field).
    static let defaultRate = 30.0

    /// The size of a chroma plane.
    var chromaSize: PixelSize {
        switch sampling {
        case .i420: PixelSize(width: (size.width + 1) / 2, height: (size.height + 1) / 2)
        case .i422: PixelSize(width: (size.width + 1) / 2, height: size.height)
        case .i444: size
        case .luma: PixelSize(width: 0, height: 0)
        }
    }

    /// The number of bytes of a frame.
    var frameLength: Int { size.area + 2 * chromaSize.area }

    /// A fault in the header: the offset of the faulty field, the problem, and the remedy.
    struct Fault: Error, Hashable {
        let offset: Int
        let problem: String
        let remedy: String
    }

    private static let conversion = "ffmpeg -i IN -pix_fmt yuv420p OUT.y4m"

    /// Parses the line, without its line end.
    init(line: [UInt8]) throws(Fault) {
        let fields = Self.fields(line)
        guard let first = fields.first, first.text == Self.magic else {
            throw Fault(
                offset: 0, problem: "it is not a y4m file, because it does not begin with \(Self.magic)",
                remedy: Self.conversion)
        }
        var width: Int?
        var height: Int?
        var rate = Self.defaultRate
        var sampling = Sampling.i420
        var isFullRange = false
        var aspect = (offset: 0, text: Substring("1:1"))
        for field in fields.dropFirst() {
            let value = field.text.dropFirst()
            switch field.text.first {
            case "W": width = try Self.side(value, "width", at: field.offset)
            case "H": height = try Self.side(value, "height", at: field.offset)
            case "A": aspect = (field.offset, value)
            case "F": rate = try Self.rate(value, at: field.offset)
            case "C": sampling = try Self.sampling(value, at: field.offset)
            case "X" where value == "COLORRANGE=FULL": isFullRange = true
            default: break  // Interlacing and comments do not change how a frame is read.
            }
        }
        guard let width, let height else {
            let missing = width == nil ? "width (W)" : "height (H)"
            throw Fault(offset: line.count, problem: "the header has no \(missing)", remedy: Self.conversion)
        }
        guard width * height <= Self.maximumArea else {
            throw Fault(
                offset: 0, problem: "\(width)x\(height) is larger than can be shared",
                remedy: "scale it to at most 8192x4320")
        }
        self.size = PixelSize(width: width, height: height)
        self.squareSize = try Self.squareSize(of: self.size, aspect.text, at: aspect.offset)
        self.framesPerSecond = rate
        self.sampling = sampling
        self.isFullRange = isFullRange
    }

    private static func fields(_ line: [UInt8]) -> [(offset: Int, text: String)] {
        line.split(separator: 0x20).map { (offset: $0.startIndex, text: String(decoding: $0, as: UTF8.self)) }
    }

    private static func number(_ text: Substring) -> Int? {
        guard (1...9).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(text)
    }

    private static func side(_ text: Substring, _ name: String, at offset: Int) throws(Fault) -> Int {
        guard let side = number(text), (2...maximumSide).contains(side) else {
            throw Fault(
                offset: offset, problem: "the \(name) '\(text)' is not between 2 and \(maximumSide)",
                remedy: "scale it: 'ffmpeg -i IN -vf scale=1280:720 -pix_fmt yuv420p OUT.y4m'")
        }
        return side
    }

    /// Returns the size of a frame after making its pixels square, which have this aspect ratio. A zero means an
    /// unknown ratio.
    private static func squareSize(of size: PixelSize, _ text: Substring, at offset: Int) throws(Fault) -> PixelSize {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { number($0) }
        guard parts.count == 2, let wide = parts[0], let high = parts[1] else {
            throw Fault(offset: offset, problem: "the pixel shape '\(text)' is not a ratio", remedy: conversion)
        }
        // Both have at most nine digits, and a side five.
        let stretched = { (side: Int, by: Int, over: Int) in (side * by + over) / (2 * over) * 2 }
        let isKnown = wide > 0 && high > 0
        let width = isKnown && wide > high ? stretched(size.width, wide, high) : size.width & ~1
        let height = isKnown && high > wide ? stretched(size.height, high, wide) : size.height & ~1
        guard width <= maximumSide, height <= maximumSide, width * height <= maximumArea else {
            throw Fault(
                offset: offset, problem: "the pixel shape \(text) makes the video larger than can be shared",
                remedy: "scale it: 'ffmpeg -i IN -vf scale=1280:720,setsar=1 -pix_fmt yuv420p OUT.y4m'")
        }
        return PixelSize(width: width, height: height)
    }

    private static func rate(_ text: Substring, at offset: Int) throws(Fault) -> Double {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        if parts.count == 2, let above = number(parts[0]), let below = number(parts[1]) {
            if above == 0 || below == 0 { return defaultRate }
            let rate = Double(above) / Double(below)
            if CaptureFormat.frameRates.contains(rate) { return rate }
        }
        throw Fault(
            offset: offset, problem: "the frame rate '\(text)' is not a ratio between 0.1 and 240 a second",
            remedy: "convert it with 'ffmpeg -i IN -r 30 OUT.y4m'")
    }

    private static func sampling(_ text: Substring, at offset: Int) throws(Fault) -> Sampling {
        switch text {
        case "420", "420jpeg", "420mpeg2", "420paldv": return .i420
        case "422": return .i422
        case "444": return .i444
        case "mono": return .luma
        default:
            throw Fault(offset: offset, problem: "the color space C\(text) is not supported", remedy: conversion)
        }
    }
}
