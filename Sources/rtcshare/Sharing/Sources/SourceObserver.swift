internal import RTCShareCapture
internal import RTCShareCaptureBroadcast
internal import RTCShareContentShare
internal import RTCShareMedia
internal import RTCShareWireFormat

/// An observer of one source of a share. While the source is sent, its events are printed, and the share is notified of
/// its end.
@SharingActor final class SourceObserver: CaptureSourceObserver, BroadcastObserver {
    enum Role: Hashable, Sendable {
        /// The content. `isSizeChosen` is whether the presenter limits the size of the video.
        case content(isSizeChosen: Bool)
        case audio, microphone, camera

        /// The role's name in a sentence.
        var name: String {
            switch self {
            case .content: "source"
            case .audio: "audio"
            case .microphone: "microphone"
            case .camera: "camera"
            }
        }
    }

    nonisolated let role: Role
    private let tell: @Sendable ([String]) -> Void
    private let events: AsyncStream<Share.Occurrence>.Continuation
    /// Whether the source is sent. Events of other sources are not printed.
    private var isReporting: Bool
    /// The reason why the source delivers nothing. Nil if it does.
    private(set) var interruption: CaptureInterruption?
    /// The end of the capture. Nil while it runs.
    private(set) var end: Result<Void, CaptureSourceError>?
    private var reportedSize: PixelSize?
    /// The task that reports the size of a window after it stops changing. While a person resizes the window, it
    /// changes many times a second.
    private var resting: Task<Void, Never>?
    private static let restTime = Duration.milliseconds(500)

    nonisolated init(
        _ role: Role, _ events: AsyncStream<Share.Occurrence>.Continuation, isReporting: Bool = false,
        printing tell: @escaping @Sendable ([String]) -> Void = { Terminal.shared.say($0) }
    ) {
        (self.role, self.events, self.isReporting) = (role, events, isReporting)
        self.tell = { lines in
            tell(lines)
            events.yield(.told(lines))
        }
    }

    /// Reports the events of a source that is sent from now on.
    func startReporting(on source: any CaptureSource) {
        isReporting = true
        if end != nil { events.yield(.captureEnded(self)) }
        guard case .content = role else { return }
        if let interruption { report(interruption) }
        let size = source.captureFormat.size
        reportedSize = size
        if let note = shrinkage(of: size) { tell(["The source is \(size). \(note)"]) }
        if let broadcast = source as? BroadcastSource {
            tell(["Waiting for the capturing process at \(broadcast.endpoint)."])
        }
    }

    /// The size of the source since its last change; nil if it has not changed since the source was opened.
    private(set) var size: PixelSize?

    /// Ignores the end of a source that the share stops.
    func stopReporting() { isReporting = false }

    /// Throws if the source has ended before it is sent.
    func checkIsRunning() async throws {
        // A task that waits for a thread can continue before the thread's posts, if it did not suspend.
        await withCheckedContinuation { continuation in SharingActor.post { continuation.resume() } }
        guard let end else { return }
        try end.get()
        throw CommandFailure(.unavailable, "the source has ended")
    }

    // MARK: Events, from threads of the source

    nonisolated func captureDidStop() { post { $0.didEnd(.success(())) } }

    nonisolated func captureDidFail(error: CaptureSourceError) {
        // After an invalid frame, which is skipped, capture continues.
        if error.kind != .invalidFrame { post { $0.didEnd(.failure(error)) } }
    }

    nonisolated func captureWasInterrupted(by interruption: CaptureInterruption) {
        post {
            $0.interruption = interruption
            $0.report(interruption)
        }
    }

    nonisolated func captureInterruptionDidEnd(_ interruption: CaptureInterruption) {
        post { $0.didEnd(interruption) }
    }

    nonisolated func captureSizeDidChange(to size: PixelSize) { post { $0.sizeDidChange(to: size) } }

    nonisolated func broadcastDidStart(transport: BroadcastTransport) {
        post { $0.tell(["The capturing process is connected over \(transport.rawValue)."]) }
    }

    nonisolated func broadcastDidFail(error: BroadcastError) {
        let refusal = Explanation(
            "a capturing process was refused: \(error.reason)", remedy: error.explanation.remedy)
        post { $0.tell(CommandFailure(.notPermitted, refusal).lines(after: "Warning: ")) }
    }

    private nonisolated func post(_ body: @escaping @Sendable @SharingActor (SourceObserver) -> Void) {
        SharingActor.post { body(self) }
    }

    // MARK: On the sharing actor

    private func didEnd(_ end: Result<Void, CaptureSourceError>) {
        self.end = end
        if isReporting { events.yield(.captureEnded(self)) }
    }

    private func report(_ interruption: CaptureInterruption) {
        switch (role, interruption) {
        case (.content, .movedOffScreen): say("The window was moved off the screen. Viewers still see it.")
        case (.content, _): say("The video is paused: \(interruption).")
        case (.camera, _): say("The share continues without your camera: \(interruption).")
        case (.audio, _), (.microphone, _): say("The share continues without the \(role.name): \(interruption).")
        }
    }

    private func didEnd(_ interruption: CaptureInterruption) {
        self.interruption = nil
        switch (role, interruption) {
        case (.content, .movedOffScreen): say("The window is back on the screen.")
        case (.content, _): say("The video continues.")
        case (.camera, _): say("Your camera is back.")
        case (.audio, _), (.microphone, _): say("The \(role.name) is back.")
        }
    }

    /// Prints a line if the source is sent.
    private func say(_ text: String) { if isReporting { tell([text]) } }

    private func sizeDidChange(to size: PixelSize) {
        self.size = size
        guard case .content = role else { return }
        resting?.cancel()
        resting = Task { [weak self] in
            guard (try? await Task.sleep(for: Self.restTime)) != nil else { return }
            self?.report(size)
        }
    }

    private func report(_ size: PixelSize) {
        guard size != reportedSize else { return }
        reportedSize = size
        say("The source is now \(size)." + (shrinkage(of: size).map { " \($0)" } ?? ""))
    }

    /// Returns a note about content that is larger than the video.
    private func shrinkage(of size: PixelSize) -> String? {
        let sent = size.fitted(within: VideoEncodingParameters.usualSize)
        guard case .content(isSizeChosen: false) = role, sent != size else { return nil }
        return "The video is scaled to \(sent). To send the full size, add --size \(size)."
    }
}

extension Result<Void, CaptureSourceError> {
    /// The error of a capture that has ended. Nil if the end was expected.
    var error: CaptureSourceError? { if case .failure(let error) = self { error } else { nil } }
}
