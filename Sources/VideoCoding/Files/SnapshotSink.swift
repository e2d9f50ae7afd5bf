internal import RTCShareLocks
public import RTCShareMedia

/// Stores the newest frame of a source or track, to write it as an image on request.
///
/// The frame's memory is in use until the next frame arrives: one buffer of a source with a pool.
public final class SnapshotSink: VideoSink {
    private let newest = Locked<VideoFrame?>(nil)

    /// Creates a sink without a frame.
    public init() {}

    /// The newest frame; nil before the first.
    public var frame: VideoFrame? { newest.withLock { $0 } }

    /// Stores the frame instead of the previous one.
    public func receive(_ frame: VideoFrame) {
        let replaced = newest.withLock { newest in
            defer { newest = frame }
            return newest
        }
        // The frame is released after the lock.
        withExtendedLifetime(replaced) {}
    }

    /// Writes the newest frame as a PNG file, upright, at its output size.
    /// - Throws: ``MediaFileError/noPicture(path:)`` if there is no frame yet.
    public func write(to path: String) throws(MediaFileError) {
        guard let frame else { throw .noPicture(path: path) }
        // Colors that need no scaling or rotation are written directly, not via subsampled chroma.
        guard frame.outputSize != frame.size || frame.rotation != .upright else {
            return try PNGWriter.write(frame.buffer, to: path)
        }
        let picture: any VideoFrameBuffer
        do throws(VideoCodingError) {
            picture = try VideoConverter().convert(frame.buffer, to: frame.uprightSize, rotation: frame.rotation)
        } catch {
            throw .unsuitablePicture(path: path, reason: "\(error)")
        }
        try PNGWriter.write(picture, to: path)
    }
}

extension VideoFrame {
    /// The output size after rotation.
    var uprightSize: PixelSize {
        rotation.swapsSides ? PixelSize(width: outputSize.height, height: outputSize.width) : outputSize
    }
}
