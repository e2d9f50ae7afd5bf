import RTCShareMedia
import Testing

@testable import RTCShareCapture

@Suite("Frames of a desktop's cast")
struct CastPicturesTests {
    /// A screen of a desktop, with the damage that it reports.
    private struct Desktop {
        var size = PixelSize(width: 0, height: 0)
        var pixels: [UInt32] = []
        var content = CastContent(size: PixelSize(width: 0, height: 0), stride: 0, rows: 0)
        /// The bytes after each row.
        let padding = 3

        mutating func resize(to size: PixelSize) {
            self.size = size
            pixels = Array(repeating: 0x00FF_FFFF, count: (size.width + padding) * size.height)
            content.size = size
            content.stride = (size.width + padding) * 4
            content.rows = size.height
            content.generation += 1
        }

        mutating func fill(_ part: PixelRectangle, _ value: UInt32) {
            for y in part.y..<part.y + part.size.height {
                for x in part.x..<part.x + part.size.width { pixels[y * (size.width + padding) + x] = value }
            }
        }

        /// Returns the expected frame by rows, made pixel by pixel.
        func expected(_ pointer: (place: PixelPosition, colour: UInt32)?) -> [[UInt32]] {
            guard let area = content.area else { return [] }
            var rows = (area.y..<area.y + area.size.height).map { y in
                (area.x..<area.x + area.size.width).map { x -> UInt32 in
                    let pixel = pixels[y * (size.width + padding) + x]
                    return content.isRGB ? pixel & 0xFF00 | pixel << 16 & 0xFF_0000 | pixel >> 16 & 0xFF : pixel
                }
            }
            // With a margin, because a pointer outside the frame may extend into it.
            let margin = 3
            var marks = Array(
                repeating: Array(repeating: false, count: area.size.width + 2 * margin),
                count: area.size.height + 2 * margin)
            if let pointer {
                let (x, y) = (pointer.place.x - area.x + margin, pointer.place.y - area.y + margin)
                if marks.indices.contains(y), marks[0].indices.contains(x) { marks[y][x] = true }
            }
            func turned<Value>(_ rows: [[Value]]) -> [[Value]] {
                var rows = content.turn.isMirrored ? rows.map { Array($0.reversed()) } : rows
                for _ in 0..<content.turn.quarterTurns {
                    rows = rows[0].indices.reversed().map { column in rows.map { $0[column] } }
                }
                return rows
            }
            (rows, marks) = (turned(rows), turned(marks))
            for y in marks.indices {
                for x in marks[y].indices where marks[y][x] {
                    // The pointer is three by two, with its second pixel pointing.
                    for (row, column) in [(0, -1), (0, 0), (0, 1), (1, -1), (1, 0), (1, 1)] {
                        let (x, y) = (x - margin + column, y - margin + row)
                        guard rows.indices.contains(y), rows[0].indices.contains(x) else { continue }
                        rows[y][x] = pointer?.colour ?? 0
                    }
                }
            }
            return rows.map { $0.map { $0 & 0xFF_FFFF } }
        }
    }

    private static func shape(_ colour: UInt32) -> PointerShape {
        PointerShape(
            size: PixelSize(width: 3, height: 2), hotspot: PixelPosition(x: 1, y: 0),
            pixels: Array(repeating: colour | 0xFF00_0000, count: 6))
    }

    private static func rows(_ frame: VideoFrame) -> [[UInt32]] {
        frame.buffer.withPlanes { planes in
            (0..<frame.size.height).map { y in
                (0..<frame.size.width).map { x in
                    planes.planes[0].loadUnaligned(fromByteOffset: y * planes.strides[0] + x * 4, as: UInt32.self)
                        & 0xFF_FFFF
                }
            }
        }
    }

