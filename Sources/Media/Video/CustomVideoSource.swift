/// A source whose frames the program pushes: what stands behind a track where neither a screen nor a file is captured.
public final class CustomVideoSource: BroadcastingVideoSource {
    /// Whether the pictures are a screen's: decides the hint, and how ``adaptOutputFormat(width:height:fps:mode:)`` fits.
    public let isScreencast: Bool
    /// The sinks and observers.
    public let broadcaster: VideoBroadcaster
    private let outlet: FrameOutlet

    /// A source without sinks. A screen's pictures are hinted `detail`, others `motion`, until that is changed.
    public convenience init(isScreencast: Bool = true) {
        self.init(isScreencast: isScreencast, timer: FrameTimer())
    }

    package init(isScreencast: Bool, timer: FrameTimer) {
        self.isScreencast = isScreencast
        broadcaster = VideoBroadcaster(contentHint: isScreencast ? .detail : .motion)
        outlet = FrameOutlet(broadcaster: broadcaster, timer: timer)
    }

    /// Gives `sink` the newest frame, if there is one, and every frame from now on.
    public func add(_ sink: any VideoSink) {
        broadcaster.add(sink)
        outlet.repeatFrame(atOnce: true)
    }

    /// Asks for pictures of at most `width` by `height`, at most `fps` a second (0: any number); the newest frame is given
    /// again in the new format. Without a mode, screens are fitted whole and other pictures cropped. Of the frames that a rate
    /// leaves out, the last arrives when the next one is due.
    public func adaptOutputFormat(width: Int, height: Int, fps: Double, mode: OutputFormatMode? = nil) {
        outlet.setOutputFormat(
            width: width, height: height, fps: fps, mode: mode ?? (isScreencast ? .fit : .crop))
    }

    /// Gives a frame to every sink, adapted; from any one thread at a time. One that can't be used is counted, and the
    /// observers are told why. The newest frame is kept for sinks that are added later.
    public func capture(_ frame: VideoFrame) { outlet.receive(frame) }

    /// Frames that could not be used.
    public var framesRefused: Int { broadcaster.framesRefused }

    /// Tells every sink that nothing follows.
    public func end(error: (any Error)? = nil) {
        outlet.giveOwedFrame(atOnce: true)
        outlet.reset()
        broadcaster.end(error: error)
    }
}
