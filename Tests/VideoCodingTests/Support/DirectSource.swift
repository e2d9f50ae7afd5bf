import RTCShareLocks
import RTCShareMedia

/// A source that gives its one sink what a test says, on the test's thread.
final class DirectSource: VideoSource {
    private let added = Mailbox<(any VideoSink)?>(nil)
    let contentHint = ContentHint.none

    /// Its sink, as soon as there is one.
    var sink: any VideoSink { added.take { sink in sink.map { .done($0) } ?? .wait(until: nil) } }
    var hasSink: Bool { added.read { $0 != nil } }

    func add(_ sink: any VideoSink) { added.post { $0 = sink } }
    func remove(_ sink: any VideoSink) { added.post { if $0 === sink { $0 = nil } } }
    func receive(_ frame: VideoFrame) { sink.receive(frame) }
}
