import RTCShareMedia
import RTCShareVideoCoding
import Testing

private func plane(_ picture: any VideoFrameBuffer, _ index: Int) -> [[UInt8]] {
    picture.withPlanes { set in
        let extent = picture.format.planeExtent(index, of: picture.size)
        return (0..<extent.rows).map { row in
            Array(set.planes[index][row * set.strides[index]..<row * set.strides[index] + extent.rowBytes])
        }
    }
}

private func solid(_ bytes: [[UInt8]], _ format: PixelFormat, _ size: PixelSize) -> PixelBuffer {
    PixelBuffer(size: size, format: format) { planes, _ in
        for (plane, pattern) in zip(planes, bytes) {
            for index in plane.indices { plane[index] = pattern[index % pattern.count] }
        }
    }
}

/// Says that it is larger than it is.
private struct LyingBuffer: VideoFrameBuffer {
    let size = PixelSize(width: 640, height: 480)
    let format: PixelFormat
    let planeCount: Int
    let bytes = [UInt8](repeating: 0, count: 100)

    func withPlanes<Result>(_ body: (borrowing PlaneSet) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBytes { memory in
            try body(
                PlaneSet(
                    planes: Array(repeating: memory, count: planeCount),
                    strides: Array(repeating: 2560, count: planeCount)))
        }
    }
}

@Suite("VideoConverter")
struct ConverterTests {
    private let size = PixelSize(width: 64, height: 48)

    @Test(
        "Colors are converted as BT.601 with limited range specifies",
        arguments: [
            // blue, green, red → luma, blue chroma, red chroma
            ([255, 255, 255, 0], [235, 128, 128]), ([0, 0, 0, 255], [16, 128, 128]),
            ([0, 0, 255, 0], [82, 90, 240]), ([0, 255, 0, 9], [145, 54, 34]), ([255, 0, 0, 0], [41, 240, 110]),
            ([128, 128, 128, 0], [126, 128, 128]),
        ] as [([UInt8], [Int])])
    func colours(bgra: [UInt8], yuv: [Int]) throws {
        let result = try VideoConverter().convert(solid([bgra], .bgra, size), to: size)
        #expect(result.format == .i420 && result.size == size)
        for index in 0..<3 {
            for row in plane(result, index) {
                // libyuv's integer coefficients may differ by one from the exact ones.
                #expect(row.allSatisfy { abs(Int($0) - yuv[index]) <= 1 }, "\(row[0]) for \(yuv[index])")
            }
        }
    }

    @Test("NV12's chroma is deinterleaved")
    func nv12() throws {
        let source = solid([[50], [60, 70]], .nv12, PixelSize(width: 33, height: 17))
        let result = try VideoConverter().convert(source, to: source.size)
        #expect(plane(result, 0).joined().allSatisfy { $0 == 50 })
        #expect(plane(result, 1).joined().allSatisfy { $0 == 60 })
        #expect(plane(result, 2).joined().allSatisfy { $0 == 70 })
    }

    @Test("I420 of the right size is passed through without a copy")
    func passedOn() throws {
        let source = solid([[50], [60], [70]], .i420, size)
        let result = try VideoConverter().convert(source, to: size)
        let passedOn = try #require(result as? PixelBuffer)
        #expect(passedOn === source)
    }

    @Test("Downscaling averages: a checkerboard becomes grey")
    func box() throws {
        let source = PixelBuffer(size: size, format: .i420) { planes, strides in
            for index in planes[0].indices {
                planes[0][index] = (index / strides[0] + index % strides[0]) % 2 == 0 ? 20 : 220
            }
            planes[1].initializeMemory(as: UInt8.self, repeating: 128)
            planes[2].initializeMemory(as: UInt8.self, repeating: 128)
        }
        let result = try VideoConverter().convert(source, to: PixelSize(width: 32, height: 24))
        #expect(plane(result, 0).joined().allSatisfy { abs(Int($0) - 120) <= 1 })
    }

    @Test(
        "Rotation moves the top left corner clockwise",
        arguments: [
            (VideoRotation.upright, 0, 0), (.quarter, 47, 0), (.half, 63, 47), (.threeQuarters, 0, 63),
        ])
    func turns(rotation: VideoRotation, x: Int, y: Int) throws {
        let source = PixelBuffer(size: size, format: .i420) { planes, _ in
            planes[0].initializeMemory(as: UInt8.self, repeating: 16)
            planes[0][0] = 200
            planes[1].initializeMemory(as: UInt8.self, repeating: 128)
            planes[2].initializeMemory(as: UInt8.self, repeating: 128)
        }
        let upright = rotation.swapsSides ? PixelSize(width: 48, height: 64) : size
        let rows = plane(try VideoConverter().convert(source, to: upright, rotation: rotation), 0)
        #expect(rows.count == upright.height)
        #expect(rows[y][x] == 200)
    }

    @Test("Repeated conversions reuse the same memory")
    func reuse() throws {
        let converter = VideoConverter()
        let source = solid([[1, 2, 3, 4]], .bgra, size)
        var seen: Set<UInt> = []
        for _ in 0..<20 {
            let result = try converter.convert(source, to: PixelSize(width: 32, height: 24))
            seen.insert(result.withPlanes { UInt(bitPattern: $0.planes[0].baseAddress) })
        }
        #expect(seen.count == 1)
    }

    @Test(
        "A buffer with a wrong size is rejected",
        arguments: [PixelFormat.bgra, .nv12, .i420], [1, 3])
    func lies(format: PixelFormat, planeCount: Int) {
        #expect(throws: VideoCodingError.planesTooShort(size: PixelSize(width: 640, height: 480), format: format)) {
            _ = try VideoConverter().convert(
                LyingBuffer(format: format, planeCount: planeCount), to: PixelSize(width: 64, height: 48))
        }
    }

    @Test("An empty frame is rejected")
    func empty() {
        let none = PixelSize(width: 0, height: 0)
        #expect(throws: VideoCodingError.emptyPicture) {
            _ = try VideoConverter().convert(solid([[1]], .bgra, none), to: size)
        }
        #expect(throws: VideoCodingError.emptyPicture) {
            _ = try VideoConverter().convert(solid([[1]], .bgra, size), to: none)
        }
    }
}
