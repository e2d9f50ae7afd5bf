import RTCShareMedia
import Testing

@testable import RTCShareCapture

@Suite("FramePool")
struct FramePoolTests {
    private func frame(_ pool: FramePool, _ size: PixelSize, _ value: UInt8) throws -> any VideoFrameBuffer {
        try pool.buffer(size: size, format: .i420) { planes, _ in
            for plane in planes { plane.initializeMemory(as: UInt8.self, repeating: value) }
        }
    }

    private func address(_ buffer: any VideoFrameBuffer) -> UInt {
        buffer.withPlanes { UInt(bitPattern: $0.planes[0].baseAddress) }
    }

    @Test("Memory is reused after its frame is released, and never before")
    func again() throws {
        let pool = FramePool()
        let size = PixelSize(width: 33, height: 17)
        var addresses: Set<UInt> = []
        for value in 0..<10 { addresses.insert(address(try frame(pool, size, UInt8(value)))) }
        #expect(addresses.count == 1)
        let held = try (0..<6).map { try frame(pool, size, UInt8($0)) }
        #expect(Set(held.map(address)).count == 6)
        for (value, buffer) in held.enumerated() {
            #expect(buffer.size == size && buffer.format == .i420)
            buffer.withPlanes { set in
                #expect(set.planes.count == 3 && set.planes.allSatisfy { $0.allSatisfy { $0 == UInt8(value) } })
            }
        }
    }

    @Test("Another size gets memory of its own length, whatever is released meanwhile")
    func otherSize() throws {
        let pool = FramePool()
        for side in [16, 64, 32, 64, 16] {
            let size = PixelSize(width: side, height: side)
            let small = try frame(pool, PixelSize(width: 2, height: 2), 1)
            let buffer = try frame(pool, size, UInt8(side))
            #expect(buffer.size == size)
            buffer.withPlanes { set in #expect(set.planes[0].count == 64 * side && set.planes[0][64 * side - 1] == side)
            }
            withExtendedLifetime(small) {}
        }
    }
}

@Suite("EventTypes")
struct EventTypesTests {
    @Test("A set has the types that were inserted and no others, however the event was sent")
    func members() {
        for type in UInt8(0)..<128 {
            for bit: UInt8 in [0, 0x80] {
                var types = EventTypes()
                types.insert(type | bit)
                #expect((UInt8(0)..<128).filter(types.contains) == [type])
                var other = EventTypes()
                #expect(types.isDisjoint(with: other))
                other.insert(type ^ 0x41)
                #expect(types.isDisjoint(with: other))
                other.insert(type)
                #expect(!types.isDisjoint(with: other))
            }
        }
    }
}