    @Test(
        "A frame equals the screen and changes only within its damage, whatever damage the desktop reports or omits",
        arguments: UInt64(1)...12)
    func anything(seed: UInt64) throws {
        var state = seed
        func random(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }
        var desktop = Desktop()
        desktop.resize(to: PixelSize(width: 150, height: 70))
        var pictures = CastPictures()
        var shadow: [[UInt32]] = []
        var pointer: (place: PixelPosition, colour: UInt32)?
        var sequence: UInt64 = 1
        // The changes since the last reported frame: if frames are lost, the sequence number shows it.
        var untold: [PixelRectangle] = []
        for _ in 0..<400 {
            switch random(40) {
            case 0: desktop.resize(to: PixelSize(width: 20 + random(150), height: 20 + random(90)))
            case 1:
                let part = PixelRectangle(
                    x: random(10), y: random(10), size: PixelSize(width: 8 + random(99), height: 9))
                desktop.content.crop = random(2) == 0 ? part : nil
            case 2: desktop.content.turn = PictureTurn(waylandTransform: UInt32(random(8)))
            case 3:
                desktop.content.isRGB.toggle()
                desktop.content.generation += 1
            case 4: (sequence, untold) = (sequence + 1, [])
            default: break
            }
            let count = random(3)
            for _ in 0..<count {
                let (x, y) = (random(desktop.size.width), random(desktop.size.height))
                let part = PixelRectangle(
                    x: x, y: y,
                    size: PixelSize(
                        width: 1 + random(min(40, desktop.size.width - x)),
                        height: 1 + random(min(30, desktop.size.height - y))))
                desktop.fill(part, UInt32(random(1 << 24)))
                untold.append(part)
            }
            desktop.content.pointer = nil
            if random(3) == 0 {
                pointer =
                    random(6) == 0
                    ? nil
                    : (
                        PixelPosition(x: random(170) - 10, y: random(90) - 10),
                        pointer?.colour ?? UInt32(random(1 << 24))
                    )
                if random(4) == 0 { pointer?.colour = UInt32(random(1 << 24)) }
                desktop.content.pointer = CastPointer(
                    place: pointer?.place, shape: pointer.map { .some(Self.shape($0.colour)) } ?? .none)
            }
            let isPointerOnly = count == 0 && untold.isEmpty && random(2) == 0
            try desktop.pixels.withUnsafeBytes { bytes in
                var content = desktop.content
                content.pixels = isPointerOnly ? nil : bytes
                sequence += 1
                content.sequence = sequence
                content.damage = random(3) == 0 ? nil : untold
                if !isPointerOnly { untold = [] }
                _ = pictures.receive(content)
                // Not every frame is read, but its damage counts.
                guard random(4) > 0, content.pixels != nil || !pictures.hasPixels else { return }
                let frame = try pictures.frame(
                    of: content.pixels == nil ? nil : content, evenIfOld: random(10) == 0, now: .zero)
                guard let frame else { return }
                let rows = Self.rows(frame)
                if let damage = frame.damage {
                    for part in damage {
                        for y in part.y..<part.y + part.size.height {
                            for x in part.x..<part.x + part.size.width { shadow[y][x] = rows[y][x] }
                        }
                    }
                } else {
                    shadow = rows
                }
                #expect(shadow == rows)
                // A buffer with only a pointer has no crop or rotation: those of the last frame apply.
                if content.pixels != nil { #expect(rows == desktop.expected(pointer)) }
            }
        }
    }

    @Test(
        "Unchanged parts cost nothing, and changed parts are damage even if the desktop reports none or everything",
        arguments: [nil, [PixelRectangle(x: 0, y: 0, size: PixelSize(width: 640, height: 480))]]
            as [[PixelRectangle]?])
    func comparison(reported: [PixelRectangle]?) throws {
        var desktop = Desktop()
        desktop.resize(to: PixelSize(width: 640, height: 480))
        desktop.content.damage = reported
        var pictures = CastPictures()
        func frame() throws -> VideoFrame? {
            try desktop.pixels.withUnsafeBytes { bytes in
                var content = desktop.content
                content.pixels = bytes
                let hasPixels = pictures.receive(content)
                #expect(hasPixels)
                return try pictures.frame(of: content, evenIfOld: false, now: .zero)
            }
        }
        let first = try frame()
        #expect(first != nil && first?.damage == nil)
        let second = try frame()
        #expect(second == nil)
        desktop.fill(PixelRectangle(x: 100, y: 50, size: PixelSize(width: 10, height: 10)), 0x123456)
        let damage = try #require(try frame()?.damage)
        #expect(damage == [PixelRectangle(x: 96, y: 48, size: PixelSize(width: 16, height: 16))])
        let last = try frame()
        #expect(last == nil)
    }

    @Test("Pixels that change to the colors of the pointer above them are current when it leaves")
    func underPointer() throws {
        var desktop = Desktop()
        desktop.resize(to: PixelSize(width: 640, height: 480))
        var pictures = CastPictures()
        func frame(pointer place: PixelPosition?) throws -> VideoFrame? {
            try desktop.pixels.withUnsafeBytes { bytes in
                var content = desktop.content
                content.pixels = bytes
                content.pointer = CastPointer(place: place, shape: .some(Self.shape(0x123456)))
                _ = pictures.receive(content)
                return try pictures.frame(of: content, evenIfOld: false, now: .zero)
            }
        }
        _ = try frame(pointer: PixelPosition(x: 100, y: 50))
        desktop.fill(PixelRectangle(x: 99, y: 50, size: PixelSize(width: 3, height: 2)), 0xFF12_3456)
        _ = try frame(pointer: PixelPosition(x: 100, y: 50))
        let last = try #require(try frame(pointer: nil))
        #expect(Self.rows(last) == desktop.expected(nil))
    }

    @Test("Buffers that only carry the pointer keep the reported damage, unless a buffer between them was lost")
    func pointerBuffers() throws {
        var desktop = Desktop()
        desktop.resize(to: PixelSize(width: 640, height: 480))
        var pictures = CastPictures()
        func frame(_ sequence: UInt64) throws -> VideoFrame? {
            try desktop.pixels.withUnsafeBytes { bytes in
                var content = desktop.content
                (content.pixels, content.sequence) = (bytes, sequence)
                _ = pictures.receive(content)
                return try pictures.frame(of: content, evenIfOld: false, now: .zero)
            }
        }
        func movePointer(_ sequence: UInt64?) {
            var content = desktop.content
            (content.sequence, content.pointer) = (sequence, CastPointer(place: PixelPosition(x: 9, y: 9)))
            let hasPixels = pictures.receive(content)
            #expect(!hasPixels)
        }
        _ = try frame(1)
        let part = PixelRectangle(x: 101, y: 51, size: PixelSize(width: 9, height: 9))
        desktop.content.damage = [part]
        movePointer(2)
        movePointer(3)
        desktop.fill(part, 0x123456)
        let reported = try frame(4)
        #expect(reported?.damage == [part])
        // A buffer that was lost before, or as corrupted as to have no number, may have contained other changes.
        let numbers: [(pointer: UInt64?, next: UInt64)] = [(6, 7), (nil, 9)]
        for sequences in numbers {
            movePointer(sequences.pointer)
            desktop.fill(PixelRectangle(x: 300, y: 300, size: PixelSize(width: 4, height: 4)), UInt32(sequences.next))
            let compared = try frame(sequences.next)
            #expect(compared?.damage == [PixelRectangle(x: 288, y: 288, size: PixelSize(width: 16, height: 16))])
        }
    }

    @Test("The changes of a lost buffer are in the next one, however little damage that reports")
    func lostBuffer() throws {
        var desktop = Desktop()
        desktop.resize(to: PixelSize(width: 64, height: 64))
        var pictures = CastPictures()
        try desktop.pixels.withUnsafeBytes { bytes in
            desktop.content.pixels = bytes
            _ = pictures.receive(desktop.content)
            _ = try pictures.frame(of: desktop.content, evenIfOld: false, now: .zero)
        }
        desktop.fill(PixelRectangle(x: 0, y: 0, size: PixelSize(width: 16, height: 16)), 1)
        desktop.content.damage = [PixelRectangle(x: 0, y: 0, size: PixelSize(width: 16, height: 16))]
        _ = pictures.receive(desktop.content)
        pictures.losePixels()
        #expect(!pictures.hasChange)
        desktop.content.damage = [PixelRectangle(x: 32, y: 32, size: PixelSize(width: 4, height: 4))]
        try desktop.pixels.withUnsafeBytes { bytes in
            desktop.content.pixels = bytes
            _ = pictures.receive(desktop.content)
            let frame = try #require(try pictures.frame(of: desktop.content, evenIfOld: false, now: .zero))
            #expect(Self.rows(frame) == desktop.expected(nil))
        }
    }

    @Test("Changes during a pause of the desktop are in the next frame, although numbers and damage do not show them")
    func pause() throws {
        var desktop = Desktop()
        desktop.resize(to: PixelSize(width: 64, height: 64))
        var pictures = CastPictures()
        func frame(_ sequence: UInt64) throws -> VideoFrame? {
            try desktop.pixels.withUnsafeBytes { bytes in
                var content = desktop.content
                (content.pixels, content.sequence) = (bytes, sequence)
                _ = pictures.receive(content)
                return try pictures.frame(of: content, evenIfOld: false, now: .zero)
            }
        }
        #expect(!pictures.hasFrame)
        _ = try frame(1)
        #expect(pictures.hasFrame)
        pictures.loseTrack()
        desktop.fill(PixelRectangle(x: 0, y: 0, size: PixelSize(width: 16, height: 16)), 1)
        desktop.content.damage = [PixelRectangle(x: 32, y: 32, size: PixelSize(width: 4, height: 4))]
        let next = try #require(try frame(2))
        #expect(Self.rows(next) == desktop.expected(nil))
    }

    @Test("Changes while no frame is taken are kept in a short list and are in the next frame")
    func untakenChanges() throws {
        var desktop = Desktop()
        desktop.resize(to: PixelSize(width: 640, height: 480))
        var pictures = CastPictures()
        try desktop.pixels.withUnsafeBytes { bytes in
            desktop.content.pixels = bytes
            _ = pictures.receive(desktop.content)
            _ = try pictures.frame(of: desktop.content, evenIfOld: false, now: .zero)
            for turn in 0..<10_000 {
                desktop.content.damage = [
                    PixelRectangle(x: 10 + turn % 7 * 20, y: 20 + turn % 5 * 20, size: PixelSize(width: 4, height: 4))
                ]
                _ = pictures.receive(desktop.content)
                #expect(pictures.changes?.count ?? 0 <= 32)
            }
            let frame = try #require(try pictures.frame(of: desktop.content, evenIfOld: false, now: .zero))
            let changed = PixelRectangle(x: 10, y: 20, size: PixelSize(width: 124, height: 84))
            #expect(frame.damage?.allSatisfy { $0.union(changed) == changed } == true)
        }
    }
}
