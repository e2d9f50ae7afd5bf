internal import RTCShareAudioCoding
internal import RTCShareCapture
internal import RTCShareCaptureBroadcast
internal import RTCShareMedia

/// The sources of a share, opened and not yet started.
struct OpenedSources: Sendable {
    var content: Content
    /// The audio sources of the content. Several are mixed.
    var audio: [Sound]
    var microphone: Sound?
    let camera: Camera?
    /// The first lines that a share prints: the default source, and the audio sources.
    let introduction: [String]

    struct Sound: Sendable {
        let source: any AudioCaptureSource
        let specification: String
    }

    struct Camera: Sendable {
        let source: any CaptureSource
        let specification: String
        private static let framesPerSecond = 30.0

        init(_ specification: SourceSpecification) throws {
            source = try specification.open(framesPerSecond: Self.framesPerSecond)
            self.specification = specification.description
        }
    }

    /// Opens the sources of a selection.
    /// - Parameter audioRemedy: The advice on how to share audio. `AUDIO` in it stands for the option.
    /// - Throws: An error if a source can't be opened. Nothing was sent then.
    init(
        _ selection: SourceSelection, maximumFrameRate: Double, broadcastTokens: BroadcastTokens? = nil,
        choosesAnew: Bool = false, audioRemedy: String = "add AUDIO"
    ) throws {
        let (specification, sentence) = selection.source.map { ($0, nil) } ?? SourceSpecification.preferred()
        content = try Self.open(
            specification, maximumFrameRate: maximumFrameRate, broadcastTokens: broadcastTokens,
            choosesAnew: choosesAnew)
        let broadcast = content.source as? BroadcastSource
        func openSound(_ specification: AudioSpecification, of broadcast: (any AudioCaptureSource)?) throws -> Sound? {
            let source = specification == .broadcast ? broadcast : nil
            return try (source ?? specification.open()).map { Sound(source: $0, specification: "\(specification)") }
        }
        audio = try selection.audio.compactMap { try openSound($0, of: broadcast?.sound) }
        microphone = try selection.microphone.flatMap { try openSound($0, of: broadcast?.microphone) }
        camera = try selection.camera?.source.map { try Camera($0) }
        let option = broadcast == nil ? "--audio system" : "--audio process"
        introduction =
            [sentence].compactMap { $0 }
            + selection.soundLines(remedy: audioRemedy.replacing("AUDIO", with: option))
    }

    /// The content, opened and not started.
    struct Content: Sendable {
        let source: any CaptureSource
        let specification: String
        /// Whether the encoder can delay the source, because all its frames must be sent.
        let canWait: Bool
    }

    /// Opens the content. A pipe can block until it has a writer.
    static func open(
        _ specification: SourceSpecification, maximumFrameRate: Double, broadcastTokens: BroadcastTokens?,
        choosesAnew: Bool = false
    ) throws -> Content {
        let source = try specification.open(
            framesPerSecond: maximumFrameRate, broadcastTokens: broadcastTokens, choosesAnew: choosesAnew)
        // A file with a higher frame rate than the maximum keeps its speed, and its frames are skipped.
        let canWait =
            switch specification {
            case .file, .standardInput: source.captureFormat.framesPerSecond <= maximumFrameRate
            case .test, .display, .portal, .camera, .region, .window, .broadcast: false
            }
        return Content(source: source, specification: specification.description, canWait: canWait)
    }

    /// The content's audio: its only source, or the mix of several. Nil if there is none.
    var contentSound: (any AudioSource)? {
        guard audio.count > 1 else { return audio.first?.source }
        let mixer = AudioMixer()
        for sound in audio { mixer.add(input: sound.source) }
        return mixer
    }

    /// Starts to capture all sources except the camera.
    func start() throws {
        try content.source.start()
        for sound in audio { try sound.source.start() }
        try microphone?.source.start()
    }

    /// Ends capture of all sources except the camera.
    func stop() {
        content.source.stop()
        for sound in audio { sound.source.stop() }
        microphone?.source.stop()
    }
}
