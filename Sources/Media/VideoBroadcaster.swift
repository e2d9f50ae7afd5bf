internal import Synchronization

/// The list of sinks that a source keeps: adds, removes, and gives a frame to each.
///
/// No lock is held while a sink runs, so that a sink may add and remove sinks, itself too, from where it is called.
public final class VideoBroadcaster: Sendable {
    private let sinks = Mutex<[any VideoSink]>([])

    /// A list of no sinks.
    public init() {}

    /// Gives `sink` every frame from now on; a sink that is already there is not added again.
    public func add(_ sink: any VideoSink) {
        sinks.withLock { sinks in
            guard !sinks.contains(where: { $0 === sink }) else { return }
            sinks.append(sink)
        }
    }

    /// Gives `sink` no further frame; one that it is taking on another thread at this moment is its last.
    public func remove(_ sink: any VideoSink) {
        sinks.withLock { $0.removeAll { $0 === sink } }
    }

    /// Gives a frame to every sink.
    public func send(_ frame: VideoFrame) {
        forEachSink { $0.receive(frame) }
    }

    /// Tells every sink that nothing follows.
    public func end(error: (any Error)?) {
        forEachSink { $0.sourceDidEnd(error: error) }
    }

    private func forEachSink(_ body: (any VideoSink) -> Void) {
        for sink in sinks.withLock({ $0 }) {
            // One that was removed by a sink before it in this round is passed over.
            guard sinks.withLock({ $0.contains { $0 === sink } }) else { continue }
            body(sink)
        }
    }
}
