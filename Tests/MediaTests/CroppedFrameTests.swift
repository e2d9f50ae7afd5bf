import RTCShareLocks
import Testing

@testable import RTCShareMedia

private func rows(_ buffer: any VideoFrameBuffer, _ plane: Int) -> [[UInt8]] {
    buffer.withPlanes { set in
        let extent = buffer.format.planeExtent(plane, of: buffer.size)
        return (0..<extent.rows).map { row in
            let start = row * set.strides[plane]
            return Array(set.planes[plane][start..<start + extent.rowBytes])
        }
    }
}

@Suite("Cropped frames")
struct CroppedFrameTests {
    private func numbered(_ size: PixelSize, _ format: PixelFormat) -> PixelBuffer {
        PixelBuffer(size: size, format: format) { planes, strides in
            for (number, plane) in planes.enumerated() {
                for index in plane.indices {
                    plane[index] = UInt8(
                        truncatingIfNeeded: index % strides[number] * 7 + index / strides[number] * 13 + number)
                }
            }
        }
    }

    @Test(
        "Every plane begins at the rectangle's corner, and an odd corner moves to the even number before it",
        arguments: [PixelFormat.i420, .nv12, .bgra, .argb],
        [(0, 0, 8, 8), (4, 6, 10, 6), (3, 5, 8, 8), (1, 1, 5, 7), (30, 20, 3, 1), (0, 20, 33, 1)])
    func planes(format: PixelFormat, corner: (x: Int, y: Int, width: Int, height: Int)) throws {
        let size = PixelSize(width: 33, height: 21)
        let whole = numbered(size, format)
        let rectangle = PixelRectangle(
            x: corner.x, y: corner.y, size: PixelSize(width: corner.width, height: corner.height))
        let frame = VideoFrame(buffer: whole, timestamp: .zero).cropped(to: rectangle, outputSize: rectangle.size)
        try frame.validate()
        let (x, y) = (corner.x & ~1, corner.y & ~1)
        for plane in 0..<format.planeCount {
            let before = format.planeExtent(plane, of: PixelSize(width: x, height: y))
            let extent = format.planeExtent(plane, of: rectangle.size)
            let expected = rows(whole, plane)[before.rows..<before.rows + extent.rows].map {
                Array($0[before.rowBytes..<before.rowBytes + extent.rowBytes])
            }
            #expect(rows(frame.buffer, plane) == expected)
        }
    }

    @Test("Damage is clipped to the rectangle and relative to its corner")
    func damage() {
        func rectangle(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> PixelRectangle {
            PixelRectangle(x: x, y: y, size: PixelSize(width: width, height: height))
        }
        let buffer = numbered(PixelSize(width: 40, height: 40), .bgra)
        func cropped(_ damage: [PixelRectangle]?, to crop: PixelRectangle) -> [PixelRectangle]? {
            VideoFrame(buffer: buffer, timestamp: .zero, damage: damage)
                .cropped(to: crop, outputSize: crop.size).damage
        }
        let crop = rectangle(10, 10, 20, 20)
        #expect(cropped(nil, to: crop) == nil)
        #expect(cropped([], to: crop) == [])
        #expect(cropped([rectangle(0, 0, 10, 10), rectangle(30, 30, 5, 5)], to: crop) == [])
        #expect(
            cropped([rectangle(5, 12, 10, 2), rectangle(29, 29, 11, 11)], to: crop)
                == [rectangle(0, 2, 5, 2), rectangle(19, 19, 1, 1)])
        // The corner really taken is the even one.
        #expect(cropped([rectangle(12, 12, 2, 2)], to: rectangle(11, 11, 20, 20)) == [rectangle(2, 2, 2, 2)])
        // Extreme rectangles.
        #expect(
            cropped([rectangle(.max, .max, .max, .max), rectangle(1, 1, .max, .max)], to: crop)
                == [rectangle(0, 0, 20, 20)])
        #expect(cropped([rectangle(.min, .min, .min, .min), rectangle(9, 9, -5, 5)], to: crop) == [])
    }

    @Test("A source delivers the middle of a frame without a copy")
    func throughSource() throws {
        let source = PushVideoSource(isScreencast: false)
        let log = FrameLog()
        source.add(log)
        source.adaptOutputFormat(width: 1280, height: 720, fps: 0)
        let whole = numbered(PixelSize(width: 1000, height: 1000), .nv12)
        source.capture(VideoFrame(buffer: whole, timestamp: .zero))
        let frame = try #require(log.frames.first)
        #expect(frame.size == PixelSize(width: 562, height: 1000))
        let first = frame.buffer.withPlanes { UInt(bitPattern: $0.planes[0].baseAddress) }
        #expect(first - whole.withPlanes { UInt(bitPattern: $0.planes[0].baseAddress) } == 218)
    }
}

