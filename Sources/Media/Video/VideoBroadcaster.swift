internal import RTCShareLocks

/// The sinks and observers of a video source: adds and removes them, and passes each frame to all sinks.
///
/// An invalid frame reaches no sink. It is counted, and the observers receive the reason.
public final class VideoBroadcaster: Sendable {
    private struct Properties: Equatable {
        var contentHint: ContentHint
        var isMuted = false
    }

    private struct State {
        var framesRefused = 0
        /// Whether a sink missed the last frame's changes, or the frame before.
        var damageIsUnknown = false
    }

    private let sinks: SinkList<any VideoSink, Properties>
    private let state = Locked(State())
    private let whenWanted = Locked<(@Sendable () -> Void)?>(nil)
    /// The observers of capture.
    package let observers = CaptureObservers()

    /// Creates a list without sinks.
    public init(contentHint: ContentHint = .none) {
        sinks = SinkList(Properties(contentHint: contentHint)) { sink, old, new in
            if old?.contentHint != new.contentHint { sink.contentHintDidChange(new.contentHint) }
            if old?.isMuted ?? false != new.isMuted { sink.muteDidChange(new.isMuted) }
        }
    }

    /// The kind of the video. Every sink is notified of a change.
    public var contentHint: ContentHint {
        get { sinks.properties.contentHint }
        set { sinks.update { $0.contentHint = newValue } }
    }

    /// Whether the source is muted. Every sink is notified of a change. The source itself stops the delivery of frames.
    public var isMuted: Bool {
        get { sinks.properties.isMuted }
        set { sinks.update { $0.isMuted = newValue } }
    }

    /// The number of invalid frames.
    public var framesRefused: Int { state.withLock { $0.framesRefused } }

    /// Whether there is any sink.
    public var hasSinks: Bool { !sinks.isEmpty }

    /// The highest demand of all sinks.
    public var demand: FrameDemand {
        let demand = sinks.reduce(.nothing) { max($0, $1.demand) }
        return demand > .nothing && state.withLock { $0.damageIsUnknown } ? .picture : demand
    }

    /// Adds a sink, which receives every later frame. A sink that was added before is not added again. Its first frame
    /// has unknown damage, whatever the source reports.
    public func add(_ sink: any VideoSink) {
        state.withLock { $0.damageIsUnknown = true }
        guard sinks.add(sink) else { return sink.sourceDidEnd(error: nil) }
        whenWanted.withLock { $0 }?()
    }

    /// Sets the action that runs after a sink was added, for a source that is idle without sinks.
    package func whenWanted(_ action: @escaping @Sendable () -> Void) { whenWanted.withLock { $0 = action } }

    /// Removes a sink, which receives no later frame, except one that another thread is passing to it now.
    public func remove(_ sink: any VideoSink) { sinks.remove(sink) }

    /// Removes all sinks.
    public func removeAll() { sinks.removeAll() }

    /// Notifies all sinks of the end, and removes them. With `closing`, a sink that is added later is notified at once.
    package func endSinks(closing: Bool) {
        for sink in sinks.removeAll(closing: closing) { sink.sourceDidEnd(error: nil) }
    }

    /// Passes a frame to every sink, if it is valid.
    public func send(_ frame: VideoFrame) {
        let valid: VideoFrame
        do throws(VideoFrameError) {
            valid = try frame.validated()
        } catch {
            state.withLock {
                $0.framesRefused += 1
                $0.damageIsUnknown = true
            }
            observers.didRefuse(error)
            return
        }
        let damageIsUnknown = state.withLock { state in
            defer { state.damageIsUnknown = false }
            return state.damageIsUnknown
        }
        let frame = damageIsUnknown ? valid.withDamage(nil) : valid
        sinks.forEach { $0.receive(frame) }
    }

    /// Notifies the observers that capture has started.
    public func start() { observers.didStart() }

    /// Notifies all sinks and observers that capture has ended.
    public func end(error: (any Error)?) {
        sinks.forEach { $0.sourceDidEnd(error: error) }
        observers.didEnd(error: error)
    }
}
