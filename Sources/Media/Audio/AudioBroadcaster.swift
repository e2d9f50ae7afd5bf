internal import RTCShareLocks

/// The sinks and observers of an audio source: adds and removes them, and passes each block to all sinks.
public final class AudioBroadcaster: Sendable {
    private struct Properties: Equatable {
        var isMuted = false
        /// The end of the source; nil if it has not ended, or runs again.
        var end: End?
    }

    /// An end of the source, which differs from all others.
    private final class End: Equatable, Sendable {
        let error: (any Error)?

        init(error: (any Error)?) { self.error = error }

        static func == (one: End, other: End) -> Bool { one === other }
    }

    private let sinks = SinkList<any AudioSink, Properties>(Properties()) { sink, old, new in
        if old?.isMuted ?? false != new.isMuted { sink.muteDidChange(new.isMuted) }
        if let end = new.end, end != old?.end { sink.sourceDidEnd(error: end.error) }
    }
    private let whenWanted = Locked<(@Sendable () -> Void)?>(nil)
    /// The observers of capture.
    package let observers = CaptureObservers()

    /// Creates a list without sinks.
    public init() {}

    /// Whether the source is muted. Every sink is notified of a change. The source itself stops the delivery of blocks.
    public var isMuted: Bool {
        get { sinks.properties.isMuted }
        set { sinks.update { $0.isMuted = newValue } }
    }

    /// Whether there is any sink.
    public var hasSinks: Bool { !sinks.isEmpty }

    /// Adds a sink, which receives every later block. A sink that was added before is not added again. After the end of
    /// the source, the sink is notified of the end at once.
    public func add(_ sink: any AudioSink) {
        guard sinks.add(sink) else { return sink.sourceDidEnd(error: nil) }
        whenWanted.withLock { $0 }?()
    }

    /// Sets the action that runs after a sink was added, for a source that is idle without sinks.
    package func whenWanted(_ action: @escaping @Sendable () -> Void) { whenWanted.withLock { $0 = action } }

    /// Removes a sink, which receives no later block, except one that another thread is passing to it now.
    public func remove(_ sink: any AudioSink) { sinks.remove(sink) }

    /// Removes all sinks.
    public func removeAll() { sinks.removeAll() }

    /// Notifies all sinks of the end, and removes them. A sink that is added later is notified at once.
    package func close() {
        for sink in sinks.removeAll(closing: true) { sink.sourceDidEnd(error: nil) }
    }

    /// Passes a block to every sink.
    public func send(_ frame: AudioFrame) {
        forgetEnd()
        sinks.forEach { $0.receive(frame) }
    }

    /// Notifies the observers that capture has started.
    public func start() {
        forgetEnd()
        observers.didStart()
    }

    /// Notifies all sinks and observers that capture has ended, and the sinks that are added before the next start or
    /// block.
    public func end(error: (any Error)?) {
        sinks.update { $0.end = End(error: error) }
        observers.didEnd(error: error)
    }

    /// Forgets the end of the source, which runs again.
    func forgetEnd() {
        if sinks.properties.end != nil { sinks.update { $0.end = nil } }
    }
}
