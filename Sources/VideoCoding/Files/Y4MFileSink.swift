internal import RTCShareLocks
public import RTCShareMedia

/// Records the pictures of a source or track, uncompressed, in a YUV4MPEG2 file.
///
/// Every frame is written once, upright, at the size that it is wanted at; the file's rate says how fast it is played.
/// The first frame decides the file's size: a later one of another size is fitted into it, whole, on black. The file is
/// written on the source's thread.
public final class Y4MFileSink: VideoSink {
    private struct State {
        var writer: Y4MWriter?
        var size = PixelSize(width: 0, height: 0)
        var failure: MediaFileError?
        var isClosed = false
        var framesWritten = 0
    }

    /// Where the recording goes.
    public let path: String
    private let framesPerSecond: Int
    private let state = Locked(State())

    /// A sink that makes the file, or empties the one that is there, with its first frame.
    public init(path: String, framesPerSecond: Int = 30) {
        self.path = path
        self.framesPerSecond = max(framesPerSecond, 1)
    }

    /// Frames written so far.
    public var framesWritten: Int { state.withLock { $0.framesWritten } }

    /// Writes a frame. After an error or ``close()`` nothing more is written.
    public func receive(_ frame: VideoFrame) {
        state.withLock { state in
            guard !state.isClosed, state.failure == nil else { return }
            do throws(MediaFileError) {
                try write(frame, &state)
            } catch {
                state.failure = error
            }
        }
    }

    /// Writes out what is buffered and closes the file. Does nothing the second time.
    /// - Throws: the first error of writing, if there was one, or that no frame came.
    public func close() throws(MediaFileError) {
        let state = state.withLock { state in
            defer {
                state.isClosed = true
                state.writer = nil
                state.failure = nil
            }
            return state
        }
        guard !state.isClosed else { return }
        if let failure = state.failure { throw failure }
        guard let writer = state.writer else { throw .noPicture(path: path) }
        try writer.close()
    }

    private func write(_ frame: VideoFrame, _ state: inout State) throws(MediaFileError) {
        let wanted = frame.uprightSize
        let size = state.writer == nil ? wanted : state.size
        let picture: any VideoFrameBuffer
        do throws(VideoCodingError) {
            picture = try VideoConverter().convert(frame, onBlackOf: size)
        } catch {
            throw .unsuitablePicture(path: path, reason: "\(error)")
        }
        if state.writer == nil {
            state.writer = try Y4MWriter(path: path, size: size, framesPerSecond: framesPerSecond)
            state.size = size
        }
        try state.writer?.write(picture)
        state.framesWritten += 1
    }
}

extension VideoFrame {
    /// The size that the picture is wanted at, as it is seen.
    var uprightSize: PixelSize {
        rotation.swapsSides ? PixelSize(width: outputSize.height, height: outputSize.width) : outputSize
    }
}

extension VideoConverter {
    /// The frame upright in the middle of a picture of `size`: as large as it can be there, and whole.
    func convert(_ frame: VideoFrame, onBlackOf size: PixelSize) throws(VideoCodingError) -> any VideoFrameBuffer {
        let own = frame.uprightSize
        guard own != size else { return try convert(frame.buffer, to: size, rotation: frame.rotation) }
        guard own.width > 0, own.height > 0 else { throw .emptyPicture }
        // Integers, so that what is of the same aspect fills the picture.
        let isWider = own.width * size.height >= own.height * size.width
        let inner =
            isWider
            ? PixelSize(width: size.width, height: max(1, own.height * size.width / own.width))
            : PixelSize(width: max(1, own.width * size.height / own.height), height: size.height)
        let picture = try convert(frame.buffer, to: inner, rotation: frame.rotation)
        guard inner != size else { return picture }
        let (left, top) = ((size.width - inner.width) / 2 & ~1, (size.height - inner.height) / 2 & ~1)
        return PixelBuffer(size: size, format: .i420) { planes, strides in
            picture.withPlanes { source in
                for plane in 0..<3 {
                    // Limited range: luma 16 is black, chroma 128 is grey.
                    planes[plane].initializeMemory(as: UInt8.self, repeating: plane == 0 ? 16 : 128)
                    let extent = PixelFormat.i420.planeExtent(plane, of: inner)
                    let (x, y) = plane == 0 ? (left, top) : (left / 2, top / 2)
                    for row in 0..<extent.rows {
                        let from = row * source.strides[plane]
                        let to = (y + row) * strides[plane] + x
                        UnsafeMutableRawBufferPointer(rebasing: planes[plane][to..<to + extent.rowBytes]).copyMemory(
                            from: UnsafeRawBufferPointer(
                                rebasing: source.planes[plane][from..<from + extent.rowBytes]))
                    }
                }
            }
        }
    }
}
