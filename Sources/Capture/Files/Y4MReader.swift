internal import Glibc
import RTCShareCYUV
import RTCShareMedia

/// A source of bytes.
protocol ByteInput: Sendable {
    /// Reads into the beginning of `buffer`, and returns the number of bytes, 0 at the end. Returns early if `signal`
    /// is raised; calls `whileSilent` periodically while there is nothing to read.
    func read(
        into buffer: UnsafeMutableRawBufferPointer, signal: StopSignal?, whileSilent: () -> Void
    ) throws(CaptureError) -> Int
    /// Returns to the first byte. Returns false if that is not possible.
    func rewind() -> Bool
}

/// Reads y4m: first the header, then frame by frame.
struct Y4MReader: Sendable {
    let header: Y4MHeader
    /// The size of the shared frames: without an odd last column and row, and with square pixels.
    let size: PixelSize
    private let input: any ByteInput
    private let path: String
    private let headerLength: Int
    private var offset: Int
    private var staging: [UInt8]
    /// The memory of frames whose pixels are not square yet.
    private let unscaled = FramePool()

    private static let maximumLine = 1024
    private static let frameMagic = Array("FRAME".utf8)

    /// Reads the header of `input`, which has the name `path` in errors.
    init(input: any ByteInput, path: String) throws(CaptureError) {
        var offset = 0
        // The magic by itself first, so that another file is recognized as such, however long its first line is.
        let magic = Array(Y4MHeader.magic.utf8)
        var line = [UInt8](repeating: 0, count: magic.count)
        let got = try Self.fill(&line, from: input, signal: nil)
        guard got > 0 else {
            throw .invalidY4M(
                path: path, offset: 0, problem: "it is empty", remedy: "give a y4m file with at least one frame")
        }
        offset = got
        if line == magic {
            line += try Self.lineRest(of: input, path: path, offset: &offset, signal: nil)
        }
        do throws(Y4MHeader.Fault) {
            header = try Y4MHeader(line: line)
        } catch {
            throw .invalidY4M(path: path, offset: error.offset, problem: error.problem, remedy: error.remedy)
        }
        self.input = input
        self.path = path
        self.offset = offset
        headerLength = offset
        size = header.squareSize
        staging = [UInt8](repeating: 0, count: header.frameLength)
    }

    /// Returns to the first frame. Returns false if the input can't.
    mutating func rewind() -> Bool {
        guard input.rewind() else { return false }
        var line = [UInt8](repeating: 0, count: headerLength)
        guard let got = try? Self.fill(&line, from: input, signal: nil), got == headerLength else { return false }
        offset = headerLength
        return true
    }

    /// Returns the next frame; nil at the end, or if `signal` was raised. Calls `whileSilent` periodically while there
    /// is no input.
    mutating func next(
        from pool: FramePool, signal: StopSignal?, whileSilent: () -> Void = {}
    ) throws(CaptureError) -> (any VideoFrameBuffer)? {
        let frameStart = offset
        var magic = [UInt8](repeating: 0, count: Self.frameMagic.count)
        let got = try Self.fill(&magic, from: input, signal: signal, whileSilent)
        if signal?.isRaised == true || got == 0 { return nil }
        guard got == magic.count else { throw truncated(at: offset + got, frameStart) }
        guard magic == Self.frameMagic else {
            throw .invalidY4M(
                path: path, offset: frameStart, problem: "a frame should begin here with FRAME, and does not",
                remedy: "write the file again, because it is damaged")
        }
        offset += got
        do throws(CaptureError) {
            _ = try Self.lineRest(of: input, path: path, offset: &offset, signal: signal, whileSilent)
        } catch {
            if signal?.isRaised == true { return nil }
            throw error
        }
        let length = try Self.fill(&staging, from: input, signal: signal, whileSilent)
        if signal?.isRaised == true { return nil }
        guard length == staging.count else { throw truncated(at: offset + length, frameStart) }
        offset += length
        if header.isFullRange { limitRange() }
        let whole = PixelSize(width: header.size.width & ~1, height: header.size.height & ~1)
        let isSquare = whole == size
        let picture = try (isSquare ? pool : unscaled).buffer(size: whole, format: .i420) { planes, strides in
            convert(planes, strides)
        }
        return isSquare ? picture : try scaled(picture, from: pool)
    }

