internal import RTCShareMedia

/// Content that a share shows or can show next, and how its capture goes.
struct OpenedContent: Sendable {
    let source: any CaptureSource
    let specification: String
    /// Whether its frames are all meant to be seen.
    let canWait: Bool
    let reporter: CaptureReporter
    /// Whether the source was started when it was opened.
    let isStarted: Bool

    init(
        _ opened: OpenedSources.Content, isSizeChosen: Bool, isStarted: Bool = false,
        events: AsyncStream<Share.Occurrence>.Continuation
    ) {
        (source, specification, canWait) = (opened.source, opened.specification, opened.canWait)
        self.isStarted = isStarted
        reporter = CaptureReporter(source, isSizeChosen: isSizeChosen) { [source] in
            events.yield(.captureEnded(source))
        }
    }
}

/// A camera that a share sends or can send next, and how its capture goes.
struct OpenedCamera: Sendable {
    let source: any CaptureSource
    let specification: String
    let listener: SourceListener
    /// Whether the source was started when it was opened.
    let isStarted: Bool

    init(
        _ opened: OpenedSources.Camera, isStarted: Bool = false, isInPlace: Bool = false,
        events: AsyncStream<Share.Occurrence>.Continuation
    ) {
        (source, specification) = (opened.source, opened.specification)
        self.isStarted = isStarted
        listener = SourceListener(.camera, events, isInPlace: isInPlace)
        source.add(observer: listener)
    }
}
