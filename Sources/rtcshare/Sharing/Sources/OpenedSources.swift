internal import RTCShareAudioCoding
internal import RTCShareCapture
internal import RTCShareCaptureBroadcast
internal import RTCShareMedia

/// The sources of a share, opened and not yet started.
struct OpenedSources: Sendable {
    var content: Content
    /// The sounds of the content; several are mixed.
    var audio: [Sound]
    var microphone: Sound?
    let camera: Camera?
    /// What is shared, as far as a person did not choose it, and which sounds: the first lines that a share prints.
    let introduction: [String]

    /// A sound and its SPEC.
    struct Sound: Sendable {
        let source: any AudioCaptureSource
        let specification: String
    }

    /// A camera and its SPEC.
    struct Camera: Sendable {
        let source: any CaptureSource
        let specification: String
        private static let framesPerSecond = 30.0

        init(_ specification: SourceSpecification) throws {
            source = try specification.open(framesPerSecond: Self.framesPerSecond)
            self.specification = specification.description
        }
    }

    /// Opens what the options name.
    /// - Parameter audioRemedy: The advice for sound that is not shared; `AUDIO` in it stands for the option.
    /// - Throws: An error if a source can't be opened. Nothing has been sent then.
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
        /// Whether its frames are all meant to be seen.
        let canWait: Bool
    }

    /// Opens the content. A pipe can wait for its other end here.
    static func open(
        _ specification: SourceSpecification, maximumFrameRate: Double, broadcastTokens: BroadcastTokens?,
        choosesAnew: Bool = false
    ) throws -> Content {
        let source = try specification.open(
            framesPerSecond: maximumFrameRate, broadcastTokens: broadcastTokens, choosesAnew: choosesAnew)
        // A file that is faster than what may be sent keeps its pace instead.
        let canWait =
            switch specification {
            case .file, .standardInput: source.captureFormat.framesPerSecond <= maximumFrameRate
            case .test, .display, .portal, .camera, .region, .window, .broadcast: false
            }
        return Content(source: source, specification: specification.description, canWait: canWait)
    }

    /// The content's sound: the one source of it, or the sum of several; nil where there is none.
    var contentSound: (any AudioSource)? {
        guard audio.count > 1 else { return audio.first?.source }
        let mixer = AudioMixer()
        for sound in audio { mixer.add(input: sound.source) }
        return mixer
    }

    /// Begins to capture, all but the camera.
    func start() throws {
        try content.source.start()
        for sound in audio { try sound.source.start() }
        try microphone?.source.start()
    }

    /// Ends capture, of all but the camera.
    func stop() {
        content.source.stop()
        for sound in audio { sound.source.stop() }
        microphone?.source.stop()
    }
}