    private func scaled(
        _ picture: any VideoFrameBuffer, from pool: FramePool
    ) throws(CaptureError) -> any VideoFrameBuffer {
        try pool.buffer(size: size, format: .i420) { planes, strides in
            let targets = planes.map { $0.baseAddress?.assumingMemoryBound(to: UInt8.self) }
            picture.withPlanes { set in
                let sources = set.planes.map { $0.baseAddress?.assumingMemoryBound(to: UInt8.self) }
                _ = I420Scale(
                    sources[0], Int32(set.strides[0]), sources[1], Int32(set.strides[1]), sources[2],
                    Int32(set.strides[2]), Int32(picture.size.width), Int32(picture.size.height), targets[0],
                    Int32(strides[0]), targets[1], Int32(strides[1]), targets[2], Int32(strides[2]), Int32(size.width),
                    Int32(size.height), kFilterBilinear)
            }
        }
    }

    private func truncated(at end: Int, _ frameStart: Int) -> CaptureError {
        .invalidY4M(
            path: path, offset: end, problem: "it ends within the frame that begins at byte \(frameStart)",
            remedy: "write the file again, because its end is missing")
    }

    /// Reads until `bytes` are full or the input ends, and returns the number of bytes.
    private static func fill(
        _ bytes: inout [UInt8], from input: any ByteInput, signal: StopSignal?, _ whileSilent: () -> Void = {}
    ) throws(CaptureError) -> Int {
        try bytes.withUnsafeMutableBytes { buffer -> Result<Int, CaptureError> in
            var filled = 0
            var failure: CaptureError?
            do throws(CaptureError) {
                while filled < buffer.count {
                    let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
                    let got = try input.read(into: rest, signal: signal, whileSilent: whileSilent)
                    if got == 0 { break }
                    filled += got
                }
            } catch {
                failure = error
            }
            return failure.map { .failure($0) } ?? .success(filled)
        }.get()
    }

    /// Reads up to the end of the line, which it removes but does not return.
    private static func lineRest(
        of input: any ByteInput, path: String, offset: inout Int, signal: StopSignal?, _ whileSilent: () -> Void = {}
    ) throws(CaptureError) -> [UInt8] {
        var line: [UInt8] = []
        var byte: [UInt8] = [0]
        while line.count < maximumLine {
            guard try fill(&byte, from: input, signal: signal, whileSilent) == 1 else {
                throw .invalidY4M(
                    path: path, offset: offset, problem: "it ends within a line of the header",
                    remedy: "write the file again, because its end is missing")
            }
            offset += 1
            if byte[0] == 0x0A { return line }
            line.append(byte[0])
        }
        throw .invalidY4M(
            path: path, offset: offset, problem: "a header line is longer than \(maximumLine) bytes",
            remedy: "write the file again, because it is damaged")
    }

    /// Converts 0–255 to 16–235 for luma and 16–240 for chroma, the range of frames.
    private mutating func limitRange() {
        let luma = header.size.area
        let lumaTable = Self.table(span: 219)
        let chromaTable = Self.table(span: 224)
        staging.withUnsafeMutableBufferPointer { samples in
            for index in 0..<luma { samples[index] = lumaTable[Int(samples[index])] }
            for index in luma..<samples.count { samples[index] = chromaTable[Int(samples[index])] }
        }
    }

    private static func table(span: Int) -> [UInt8] {
        (0...255).map { (value: Int) -> UInt8 in UInt8(16 + (value * span + 127) / 255) }
    }

    private func convert(_ planes: [UnsafeMutableRawBufferPointer], _ strides: [Int]) {
        let chroma = header.chromaSize
        let (lumaStride, chromaStride) = (Int32(header.size.width), Int32(chroma.width))
        let (width, height) = (Int32(header.size.width & ~1), Int32(header.size.height & ~1))
        let targets = planes.map { $0.baseAddress?.assumingMemoryBound(to: UInt8.self) }
        let pitches = strides.map { Int32($0) }
        staging.withUnsafeBufferPointer { samples in
            let luma = samples.baseAddress
            let blue = luma?.advanced(by: header.size.area)
            let red = blue?.advanced(by: chroma.area)
            switch header.sampling {
            case .i420:
                I420Copy(
                    luma, lumaStride, blue, chromaStride, red, chromaStride, targets[0], pitches[0], targets[1],
                    pitches[1], targets[2], pitches[2], width, height)
            case .i422:
                I422ToI420(
                    luma, lumaStride, blue, chromaStride, red, chromaStride, targets[0], pitches[0], targets[1],
                    pitches[1], targets[2], pitches[2], width, height)
            case .i444:
                I444ToI420(
                    luma, lumaStride, blue, chromaStride, red, chromaStride, targets[0], pitches[0], targets[1],
                    pitches[1], targets[2], pitches[2], width, height)
            case .luma:
                I400ToI420(
                    luma, lumaStride, targets[0], pitches[0], targets[1], pitches[1], targets[2], pitches[2], width,
                    height)
            }
        }
    }
}
