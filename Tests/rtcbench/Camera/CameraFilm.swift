internal import Foundation
internal import RTCShareCapture
internal import RTCShareLocks
internal import RTCShareMedia
internal import RTCShareNetworkSimulation
internal import RTCShareVideoCoding

/// The frames of a simulated camera, without and with the noise of its sensor.
struct CameraFilm {
    let name: String
    let clean: [any VideoFrameBuffer]
    let noisy: [PixelBuffer]

    var size: PixelSize { clean.first?.size ?? PixelSize(width: 0, height: 0) }

    private init(name: String, clean: [any VideoFrameBuffer], noise: Double, seed: UInt64) {
        self.name = name
        self.clean = clean
        var random = SeededGenerator(seed: seed)
        // Drawn once, with another offset for each row.
        let grain = (0..<65_536).map { _ in Int8(clamping: Int((random.normal() * noise).rounded())) }
        noisy = clean.map { Self.grained($0, by: grain, random: &random) }
    }

    /// Creates frames of a person before a wall who moves a little.
    init(size: PixelSize, count: Int, noise: Double, seed: UInt64) {
        let scene = Scene(size: size, seed: seed)
        self.init(
            name: "portrait", clean: (0..<count).map { scene.picture(at: Double($0) / 30) }, noise: noise, seed: seed)
    }

    /// Reads the first frames of a y4m file.
    init(path: String, count: Int, noise: Double, seed: UInt64) throws {
        let source = try Y4MSource(path: path)
        let collector = FilmCollector(count: count)
        source.add(collector)
        try source.start()
        collector.wait()
        source.stop()
        let converter = VideoConverter()
        let pictures = try collector.pictures.map { try converter.convert($0, to: source.captureFormat.size) }
        let name = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
        self.init(name: name, clean: pictures, noise: noise, seed: seed)
    }

    private static func grained(
        _ picture: any VideoFrameBuffer, by grain: [Int8], random: inout SeededGenerator
    ) -> PixelBuffer {
        let size = picture.size
        return picture.withPlanes { source in
            PixelBuffer(size: size, format: .i420) { planes, strides in
                for plane in 0..<3 {
                    let (width, height) = plane == 0 ? (size.width, size.height) : (size.width / 2, size.height / 2)
                    for y in 0..<height {
                        var place = Int(random.next() & 0xFFFF)
                        for x in 0..<width {
                            let value = Int(source.planes[plane][y * source.strides[plane] + x])
                            // Colors have less noise.
                            let noise = plane == 0 ? Int(grain[place]) : Int(grain[place]) / 2
                            planes[plane][y * strides[plane] + x] = UInt8(clamping: value + noise)
                            place = (place + 1) & 0xFFFF
                        }
                    }
                }
            }
        }
    }
}

/// A wall with a texture, and a head that sways before it.
private struct Scene {
    let size: PixelSize
    private let wall: [UInt8]
    private let skin: [UInt8]

    init(size: PixelSize, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        self.size = size
        wall = Self.texture(of: size, strength: 30, random: &random)
        skin = Self.texture(of: size, strength: 44, random: &random)
    }

    /// Returns clouds of several sizes.
    private static func texture(of size: PixelSize, strength: Double, random: inout SeededGenerator) -> [UInt8] {
        var sum = [Double](repeating: 128, count: size.area)
        for period in [96, 40, 16, 6] {
            let (columns, rows) = (size.width / period + 2, size.height / period + 2)
            let knots = (0..<columns * rows).map { _ in random.fraction() - 0.5 }
            let weight = strength * (period > 20 ? 1.4 : 0.7)
            for y in 0..<size.height {
                let (row, down) = (y / period, Double(y % period) / Double(period))
                for x in 0..<size.width {
                    let (column, right) = (x / period, Double(x % period) / Double(period))
                    let above = row * columns + column
                    let below = above + columns
                    let top = knots[above] + (knots[above + 1] - knots[above]) * right
                    let bottom = knots[below] + (knots[below + 1] - knots[below]) * right
                    sum[y * size.width + x] += (top + (bottom - top) * down) * weight
                }
            }
        }
        return sum.map { UInt8(clamping: Int($0)) }
    }

    func picture(at time: Double) -> PixelBuffer {
        let (width, height) = (size.width, size.height)
        // Heads move by some pixels per frame, and rest in between.
        let sway = sin(time * 1.7) * sin(time * 0.6)
        let (shiftX, shiftY) = (Int(sway * Double(width) / 10), Int(sin(time * 2.3) * Double(height) / 60))
        let (centreX, centreY) = (width / 2 + shiftX, height * 45 / 100 + shiftY)
        let (radiusX, radiusY) = (height / 5, height * 28 / 100)
        // Eyes, and a mouth that speaks.
        let mouth = abs(sin(time * 9)) * Double(height) / 40 + 2
        func isHead(_ x: Int, _ y: Int) -> Bool {
            let (dx, dy) = (Double(x - centreX) / Double(radiusX), Double(y - centreY) / Double(radiusY))
            return dx * dx + dy * dy < 1
        }
        func isDark(_ x: Int, _ y: Int) -> Bool {
            let (dx, dy) = (x - centreX, y - centreY)
            if abs(dy + radiusY / 4) < radiusY / 12, abs(abs(dx) - radiusX * 2 / 5) < radiusX / 7 { return true }
            return abs(dx) < radiusX / 3 && abs(Double(dy - radiusY / 2)) < mouth
        }
        return PixelBuffer(size: size, format: .i420) { planes, strides in
            for y in 0..<height {
                for x in 0..<width {
                    let value: Int
                    if isHead(x, y) {
                        let (sourceX, sourceY) = ((x - shiftX + width) % width, (y - shiftY + height) % height)
                        value = isDark(x, y) ? 40 : Int(skin[sourceY * width + sourceX]) + 30
                    } else {
                        value = Int(wall[y * width + x]) * 4 / 5
                    }
                    planes[0][y * strides[0] + x] = UInt8(clamping: value)
                }
            }
            for y in 0..<height / 2 {
                for x in 0..<width / 2 {
                    let head = isHead(x * 2, y * 2)
                    planes[1][y * strides[1] + x] = head ? 108 : 132
                    planes[2][y * strides[2] + x] = head ? 152 : 122
                }
            }
        }
    }
}

/// Keeps the first frames of a video.
private final class FilmCollector: VideoSink {
    private let count: Int
    private let kept = Locked<[any VideoFrameBuffer]>([])
    private let isFull = DispatchSemaphore(value: 0)

    init(count: Int) { self.count = count }

    var pictures: [any VideoFrameBuffer] { kept.withLock { Array($0.prefix(count)) } }

    func wait() { isFull.wait() }

    func receive(_ frame: VideoFrame) {
        let isDone = kept.withLock { kept in
            kept.append(frame.buffer)
            return kept.count == count
        }
        if isDone { isFull.signal() }
    }

    func sourceDidEnd(error: (any Error)?) { isFull.signal() }
}
