package import RTCShareMedia

/// A VP8 frame in an IVF file.
package struct IVFFrame: Sendable, Hashable {
    /// The bitstream.
    package let data: [UInt8]
    /// Its time since the first frame.
    package let timestamp: Duration

    /// A frame with its time.
    package init(data: [UInt8], timestamp: Duration) {
        self.data = data
        self.timestamp = timestamp
    }
}

enum IVF {
    static let headerLength = 32
    static let frameHeaderLength = 12
    /// Ticks a second: RTP's clock for video.
    static let timebase = 90_000
    /// More than any picture that VP8 can hold takes.
    static let largestFrame = 64 << 20
}

/// Writes VP8 frames to an IVF file, which vpxdec, ffmpeg and browsers' tools read.
///
/// The file is readable at every moment; `close` puts in the number of frames. Used from one thread at a time.
package final class IVFWriter {
    private let file: BufferedFile
    private var start: Duration?
    private var lastTicks = -1
    /// How many frames were written.
    package private(set) var frameCount = 0

    /// Makes the file, or empties the one that is there. `size` is what players show first; key frames can change it.
    /// Times in the file count from `start`, or from the first frame's where that is nil.
    package init(path: String, size: PixelSize, start: Duration? = nil) throws(MediaFileError) {
        guard (1...0xFFFF).contains(size.width), (1...0xFFFF).contains(size.height) else {
            throw .unsuitablePicture(path: path, reason: "IVF's header can't say \(size)")
        }
        self.start = start
        file = try BufferedFile(writing: path)
        var header = Array("DKIF".utf8)
        header.appendLittleEndian(0 as UInt16)
        header.appendLittleEndian(UInt16(IVF.headerLength))
        header += Array("VP80".utf8)
        header.appendLittleEndian(UInt16(size.width))
        header.appendLittleEndian(UInt16(size.height))
        header.appendLittleEndian(UInt32(IVF.timebase))
        header.appendLittleEndian(1 as UInt32)
        header.appendLittleEndian(0 as UInt32)
        header.appendLittleEndian(0 as UInt32)
        try file.write(header)
    }

    /// Appends a frame. One whose time does not grow is written a tick after the last.
    package func write(_ data: [UInt8], timestamp: Duration) throws(MediaFileError) {
        guard data.count <= IVF.largestFrame else {
            throw .unsuitablePicture(path: file.path, reason: "a frame of \(data.count) bytes")
        }
        let start = start ?? timestamp
        self.start = start
        let seconds = (timestamp - start) / .seconds(1)
        // A time before the start, or beyond what a year of recording reaches, is one that can't be meant.
        let wanted = (seconds * Double(IVF.timebase)).rounded()
        let ticks = max(wanted < 1e13 ? Int(wanted) : 0, lastTicks + 1)
        lastTicks = ticks
        var header: [UInt8] = []
        header.appendLittleEndian(UInt32(data.count))
        header.appendLittleEndian(UInt64(ticks))
        try file.write(header)
        try file.write(data)
        frameCount += 1
    }

    /// Puts in the number of frames and closes the file. To be called once, at the end; nothing can be written after it.
    package func close() throws(MediaFileError) {
        var count: [UInt8] = []
        count.appendLittleEndian(UInt32(clamping: frameCount))
        try file.seek(to: 24)
        try file.write(count)
        try file.close()
    }
}

/// Reads an IVF file of VP8 frames. Used from one thread at a time.
package final class IVFReader {
    /// What the header says.
    package let size: PixelSize
    private let file: BufferedFile
    private let ticksPerSecond: Double
    private var offset: Int

    /// Opens the file and reads its header.
    package init(path: String) throws(MediaFileError) {
        file = try BufferedFile(reading: path)
        let header = try file.read(IVF.headerLength)
        guard header.count == IVF.headerLength else {
            throw .malformed(path: path, offset: header.count, reason: "the header is truncated")
        }
        guard header.starts(with: "DKIF".utf8) else {
            throw .malformed(path: path, offset: 0, reason: "an IVF file begins with DKIF")
        }
        guard header[8..<12].elementsEqual("VP80".utf8) else {
            throw .malformed(path: path, offset: 8, reason: "the codec is not VP80")
        }
        let headerLength = Int(header.littleEndian(at: 6, count: 2))
        guard headerLength >= IVF.headerLength else {
            throw .malformed(path: path, offset: 6, reason: "a header of \(headerLength) bytes")
        }
        let rate = header.littleEndian(at: 16, count: 4)
        let scale = header.littleEndian(at: 20, count: 4)
        guard rate > 0, scale > 0 else { throw .malformed(path: path, offset: 16, reason: "a time base of zero") }
        ticksPerSecond = Double(rate) / Double(scale)
        size = PixelSize(
            width: Int(header.littleEndian(at: 12, count: 2)), height: Int(header.littleEndian(at: 14, count: 2)))
        _ = try file.read(headerLength - IVF.headerLength)
        offset = headerLength
    }

    /// The next frame; nil at the end of the file.
    package func next() throws(MediaFileError) -> IVFFrame? {
        let header = try file.read(IVF.frameHeaderLength)
        guard !header.isEmpty else { return nil }
        guard header.count == IVF.frameHeaderLength else {
            throw .malformed(path: file.path, offset: offset, reason: "a frame's header is truncated")
        }
        let length = Int(header.littleEndian(at: 0, count: 4))
        guard length <= IVF.largestFrame else {
            throw .malformed(path: file.path, offset: offset, reason: "a frame of \(length) bytes")
        }
        let data = try file.read(length)
        guard data.count == length else {
            throw .malformed(path: file.path, offset: offset, reason: "a frame of \(length) bytes is truncated")
        }
        offset += IVF.frameHeaderLength + length
        let seconds = Double(header.littleEndian(at: 4, count: 8)) / ticksPerSecond
        // A `Duration` holds 64 bits of seconds; what is beyond a century is no time of a recording.
        return IVFFrame(data: data, timestamp: .seconds(min(seconds, 3e9)))
    }
}

extension [UInt8] {
    fileprivate mutating func appendLittleEndian(_ value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }

    /// `count` bytes, which the caller knows to be there.
    fileprivate func littleEndian(at offset: Int, count: Int) -> UInt64 {
        self[offset..<offset + count].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
