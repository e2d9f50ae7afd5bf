internal import FoundationEssentials
internal import RTCShareCapture
internal import RTCShareContentShare
internal import RTCShareLocks
internal import RTCShareMedia
internal import RTCShareSignaling
internal import RTCShareStreams
internal import RTCShareTransport
internal import RTCShareWireFormat

/// The content and the audio of the share, with their pauses and mutes.
extension RunningShare {
    /// The time after which a slate is sharp.
    private static let slateTime = Duration.seconds(2)

    // MARK: Capture

    /// Shares all sources, to the first viewer if there is one. Frames follow when the sources are captured.
    func begin(for viewer: RoomViewer? = nil) async throws {
        if let viewer { add(viewer) }
        try await sourceTurns.run {
            try await show(content.current.source, canWait: content.current.canWait, isPaused: content.isPaused)
            if let microphone = sounds.microphone { try await output.startMicrophone(microphone.source) }
            if let camera { try await output.startCamera(camera.source) }
            applyMutes()
        }
    }

    /// Starts to capture, for the first viewer.
    func startCapture() async throws {
        try await sourceTurns.run {
            guard !isEnding, content.start() else { return }
            try await runner.start(content.current.source)
            // The share can be stopped while a source starts.
            for sound in sounds.sources where !isEnding { try await runner.start(sound) }
            if let camera, !isEnding { try await runner.start(camera.source) }
        }
    }

    func stopSources() {
        slateMuting?.cancel()
        content.current.observer.stopReporting()
        camera?.observer.stopReporting()
        for case .stop(let source) in content.stop() { runner.stop(source) }
        for sound in sounds.sources { runner.stop(sound) }
        if let camera { runner.stop(camera.source) }
    }

    // MARK: Pauses

    /// Pauses the share. Viewers keep the last frame, or see a slate. Returns the answer if this changes nothing.
    func pause(showingSlate: Bool) async throws -> String? {
        try await inTurn {
            if let notice = try content.noticeOfPause(showingSlate: showingSlate) { return notice }
            guard showingSlate else {
                try await enter { $0.pause() }
                return nil
            }
            let size = content.current.source.captureFormat.size
            let slate = try await WorkerThread.run(named: "slate") {
                let slate = try PullVideoSource.slate("Paused", size: size)
                try slate.start()
                return slate
            }
            do {
                try await enter { $0.pause(showing: slate) }
            } catch {
                runner.stop(slate)
                throw error
            }
            return nil
        }
    }

    /// Resumes the share. Returns the answer if it is not paused.
    func resume() async throws -> String? {
        try await inTurn {
            if let notice = try content.noticeOfResume() { return notice }
            try await enter { $0.resume() }
            return nil
        }
    }

    /// Calls `body` after all earlier changes of sources.
    func inTurn<Result>(_ body: @SharingActor () async throws -> Result) async throws -> Result {
        try await sourceTurns.run {
            try checkIsRunning()
            return try await body()
        }
    }

    /// The end of the content's capture, as ``ContentState/end``. Nil while the content changes, because the change can
    /// fail.
    var captureEnd: Result<Void, CaptureSourceError>? { nextContent == nil ? content.end : nil }

    /// Changes the state of the content and the viewers' video. If a source can't be started or shown, the state has
    /// not changed.
    private func enter(_ event: (inout ContentState) -> [ContentState.Effect]) async throws {
        let before = content.current
        var next = content
        let effects = event(&next)
        nextContent = next
        defer {
            nextContent = nil
            for occurrence in heldBack { events.yield(occurrence) }
            heldBack = []
        }
        do {
            for effect in effects {
                switch effect {
                case .prepare(let new, let starts):
                    if starts { try await runner.start(new.source) }
                    try await new.observer.checkIsRunning()
                case .show(let source, let canWait):
                    try await show(source, canWait: canWait, isPaused: next.isPaused)
                case .setMuted, .muteWhenSharp, .stop: continue
                }
            }
        } catch {
            nextContent = nil
            applyMutes()
            throw error
        }
        content = next
        if before.source !== content.current.source { before.observer.stopReporting() }
        for effect in effects {
            switch effect {
            case .prepare(let new, _): new.observer.startReporting(on: new.source)
            case .show:
                // The encoder can have added its sink after the end of the content.
                if let end = content.end { events.yield(.sourceEnded(content.current.source, end.error)) }
            case .setMuted(let isMuted, let source): output.setVideoMuted(isMuted, of: source)
            case .muteWhenSharp(let slate): muteWhenSharp(slate)
            case .stop(let source): runner.stop(source)
            }
        }
        applyMutes()
        server?.setPaused(content.isPaused)
    }

    /// Shows a source, the content or a slate, with the share's audio.
    private func show(_ source: any CaptureSource, canWait: Bool, isPaused: Bool) async throws {
        // The room creates a track that is not muted. This track can be muted.
        sounds.track?.isPaused = sounds.isAudioMuted || isPaused
        let configuration = parameters(for: source)
        try await output.showContent(
            source, canWait: canWait, audio: sounds.track, configuration: configuration,
            audioConfiguration: AudioEncodingParameters(
                maxBitrate: options.quality.audioBitrate.map(DataRate.kilobitsPerSecond)))
        limitConnections(to: configuration)
    }

