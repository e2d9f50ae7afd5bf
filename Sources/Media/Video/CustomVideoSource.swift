internal import RTCShareLocks

/// A source whose frames the program pushes: what stands behind a track where neither a screen nor a file is captured.
public final class CustomVideoSource: BroadcastingVideoSource {
    /// Whether the pictures are a screen's: decides the hint, and how ``adaptOutputFormat(width:height:fps:mode:)`` fits.
    public let isScreencast: Bool
    /// The sinks and observers.
    public let broadcaster: VideoBroadcaster
    private let adapter = Locked(VideoFrameAdapter())

    /// A source without sinks. A screen's pictures are hinted `detail`, others `motion`, until that is changed.
    public init(isScreencast: Bool = true) {
        self.isScreencast = isScreencast
        broadcaster = VideoBroadcaster(contentHint: isScreencast ? .detail : .motion)
    }

    /// Asks for pictures of at most `width` by `height`, at most `fps` a second (0: any number), from the next frame on.
    /// Without a mode, screens are fitted whole and other pictures cropped.
    public func adaptOutputFormat(width: Int, height: Int, fps: Double, mode: VideoFormatAdapter.Mode? = nil) {
        adapter.withLock {
            $0.setOutputFormat(width: width, height: height, fps: fps, mode: mode ?? (isScreencast ? .fit : .crop))
        }
    }

    /// Gives a frame to every sink, adapted; from any one thread at a time. One that can't be used is counted, and the
    /// observers hear why.
    public func capture(_ frame: VideoFrame) {
        guard let frame = adapter.withLock({ $0.adapt(frame) }) else { return }
        broadcaster.send(frame)
    }

    /// Frames that could not be used.
    public var framesRefused: Int { broadcaster.framesRefused }

    /// Tells every sink that nothing follows.
    public func end(error: (any Error)? = nil) { broadcaster.end(error: error) }
}
