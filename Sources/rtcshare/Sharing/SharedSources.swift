internal import RTCShareCapture
internal import RTCShareContentShare
internal import RTCShareLocks
internal import RTCShareMedia
internal import RTCShareWireFormat

/// What a running share shows and lets hear: which source gives it, at what size and rate, and whether it is paused or muted.
///
/// Its share control has one change follow the other.
actor SharedSources {
    /// How it stands.
    struct Status: Sendable {
        /// The SPEC of what is shared.
        let specification: String
        /// Why the source gives no frames; nil if it does.
        let interruption: String?
        let isPaused: Bool
        /// Whether viewers see a slate meanwhile.
        let isSlateShown: Bool
        let isAudioMuted: Bool
        let isMicrophoneMuted: Bool
        let sounds: [ControlledShare.Sound]
        let microphone: ControlledShare.Sound?
        let parameters: VideoEncodingParameters
    }

    /// A source that a request opened, and how its capture goes.
    struct Opened: Sendable {
        let content: OpenedSources.Content
        let reporter: CaptureReporter
        /// Whether it was started when it was opened.
        let isStarted: Bool

        init(
            _ content: OpenedSources.Content, isSizeChosen: Bool, isStarted: Bool = false,
            events: AsyncStream<Share.Occurrence>.Continuation
        ) {
            (self.content, self.isStarted) = (content, isStarted)
            reporter = CaptureReporter(content.source, isSizeChosen: isSizeChosen) { events.yield(.captureEnded) }
        }
    }

    private let room: any ShareOutput
    private let runner: SourceRunner
    private let options: SharingOptions
    private let events: AsyncStream<Share.Occurrence>.Continuation
    private var sources: OpenedSources
    /// The sound of the content, with a switch of its own: the room's track is a new one for each source.
    private let sound: AudioTrack?
    private(set) var parameters: VideoEncodingParameters
    /// Tells the person at the terminal what happens to the source.
    private var captureReporter: CaptureReporter
    /// Tell what happens to each sound, and to the microphone.
    private let soundListeners: [SourceListener]
    private let microphoneListener: SourceListener?
    private var isCapturing = false
    private var pause = PauseState()
    /// Mutes a slate when it is sharp.
    private(set) var slateMuting: Task<Void, Never>?
    private let sleep: @Sendable (Duration) async throws -> Void
    private var isAudioMuted = false
    private var isMicrophoneMuted = false

    /// Until a slate is sharp.
    private static let slateTime = Duration.seconds(2)

    init(
        _ sources: OpenedSources, in room: any ShareOutput, runner: SourceRunner, options: SharingOptions,
        events: AsyncStream<Share.Occurrence>.Continuation,
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        (self.sources, self.room, self.runner, self.options) = (sources, room, runner, options)
        (self.events, self.sleep) = (events, sleep)
        captureReporter = CaptureReporter(sources.content.source, isSizeChosen: options.quality.size != nil) {
            events.yield(.captureEnded)
        }
        captureReporter.introduce(sources.content.source)
        soundListeners = sources.audio.map { Self.listen(to: $0, .sound, events) }
        microphoneListener = sources.microphone.map { Self.listen(to: $0, .microphone, events) }
        sound = sources.contentSound.map { AudioTrack(id: "sound", source: $0) }
        parameters = options.parameters
    }

    private static func listen(
        to sound: OpenedSources.Sound, _ role: SourceListener.Role,
        _ events: AsyncStream<Share.Occurrence>.Continuation
    ) -> SourceListener {
        let listener = SourceListener(role, events)
        sound.source.add(observer: listener)
        return listener
    }

    /// How it stands.
    var status: Status {
        Status(
            specification: sources.content.specification,
            interruption: lossDuringPause?.statement ?? captureReporter.interruption?.description,
            isPaused: pause.isPaused, isSlateShown: pause.isSlateShown, isAudioMuted: isAudioMuted,
            isMicrophoneMuted: isMicrophoneMuted,
            sounds: zip(sources.audio, soundListeners).map { .init($0, listener: $1) },
            microphone: sources.microphone.map { .init($0, listener: microphoneListener) },
            parameters: parameters)
    }

    /// What is shared, or will be once the share goes on.
    var content: any CaptureSource { sources.content.source }

    /// How the capture of what is shared ended; nil while it has not, and while the share is paused: another source can
    /// replace it then.
    var captureEnd: Result<Void, CaptureSourceError>? { isPaused ? nil : captureReporter.end }

    var isPaused: Bool { pause.isPaused }

    /// Why a paused share can't resume with its source; nil if it can.
    var lossDuringPause: Explanation? {
        guard isPaused, let end = captureReporter.end else { return nil }
        var reason = "the source has ended"
        if case .failure(let error) = end { reason = error.explanation.statement }
        return Explanation(reason, remedy: "rtcshare switch SPEC")
    }

    // MARK: Their course

    /// Puts all in place; it is sent from when there is a viewer.
    func begin() async throws {
        try await show(content, of: sources.content)
        if let microphone = sources.microphone { try await room.startMicrophone(microphone.source) }
    }

    /// Begins to capture.
    func start() async throws {
        guard !isCapturing else { return }
        isCapturing = true
        try await runner.start(sources.start)
    }

    /// Ends capture.
    func stop() {
        slateMuting?.cancel()
        for case .stop(let source) in pause.stops { runner.stop(source.stop) }
        runner.stop(sources.stop)
    }

    /// Shows a source with the share's sound: the content's, or a slate.
    private func show(_ source: any VideoSource, of content: OpenedSources.Content) async throws {
        sound?.isMuted = isSoundMuted
        try await room.showContent(
            source, canWait: content.canWait && source === content.source, audio: sound, configuration: parameters,
            audioConfiguration: LocalAudioConfiguration(
                maxBitrate: options.quality.audioBitrate.map(DataRate.kilobitsPerSecond)))
        await applyMutes()
    }

    // MARK: Pauses

    /// Has viewers keep the last picture, or see a slate; what is to be said of it where it is so already.
    func pause(showingSlate: Bool) async throws -> String? {
        guard isCapturing else {
            throw CommandFailure(
                .unavailable, "no viewer is connected yet", try: "pause the share when it has a viewer")
        }
        guard pause.canPause(showingSlate: showingSlate) else {
            return "The share is already paused" + (pause.isSlateShown ? ": viewers see a slate." : ".")
        }
        var next = pause
        guard showingSlate else {
            let effects = next.pause(content)
            try await enter(next, effects)
            return nil
        }
        let size = content.captureFormat.size
        let slate = try await WorkerThread.run(named: "slate") {
            let slate = try CustomCapturer.slate("Paused", size: size)
            try slate.start()
            return slate
        }
        let effects = next.pause(showing: slate)
        do {
            try await enter(next, effects)
        } catch {
            runner.stop(slate.stop)
            throw error
        }
        return nil
    }

    /// Goes on with what is shared; what is to be said of it where nothing is paused.
    func resume() async throws -> String? {
        guard pause.isPaused else { return "The share is not paused." }
        if let lossDuringPause { throw CommandFailure(.unavailable, lossDuringPause) }
        var next = pause
        let effects = next.resume(content)
        try await enter(next, effects)
        return nil
    }

    /// Enters a state of the pause, with other content if there is any. If its source can't be shown, the state before
    /// it stays.
    private func enter(
        _ next: PauseState, _ effects: [PauseState.Effect], replacing new: Opened? = nil
    ) async throws {
        let before = pause
        pause = next
        do {
            for case .show(let source) in effects { try await show(source, of: new?.content ?? sources.content) }
        } catch {
            pause = before
            await applyMutes()
            throw error
        }
        if let new {
            // The end of the source before is not the share's.
            (sources.content, captureReporter) = (new.content, new.reporter)
            captureReporter.introduce(new.content.source)
        }
        for effect in effects {
            switch effect {
            case .show: continue
            case .setMuted(let isMuted, let source): await room.setVideoMuted(isMuted, of: source)
            case .muteWhenSharp(let slate): muteWhenSharp(slate)
            case .stop(let source): runner.stop(source.stop)
            }
        }
        await applyMutes()
    }

    /// Mutes a slate when it is sharp: viewers are then shown that the share is paused.
    private func muteWhenSharp(_ slate: any CaptureSource) {
        slateMuting?.cancel()
        slateMuting = Task { [room, sleep] in
            guard (try? await sleep(Self.slateTime)) != nil else { return }
            await room.setVideoMuted(true, of: slate)
        }
    }

    // MARK: Changes

    /// Opens a source that the share can show next, and starts it if the share captures.
    func open(_ specification: SourceSpecification) async throws -> Opened {
        guard specification != .standardInput else {
            throw CommandFailure(
                .usage, "\(specification): a running share can't read standard input", try: "file:PATH.y4m")
        }
        let frameRate = parameters.maxFramerate ?? options.quality.maxFramerate
        let isSizeChosen = parameters.maxSize != nil
        return try await WorkerThread.run(named: "source") { [options, events, isCapturing] in
            let tokens = try options.tokens(
                for: specification, remedy: "start the share with --my-token-file FILE --peer-token-file FILE")
            let content = try OpenedSources.open(
                specification, maximumFrameRate: frameRate, broadcastTokens: tokens)
            let opened = Opened(content, isSizeChosen: isSizeChosen, isStarted: isCapturing, events: events)
            if isCapturing { try content.source.start() }
            return opened
        }
    }

    /// Shares this from now on, or once the share goes on. What can't be started leaves all as it was.
    func change(to opened: Opened) async throws {
        let new = opened.content
        var next = pause
        let effects = next.replace(content, with: new.source)
        var isStarted = opened.isStarted
        do {
            if isCapturing, !isStarted {
                isStarted = true
                try await runner.start(new.source.start)
            }
            try OpenedSources.checkIsRunning(opened.reporter.end)
            try await enter(next, effects, replacing: opened)
            // It may have ended before the encoder listened to it.
            if let end = opened.reporter.end, !pause.isPaused { events.yield(.sourceEnded(end.error)) }
        } catch {
            runner.stop(new.source.stop)
            throw error
        }
        guard isCapturing, !isStarted else { return }
        // Capture began while the source was shown.
        do {
            try await runner.start(new.source.start)
        } catch {
            events.yield(.sourceEnded(error))
        }
    }

    /// Changes how the content's video is encoded; what is nil in `changes` stays as it is.
    func set(_ changes: VideoEncodingParameters) async throws {
        let new = changes.overriding(parameters)
        try await room.updateContent(new)
        parameters = new
    }

    /// Mutes sounds, or ends that; returns a sentence that says which.
    func mute(_ sounds: ControlledSounds, _ isMuted: Bool) async throws -> String {
        let names = [
            sounds != .microphone && sound != nil ? "audio" : nil,
            sounds != .audio && sources.microphone != nil ? "microphone" : nil,
        ].compactMap { $0 }
        guard !names.isEmpty else {
            let option = sounds == .microphone ? "--microphone microphone" : "--audio system"
            throw CommandFailure(
                .usage, "the share has no \(sounds == .microphone ? "microphone" : "audio")",
                try: "restart the share with \(option)")
        }
        if sounds != .microphone, sound != nil { isAudioMuted = isMuted }
        if sounds != .audio, sources.microphone != nil { isMicrophoneMuted = isMuted }
        await applyMutes()
        return "The \(names.joined(separator: " and the ")) \(names.count > 1 ? "are" : "is") "
            + (isMuted ? "muted." : "no longer muted.")
    }

    /// Whether viewers are sent no sound of the content now.
    private var isSoundMuted: Bool { isAudioMuted || pause.isPaused }

    private func applyMutes() async {
        sound?.isMuted = isSoundMuted
        await room.setAudioMuted(isSoundMuted)
        await room.setMicrophoneMuted(isMicrophoneMuted)
    }
}

extension ControlledShare.Sound {
    fileprivate init(_ sound: OpenedSources.Sound, listener: SourceListener?) {
        self.init(spec: sound.specification, interruption: listener?.interruption?.description)
    }
}
