internal import Foundation
internal import RTCShareMedia
internal import RTCShareNetworkSimulation

/// Images in a ring: flowing colors, flying discs, and a grain over all.
struct MovingPictures {
    let size: PixelSize
    /// The images, rows from the top, 0x00RRGGBB.
    let pictures: [[UInt32]]

    /// A ring without images.
    static let none = MovingPictures(size: PixelSize(width: 0, height: 0), pictures: [])

    init(size: PixelSize, pictures: [[UInt32]]) {
        self.size = size
        self.pictures = pictures
    }

    /// Creates the ring for a content on a screen of this size.
    init(for content: ScreenContent, screen: PixelSize, seed: UInt64) {
        switch content {
        case .video: self.init(size: PixelSize(width: 640, height: 360), count: 30, seed: seed)
        case .motion: self.init(size: screen, count: 16, seed: seed)
        default: self = .none
        }
    }

    /// Creates a ring of so many images.
    init(size: PixelSize, count: Int, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let grain = (0..<4096).map { _ in Int(random.next() % 13) - 6 }
        let things = (0..<12).map { _ in Thing(random: &random, size: size) }
        self.size = size
        pictures = (0..<count).map { index in
            Self.picture(size: size, phase: Double(index) / Double(count), grain: grain, things: things)
        }
    }

    /// Reads the first images of a video file at thirty per second, which fill this size. A shorter video repeats.
    init(of file: String, size: PixelSize, count: Int) throws {
        let filter =
            "scale=\(size.width):\(size.height):force_original_aspect_ratio=increase,"
            + "crop=\(size.width):\(size.height),fps=30"
        let program = Process()
        program.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        program.arguments = [
            "ffmpeg", "-v", "error", "-nostdin", "-stream_loop", "-1", "-i", file, "-vf", filter, "-frames:v",
            "\(count)", "-f", "rawvideo", "-pix_fmt", "bgr0", "-",
        ]
        let output = Pipe()
        program.standardOutput = output
        try program.run()
        var pictures: [[UInt32]] = []
        var bytes = Data()
        while pictures.count < count,
            let more = try output.fileHandleForReading.read(upToCount: size.area * 4 - bytes.count), !more.isEmpty
        {
            bytes += more
            guard bytes.count == size.area * 4 else { continue }
            // The fourth byte of a pixel is not defined.
            pictures.append(bytes.withUnsafeBytes { $0.bindMemory(to: UInt32.self).map { $0 & 0xFFFFFF } })
            bytes = Data()
        }
        program.waitUntilExit()
        guard pictures.count == count else { throw BenchmarkFailure("FFmpeg reads no video from \(file)") }
        self.init(size: size, pictures: pictures)
    }

    /// A disc that moves a whole number of times around the image in one ring, so that the ring closes.
    fileprivate struct Thing {
        let x: Double
        let y: Double
        let turns: Double
        let radius: Int
        let colour: UInt32

        init(random: inout SeededGenerator, size: PixelSize) {
            x = random.fraction() * Double(size.width)
            y = random.fraction() * Double(size.height)
            turns = random.chance(0.5) ? 1 : -1
            radius = size.height / 24 + Int(random.next() % UInt64(size.height / 12 + 1))
            colour = UInt32(truncatingIfNeeded: random.next()) & 0xFFFFFF
        }
    }

    private static func picture(size: PixelSize, phase: Double, grain: [Int], things: [Thing]) -> [UInt32] {
        let turn = 2 * Double.pi * phase
        let columns = (0..<size.width).map { sin(Double($0) / 90 + turn) }
        let diagonals = (0..<size.width + size.height).map { sin(Double($0) / 140 - turn) }
        // The grain moves too: an encoder would not encode a still one.
        let shift = Int(phase * 4096) * 7
        var pixels = [UInt32](repeating: 0, count: size.area)
        pixels.withUnsafeMutableBufferPointer { pixels in
            for y in 0..<size.height {
                let row = sin(Double(y) / 70 + turn)
                for x in 0..<size.width {
                    let noise = grain[(x &* 31 &+ y &* 57 &+ shift) & 4095]
                    let red = 128 + Int(50 * columns[x] + 40 * row) + noise
                    let green = 120 + Int(60 * diagonals[x + y]) + noise
                    let blue = 130 + Int(45 * row - 45 * columns[x]) + noise
                    pixels[y * size.width + x] = UInt32(red) << 16 | UInt32(green) << 8 | UInt32(blue)
                }
            }
            for thing in things { thing.draw(into: pixels, size: size, phase: phase) }
        }
        return pixels
    }
}

extension MovingPictures.Thing {
    fileprivate func draw(into pixels: UnsafeMutableBufferPointer<UInt32>, size: PixelSize, phase: Double) {
        let angle = 2 * Double.pi * phase * turns
        let centreX = Int(x + cos(angle) * Double(size.width) / 6)
        let centreY = Int(y + sin(angle) * Double(size.height) / 6)
        // Nothing of it may be left beyond the edges.
        let rows = (centreY - radius..<centreY + radius).clamped(to: 0..<size.height)
        let columns = (centreX - radius..<centreX + radius).clamped(to: 0..<size.width)
        for row in rows {
            for column in columns {
                let (dx, dy) = (column - centreX, row - centreY)
                guard dx * dx + dy * dy < radius * radius else { continue }
                // Stripes that move with the disc: something for motion search to find.
                let isDark = (dx + dy) & 15 < 5
                pixels[row * size.width + column] = isDark ? colour >> 1 & 0x7F7F7F : colour
            }
        }
    }
}
