internal import RTCShareLocks
package import RTCShareMedia

/// Passes on small upright images of a source, a few a second.
package final class FrameImages: VideoSink {
    private struct State {
        let converter = VideoConverter()
        var newest: Duration?
    }

    private let bound: PixelSize
    private let interval: Duration
    private let send: @Sendable (any VideoFrameBuffer) -> Void
    private let state = Locked(State())

    /// Creates a sink of images that fit within `bound`, at most one in each `interval` of the source's time.
    package init(
        fitting bound: PixelSize, every interval: Duration = .milliseconds(200),
        _ send: @escaping @Sendable (any VideoFrameBuffer) -> Void
    ) {
        (self.bound, self.interval, self.send) = (bound, interval, send)
    }

    package func receive(_ frame: VideoFrame) {
        let image: (any VideoFrameBuffer)? = state.withLock { state in
            // A source that started again may have another clock.
            if let newest = state.newest, newest <= frame.timestamp, frame.timestamp - newest < interval { return nil }
            state.newest = frame.timestamp
            return try? state.converter.convert(
                frame.buffer, to: frame.uprightSize.fitted(within: bound), rotation: frame.rotation)
        }
        if let image { send(image) }
    }
}
