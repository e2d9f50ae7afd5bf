import RTCShareMedia
import Testing

@testable import RTCShareVideoCoding

private func rows(_ picture: any VideoFrameBuffer, _ index: Int) -> [[UInt8]] {
    picture.withPlanes { set in
        let extent = picture.format.planeExtent(index, of: picture.size)
        return (0..<extent.rows).map { row in
            Array(set.planes[index][row * set.strides[index]..<row * set.strides[index] + extent.rowBytes])
        }
    }
}

/// The same picture of grey squares in every layout: what is grey has the same luma in all, and neutral chroma.
private func squares(_ size: PixelSize, _ format: PixelFormat) -> PixelBuffer {
    func grey(_ x: Int, _ y: Int) -> Double { Double((x / 8 * 37 + y / 8 * 59) % 256) }
    return PixelBuffer(size: size, format: format) { planes, strides in
        for plane in planes { plane.initializeMemory(as: UInt8.self, repeating: 128) }
        for y in 0..<size.height {
            for x in 0..<size.width {
                switch format {
                case .bgra, .argb:
                    let start = y * strides[0] + x * 4
                    for channel in 0..<4 { planes[0][start + channel] = UInt8(grey(x, y)) }
                    // The byte that is not looked at.
                    planes[0][start + (format == .bgra ? 3 : 0)] = 77
                case .i420, .nv12:
                    planes[0][y * strides[0] + x] = UInt8((16 + grey(x, y) * 219 / 255).rounded())
                }
            }
        }
    }
}

@Suite("VideoConverter with every pixel format")
struct ConverterFormatTests {
    @Test(
        "ARGB colors are converted as BT.601 with limited range specifies",
        arguments: [
            // unused, red, green, blue → luma, blue chroma, red chroma
            ([0, 255, 255, 255], [235, 128, 128]), ([255, 0, 0, 0], [16, 128, 128]), ([7, 255, 0, 0], [82, 90, 240]),
            ([9, 0, 255, 0], [145, 54, 34]), ([0, 0, 0, 255], [41, 240, 110]),
        ] as [([UInt8], [Int])])
    func argb(colour: [UInt8], yuv: [Int]) throws {
        let size = PixelSize(width: 34, height: 18)
        let source = PixelBuffer(size: size, format: .argb) { planes, _ in
            for index in planes[0].indices { planes[0][index] = colour[index % 4] }
        }
        let result = try VideoConverter().convert(source, to: size)
        for plane in 0..<3 {
            #expect(rows(result, plane).joined().allSatisfy { abs(Int($0) - yuv[plane]) <= 1 })
        }
    }

