internal import RTCShareLocks

/// What an audio source keeps for its sinks: adds, removes, and gives each block to all of them.
public final class AudioBroadcaster: Sendable {
    private let sinks = SinkList<any AudioSink, Bool>(false) { sink, wasMuted, isMuted in
        if wasMuted ?? false != isMuted { sink.muteDidChange(isMuted) }
    }
    private let whenWanted = Locked<(@Sendable () -> Void)?>(nil)
    /// Those who hear how capture goes.
    package let observers = CaptureObservers()

    /// A list of no sinks.
    public init() {}

    /// Whether sound is held back. A change is told to every sink; it is the source that gives none meanwhile.
    public var isMuted: Bool {
        get { sinks.properties }
        set { sinks.update { $0 = newValue } }
    }

    /// Whether anybody takes sound.
    public var hasSinks: Bool { !sinks.isEmpty }

    /// Gives `sink` every block from now on; a sink that is already there is not added again.
    public func add(_ sink: any AudioSink) {
        guard sinks.add(sink) else { return sink.sourceDidEnd(error: nil) }
        whenWanted.withLock { $0 }?()
    }

    /// Has `action` called when a sink was added: for a source that rests without sinks.
    package func whenWanted(_ action: @escaping @Sendable () -> Void) { whenWanted.withLock { $0 = action } }

    /// Gives `sink` no further block; one that it is taking on another thread at this moment is its last.
    public func remove(_ sink: any AudioSink) { sinks.remove(sink) }

    /// Gives no sink any further block.
    public func removeAll() { sinks.removeAll() }

    /// Gives each sink its end, and no further block. A sink that is added later gets its end at once.
    package func close() {
        for sink in sinks.removeAll(closing: true) { sink.sourceDidEnd(error: nil) }
    }

    /// Gives a block to every sink.
    public func send(_ frame: AudioFrame) { sinks.forEach { $0.receive(frame) } }

    /// Tells the observers that sound will follow.
    public func start() { observers.didStart() }

    /// Tells every sink and observer that nothing follows.
    public func end(error: (any Error)?) {
        sinks.forEach { $0.sourceDidEnd(error: error) }
        observers.didEnd(error: error)
    }
}
