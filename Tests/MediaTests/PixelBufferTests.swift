import RTCShareMedia
import Testing

@Suite("PixelBuffer and its pool")
struct PixelBufferTests {
    private let size = PixelSize(width: 33, height: 17)

    private func address(_ buffer: PixelBuffer) -> UInt {
        buffer.withPlanes { UInt(bitPattern: $0.planes[0].baseAddress) }
    }

    private func make(
        _ pool: PixelBufferPool, _ value: UInt8, size: PixelSize? = nil, format: PixelFormat = .i420
    ) -> PixelBuffer {
        pool.makeBuffer(size: size ?? self.size, format: format) { planes, _ in
            for plane in planes { plane.initializeMemory(as: UInt8.self, repeating: value) }
        }
    }

    @Test(
        "Planes have room for the frame, with chroma rounded up and rows aligned",
        arguments: [PixelFormat.i420, .nv12, .bgra])
    func planes(format: PixelFormat) {
        let buffer = PixelBuffer(size: size, format: format) { planes, _ in
            for (index, plane) in planes.enumerated() {
                plane.initializeMemory(as: UInt8.self, repeating: UInt8(index + 1))
            }
        }
        buffer.withPlanes { set in
            #expect(set.planes.count == format.planeCount)
            for plane in 0..<format.planeCount {
                let extent = format.planeExtent(plane, of: size)
                #expect(set.strides[plane] >= extent.rowBytes && set.strides[plane] % 64 == 0)
                #expect(set.planes[plane].count == set.strides[plane] * extent.rows)
                #expect(set.planes[plane].allSatisfy { $0 == UInt8(plane + 1) })
                #expect(UInt(bitPattern: set.planes[plane].baseAddress) % 64 == 0)
            }
        }
        #expect(PixelFormat.i420.planeExtent(1, of: size) == (17, 9))
        #expect(PixelFormat.nv12.planeExtent(1, of: size) == (34, 9))
    }

    @Test("A fill that fails frees the memory and rethrows its error")
    func failingFill() {
        struct Failure: Error {}
        #expect(throws: Failure.self) {
            _ = try PixelBuffer(size: size, format: .i420) { _, _ in throw Failure() }
        }
    }

    @Test("Memory that is no longer referenced is reused")
    func reuse() {
        let pool = PixelBufferPool()
        var seen: Set<UInt> = []
        for round in 0..<20 { seen.insert(address(make(pool, UInt8(round)))) }
        #expect(seen.count == 1)
    }

    @Test("Memory that is referenced is not reused, also beyond the pool's capacity")
    func held() {
        let pool = PixelBufferPool(capacity: 2)
        let held = (0..<6).map { make(pool, UInt8($0)) }
        _ = make(pool, 99)
        #expect(Set(held.map(address)).count == 6)
        for (value, buffer) in held.enumerated() {
            let isUntouched = buffer.withPlanes { $0.planes[0].allSatisfy { $0 == UInt8(value) } }
            #expect(isUntouched)
        }
    }

    @Test("Another size or layout gets new memory, which replaces unused memory")
    func otherSize() {
        let pool = PixelBufferPool(capacity: 2)
        for format in [PixelFormat.i420, .nv12, .bgra, .i420] {
            let small = make(pool, 1, format: format)
            let large = make(pool, 2, size: PixelSize(width: 64, height: 64), format: format)
            #expect(small.size == size && small.format == format)
            #expect(large.size == PixelSize(width: 64, height: 64))
            #expect(address(small) != address(large))
        }
        let last = address(make(pool, 3))
        #expect(address(make(pool, 4)) == last)
    }
}
