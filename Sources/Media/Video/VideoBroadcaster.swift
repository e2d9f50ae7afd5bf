internal import RTCShareLocks

/// What a source keeps for its sinks: adds, removes, and gives a frame to each.
///
/// A frame that can't be used reaches no sink: the observers hear why, and it is counted.
public final class VideoBroadcaster: Sendable {
    private struct Properties: Equatable {
        var contentHint: ContentHint
        var isMuted = false
    }

    private struct State {
        var framesRefused = 0
        /// Whether what the last frame changed was kept from a sink, or the sink did not see the frame before.
        var damageIsUnknown = false
    }

    private let sinks: SinkList<any VideoSink, Properties>
    private let state = Locked(State())
    private let whenWanted = Locked<(@Sendable () -> Void)?>(nil)
    /// Those who hear how capture goes.
    package let observers = CaptureObservers()

    /// A list of no sinks.
    public init(contentHint: ContentHint = .none) {
        sinks = SinkList(Properties(contentHint: contentHint)) { sink, old, new in
            if old?.contentHint != new.contentHint { sink.contentHintDidChange(new.contentHint) }
            if old?.isMuted ?? false != new.isMuted { sink.muteDidChange(new.isMuted) }
        }
    }

    /// What the pictures are; a change is told to every sink.
    public var contentHint: ContentHint {
        get { sinks.properties.contentHint }
        set { sinks.update { $0.contentHint = newValue } }
    }

    /// Whether frames are held back. A change is told to every sink; it is the source that gives none meanwhile.
    public var isMuted: Bool {
        get { sinks.properties.isMuted }
        set { sinks.update { $0.isMuted = newValue } }
    }

    /// Frames that could not be used.
    public var framesRefused: Int { state.withLock { $0.framesRefused } }

    /// Whether anybody takes frames.
    public var hasSinks: Bool { !sinks.isEmpty }

    /// The most that one of the sinks has a use for now.
    public var demand: FrameDemand {
        let demand = sinks.reduce(.nothing) { max($0, $1.demand) }
        return demand > .nothing && state.withLock { $0.damageIsUnknown } ? .picture : demand
    }

    /// Gives `sink` every frame from now on; a sink that is already there is not added again. The first frame that it gets
    /// is all new to it, whatever the source says.
    public func add(_ sink: any VideoSink) {
        state.withLock { $0.damageIsUnknown = true }
        guard sinks.add(sink) else { return sink.sourceDidEnd(error: nil) }
        whenWanted.withLock { $0 }?()
    }

    /// Has `action` called when a sink was added: for a source that rests without sinks.
    package func whenWanted(_ action: @escaping @Sendable () -> Void) { whenWanted.withLock { $0 = action } }

    /// Gives `sink` no further frame; one that it is taking on another thread at this moment is its last.
    public func remove(_ sink: any VideoSink) { sinks.remove(sink) }

    /// Gives no sink any further frame.
    public func removeAll() { sinks.removeAll() }

    /// Gives each sink its end, and no further frame. With `closing`, a sink that is added later gets its end at once.
    package func endSinks(closing: Bool) {
        for sink in sinks.removeAll(closing: closing) { sink.sourceDidEnd(error: nil) }
    }

    /// Gives a frame to every sink, if it can be used.
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

    /// Tells the observers that frames will follow.
    public func start() { observers.didStart() }

    /// Tells every sink and observer that nothing follows.
    public func end(error: (any Error)?) {
        sinks.forEach { $0.sourceDidEnd(error: error) }
        observers.didEnd(error: error)
    }
}