    /// Mutes a slate after it is sharp, so that viewers see that the share is paused.
    private func muteWhenSharp(_ slate: any CaptureSource) {
        slateMuting?.cancel()
        slateMuting = Task { [output, sleep] in
            guard (try? await sleep(Self.slateTime)) != nil else { return }
            output.setVideoMuted(true, of: slate)
        }
    }

    // MARK: Changes

    /// Shares another source from now on, or from the end of the pause. If this fails, the share has not changed.
    func change(to specification: SourceSpecification) async throws {
        let number = requests.number()
        let opened = try await open(specification)
        do {
            try await inTurn {
                guard !requests.isOvertaken(number, for: .content) else { throw Self.overtaken(specification) }
                try await enter { $0.replace(with: opened) }
                requests.finish(number, for: .content)
            }
        } catch {
            runner.stop(opened.source)
            throw error
        }
    }

    static func overtaken(_ specification: some Specification) -> CommandFailure {
        CommandFailure(.unavailable, "\(specification): another source was chosen while this one was opening")
    }

    /// Opens content, and starts it if the share captures.
    private func open(_ specification: SourceSpecification) async throws -> OpenedContent {
        guard specification != .standardInput else { throw Self.standardInputIsTaken(specification) }
        let frameRate = parameters.maxFramerate ?? options.quality.maxFramerate
        let (isSizeChosen, isCapturing) = (parameters.maxSize != nil, content.isCapturing)
        do {
            return try await WorkerThread.run(named: "source") { [openContent, events] in
                let opened = OpenedContent(
                    try openContent(specification, frameRate), isSizeChosen: isSizeChosen, isStarted: isCapturing,
                    events: events)
                if isCapturing { try opened.source.startOrStop() }
                return opened
            }
        } catch CaptureError.displayUnavailable(display: nil, _) {
            let process = ProcessInfo.processInfo.processIdentifier
            throw CommandFailure(
                .unavailable,
                "DISPLAY is not set in the process of the share (\(process)), so it can't show a display",
                try: "restart the share in a desktop session, or with DISPLAY set")
        }
    }

    static func standardInputIsTaken(_ specification: SourceSpecification) -> CommandFailure {
        CommandFailure(
            .usage, "\(specification): a running share can't read standard input", try: "file:PATH.y4m")
    }

    /// Changes the parameters of the content's video. Parameters that are nil in `changes` stay, unless they become
    /// automatic.
    func set(_ changes: VideoEncodingParameters, automatic: Set<AutomaticParameter> = []) async throws {
        try await inTurn {
            let before = parameters
            parameters = changes.overriding(before)
            if automatic.contains(.maxBitrate) { parameters.maxBitrate = nil }
            if automatic.contains(.contentHint) { parameters.contentHint = nil }
            do {
                try applyParameters()
            } catch {
                parameters = before
                throw error
            }
        }
    }

    /// Adapts the maximum bitrate to the size of the content and its codec, unless the presenter chose one.
    func followSize() {
        // A change of the content sets the bitrate itself.
        guard !isEnding, nextContent == nil, parameters(for: content.current.source).maxBitrate != contentBitrate
        else { return }
        // Content that is not shown yet gets it when it is.
        try? applyParameters()
    }

    private func applyParameters() throws {
        let configuration = parameters(for: content.current.source)
        try output.updateContent(configuration)
        limitConnections(to: configuration)
    }

    /// Returns the parameters of a source's video, with the usual maximum bitrate if the presenter chose none.
    func parameters(for source: any CaptureSource) -> VideoEncodingParameters {
        var result = parameters
        let shown = [nextContent?.current, content.current].first { $0?.source === source } ?? nil
        let size = shown?.observer.size ?? source.captureFormat.size
        result.maxBitrate =
            parameters.maxBitrate
            ?? parameters.usualBitrate(
                of: size, isRecorded: film != nil, isResting: codecDecision?.isResting ?? false)
        return result
    }

    private func limitConnections(to configuration: VideoEncodingParameters) {
        guard let bitrate = configuration.maxBitrate, bitrate != contentBitrate else { return }
        contentBitrate = bitrate
        for viewer in room.viewers where previews[viewer.id] == nil {
            viewer.session.connection.setMaximumBitrate(maximumBitrate)
        }
    }

    /// Mutes or unmutes audio. Returns a sentence with the result.
    func mute(_ sounds: ControlledSounds, _ isMuted: Bool) throws -> String {
        defer { applyMutes() }
        return try self.sounds.mute(sounds, isMuted)
    }

    /// Unmutes the audio that the last mute of all audio has silenced. Returns a sentence with the result.
    func unmuteSilenced() throws -> String {
        defer { applyMutes() }
        return try sounds.unmuteSilenced()
    }

    /// Whether the content's audio is muted for viewers.
    private var isSoundMuted: Bool { sounds.isAudioMuted || content.isPaused || nextContent?.isPaused == true }

    private func applyMutes() {
        sounds.track?.isPaused = isSoundMuted
        output.setAudioMuted(isSoundMuted)
        output.setMicrophoneMuted(sounds.isMicrophoneMuted)
    }
}