    @Test(
        "A crop at the requested size is the same for every pixel format",
        arguments: [PixelFormat.i420, .nv12, .bgra, .argb],
        [
            (1000, 1000, 1280, 720, OutputFormatMode.crop), (320, 300, 160, 90, .crop), (101, 75, 64, 64, .crop),
            (101, 75, 64, 64, .fit), (320, 180, 160, 90, .fit), (320, 180, 640, 360, .fit),
        ])
    func cropped(
        format: PixelFormat,
        sizes: (width: Int, height: Int, toWidth: Int, toHeight: Int, mode: OutputFormatMode)
    ) throws {
        let size = PixelSize(width: sizes.width, height: sizes.height)
        var adapter = VideoFormatAdapter()
        adapter.setOutputFormat(width: sizes.toWidth, height: sizes.toHeight, fps: 0, mode: sizes.mode)
        let adapted = adapter.adapt(size, timestamp: .zero)
        let adaptation = try #require(adapted)
        let source = PushVideoSource()
        let sink = SnapshotSink()
        source.add(sink)
        source.adaptOutputFormat(width: sizes.toWidth, height: sizes.toHeight, fps: 0, mode: sizes.mode)
        source.capture(VideoFrame(buffer: squares(size, format), timestamp: .zero))
        let frame = try #require(sink.frame)
        #expect(frame.size == adaptation.crop.size && frame.outputSize == adaptation.outputSize)
        let result = try VideoConverter().convert(frame.buffer, to: frame.outputSize)
        #expect(result.size == frame.outputSize && result.format == .i420)

        // The same by hand: the luma of the part, copied, and then scaled.
        let crop = adaptation.crop
        let luma = rows(squares(size, .i420), 0)[crop.y..<crop.y + crop.size.height]
            .map { Array($0[crop.x..<crop.x + crop.size.width]) }
        let copy = PixelBuffer(size: crop.size, format: .i420) { planes, strides in
            for plane in planes { plane.initializeMemory(as: UInt8.self, repeating: 128) }
            for (row, bytes) in luma.enumerated() {
                for (column, byte) in bytes.enumerated() { planes[0][row * strides[0] + column] = byte }
            }
        }
        let expected = rows(try VideoConverter().convert(copy, to: frame.outputSize), 0)
        let difference = zip(rows(result, 0).joined(), expected.joined()).map { abs(Int($0) - Int($1)) }.max()
        #expect(difference ?? 255 <= 1)
        for plane in 1..<3 { #expect(rows(result, plane).joined().allSatisfy { abs(Int($0) - 128) <= 1 }) }
    }

    @Test(
        "A crop is rotated too", arguments: [PixelFormat.i420, .nv12, .bgra, .argb],
        VideoRotation.allCases)
    func turned(format: PixelFormat, rotation: VideoRotation) throws {
        let source = PushVideoSource()
        let sink = SnapshotSink()
        source.add(sink)
        source.adaptOutputFormat(width: 90, height: 160, fps: 0, mode: .crop)
        source.capture(VideoFrame(buffer: squares(PixelSize(width: 320, height: 300), format), timestamp: .zero))
        let frame = try #require(sink.frame)
        let upright = try VideoConverter().convert(frame.buffer, to: frame.outputSize)
        let size =
            rotation.swapsSides
            ? PixelSize(width: frame.outputSize.height, height: frame.outputSize.width) : frame.outputSize
        let turned = try VideoConverter().convert(frame.buffer, to: size, rotation: rotation)
        #expect(turned.size == size)
        let (one, other) = (rows(upright, 0), rows(turned, 0))
        let corner = one[0][0]
        switch rotation {
        case .upright: #expect(other[0][0] == corner)
        case .quarter: #expect(other[0][size.width - 1] == corner)
        case .half: #expect(other[size.height - 1][size.width - 1] == corner)
        case .threeQuarters: #expect(other[size.height - 1][0] == corner)
        }
    }

    @Test("Wrapped memory is read by its own strides", arguments: [PixelFormat.i420, .nv12, .bgra, .argb])
    func wrapped(format: PixelFormat) throws {
        let size = PixelSize(width: 37, height: 23)
        let original = squares(size, format)
        var memories: [UnsafeMutableRawBufferPointer] = []
        var strides: [Int] = []
        for plane in 0..<format.planeCount {
            let extent = format.planeExtent(plane, of: size)
            let stride = extent.rowBytes + 29
            let memory = UnsafeMutableRawBufferPointer.allocate(
                byteCount: stride * (extent.rows - 1) + extent.rowBytes, alignment: 1)
            memory.initializeMemory(as: UInt8.self, repeating: 255)
            for (row, bytes) in rows(original, plane).enumerated() {
                for (column, byte) in bytes.enumerated() { memory[row * stride + column] = byte }
            }
            memories.append(memory)
            strides.append(stride)
        }
        defer { for memory in memories { memory.deallocate() } }
        let buffer = try ExternalPixelBuffer(
            size: size, format: format, planes: memories.map { UnsafeRawBufferPointer($0) }, strides: strides,
            release: {})
        for target in [size, PixelSize(width: 18, height: 12)] {
            let one = try VideoConverter().convert(buffer, to: target)
            let other = try VideoConverter().convert(original, to: target)
            for plane in 0..<3 { #expect(rows(one, plane) == rows(other, plane)) }
        }
    }
}
