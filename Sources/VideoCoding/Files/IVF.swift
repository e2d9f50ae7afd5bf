package import RTCShareMedia

enum IVF {
    static let headerLength = 32
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

extension [UInt8] {
    fileprivate mutating func appendLittleEndian(_ value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }
}
