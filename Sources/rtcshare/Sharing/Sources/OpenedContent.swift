internal import RTCShareCaptureBroadcast
internal import RTCShareMedia

/// Content that a share shows or can show next.
struct OpenedContent: Sendable {
    let source: any CaptureSource
    let specification: String
    /// Whether the encoder can delay the source, because all its frames must be sent.
    let canWait: Bool
    let observer: SourceObserver
    /// Whether the source was started when it was opened.
    let isStarted: Bool

    init(
        _ opened: OpenedSources.Content, isSizeChosen: Bool, isStarted: Bool = false,
        events: AsyncStream<Share.Occurrence>.Continuation
    ) {
        (source, specification, canWait) = (opened.source, opened.specification, opened.canWait)
        self.isStarted = isStarted
        observer = SourceObserver(.content(isSizeChosen: isSizeChosen), events)
        source.add(observer: observer)
        (source as? BroadcastSource)?.add(broadcastObserver: observer)
    }
}

extension CaptureSource {
    /// Starts the source. If that fails, stops it, so that it releases its resources.
    func startOrStop() throws {
        do {
            try start()
        } catch {
            stop()
            throw error
        }
    }
}

/// A camera that a share sends or can send next.
struct OpenedCamera: Sendable {
    let source: any CaptureSource
    let specification: String
    let observer: SourceObserver
    /// Whether the source was started when it was opened.
    let isStarted: Bool

    init(
        _ opened: OpenedSources.Camera, isStarted: Bool = false, isSent: Bool = false,
        events: AsyncStream<Share.Occurrence>.Continuation
    ) {
        (source, specification) = (opened.source, opened.specification)
        self.isStarted = isStarted
        observer = SourceObserver(.camera, events, isReporting: isSent)
        source.add(observer: observer)
    }
}
