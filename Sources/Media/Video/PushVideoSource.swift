/// A source whose frames the program pushes: the source of a track that captures neither a screen nor a file.
public final class PushVideoSource: BroadcastingVideoSource {
    /// Whether the frames are those of a screen, which determines the hint and the mode of
    /// ``adaptOutputFormat(width:height:fps:mode:)``.
    public let isScreencast: Bool
    /// The sinks and observers.
    public let broadcaster: VideoBroadcaster
    private let outlet: FrameOutlet

    /// Creates a source without sinks. The initial hint is `detail` for a screen, `motion` otherwise.
    public convenience init(isScreencast: Bool = true) {
        self.init(isScreencast: isScreencast, timer: FrameTimer())
    }

    package init(isScreencast: Bool, timer: FrameTimer) {
        self.isScreencast = isScreencast
        broadcaster = VideoBroadcaster(contentHint: isScreencast ? .detail : .motion)
        outlet = FrameOutlet(broadcaster: broadcaster, timer: timer)
    }

    /// Adds a sink, which receives the newest frame, if there is one, and every later frame.
    public func add(_ sink: any VideoSink) {
        broadcaster.add(sink)
        outlet.repeatFrame(atOnce: true)
    }

    /// Limits frames to `width` by `height` and to `fps` per second (0: no limit). The newest frame is sent again in
    /// the new format. Without a mode, screens are fitted completely and other frames are cropped. If the limit skips
    /// frames, the last of them is sent when the next one is due.
    public func adaptOutputFormat(width: Int, height: Int, fps: Double, mode: OutputFormatMode? = nil) {
        outlet.setOutputFormat(
            width: width, height: height, fps: fps, mode: mode ?? (isScreencast ? .fit : .crop))
    }

    /// Adapts a frame and passes it to every sink. Call it from one thread at a time. An invalid frame is counted, and
    /// observers receive the reason. The newest frame is kept for sinks that are added later.
    public func capture(_ frame: VideoFrame) { outlet.receive(frame) }

    /// The number of invalid frames.
    public var framesRefused: Int { broadcaster.framesRefused }

    /// Notifies all sinks and observers of the end.
    public func end(error: (any Error)? = nil) {
        outlet.giveOwedFrame(atOnce: true)
        outlet.reset()
        broadcaster.end(error: error)
    }
}
