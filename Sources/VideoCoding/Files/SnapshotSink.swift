internal import RTCShareLocks
public import RTCShareMedia

/// Keeps the newest frame of a source or track, to be written as a picture when somebody asks.
///
/// The frame's memory is held until the next comes: of a source that has a pool, one buffer.
public final class SnapshotSink: VideoSink {
    private let newest = Locked<VideoFrame?>(nil)

    /// A sink that has seen nothing.
    public init() {}

    /// The newest frame; nil before the first.
    public var frame: VideoFrame? { newest.withLock { $0 } }

    /// Keeps the frame in place of the one before.
    public func receive(_ frame: VideoFrame) {
        let replaced = newest.withLock { newest in
            defer { newest = frame }
            return newest
        }
        // Let go after the lock is.
        withExtendedLifetime(replaced) {}
    }

    /// Writes the newest frame as a PNG file, upright, at the size that it is wanted at.
    /// - Throws: ``MediaFileError/noPicture(path:)`` where nothing came yet.
    public func write(to path: String) throws(MediaFileError) {
        guard let frame else { throw .noPicture(path: path) }
        // Colours that need no scaling or turning are written as they are, not by way of halved chroma.
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
    /// The output size after the rotation.
    fileprivate var uprightSize: PixelSize {
        rotation.swapsSides ? PixelSize(width: outputSize.height, height: outputSize.width) : outputSize
    }
}