@Suite("ExternalPixelBuffer")
struct ExternalPixelBufferTests {
    private final class Counter: Sendable {
        let count = Locked(0)
        func add() { count.withLock { $0 += 1 } }
        var value: Int { count.withLock { $0 } }
    }

    /// Memory that outlives every use of it in a test.
    private func memory(_ count: Int) -> UnsafeRawBufferPointer {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        for index in memory.indices { memory[index] = UInt8(truncatingIfNeeded: index) }
        return UnsafeRawBufferPointer(memory)
    }

    @Test("Rows are a stride apart, and the memory is released once, with the last reference")
    func wraps() throws {
        let released = Counter()
        // The last row needs no stride's worth of memory.
        let bytes = memory(100 * 2 + 12)
        defer { bytes.deallocate() }
        do {
            let buffer = try ExternalPixelBuffer(
                size: PixelSize(width: 3, height: 3), format: .argb, planes: [bytes], strides: [100]
            ) { released.add() }
            let frame = VideoFrame(buffer: buffer, timestamp: .zero)
            try frame.validate()
            let expected = (0..<3).map { row in (0..<12).map { UInt8(row * 100 + $0) } }
            #expect(rows(frame.buffer, 0) == expected)
            let kept = frame
            #expect(released.value == 0)
            withExtendedLifetime(kept) {}
        }
        #expect(released.value == 1)
    }

    @Test(
        "Memory that is too short or has another layout is rejected and not released",
        arguments: [
            (PixelFormat.bgra, 4, 4, [63], [16], VideoFrameError.planeTooShort(63, plane: 0, minimum: 64)),
            (.bgra, 4, 4, [64], [15], .stride(15, plane: 0, minimum: 16)),
            (.bgra, 4, 4, [64], [-16], .stride(-16, plane: 0, minimum: 16)),
            (.bgra, 4, 4, [64], [.max], .planeTooShort(64, plane: 0, minimum: .max)),
            (.i420, 4, 4, [16, 4], [4, 2, 2], .planeCount(2, format: .i420)),
            (.i420, 4, 4, [16, 4, 4], [4, 2], .planeCount(2, format: .i420)),
            (.i420, 5, 5, [25, 9, 8], [5, 3, 3], .planeTooShort(8, plane: 2, minimum: 9)),
            (.nv12, 5, 5, [25, 17], [5, 6], .planeTooShort(17, plane: 1, minimum: 18)),
            (.bgra, 0, 4, [64], [16], .size(PixelSize(width: 0, height: 4))),
            (.bgra, 4, 16_384, [64], [16], .size(PixelSize(width: 4, height: 16_384))),
            (.bgra, -1, 4, [64], [16], .size(PixelSize(width: -1, height: 4))),
        ] as [(PixelFormat, Int, Int, [Int], [Int], VideoFrameError)])
    func refuses(
        format: PixelFormat, width: Int, height: Int, lengths: [Int], strides: [Int], error: VideoFrameError
    ) {
        let released = Counter()
        let planes = lengths.map { memory($0) }
        defer { for plane in planes { plane.deallocate() } }
        #expect(throws: error) {
            _ = try ExternalPixelBuffer(
                size: PixelSize(width: width, height: height), format: format, planes: planes, strides: strides
            ) { released.add() }
        }
        #expect(released.value == 0)
        #expect(!error.description.isEmpty)
    }
}
