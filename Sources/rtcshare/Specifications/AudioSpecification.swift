internal import FoundationEssentials
internal import Glibc
internal import RTCShareCapture
internal import RTCShareCaptureBroadcast
internal import RTCShareMedia

/// What sound to share, as a person writes it after `--audio`.
///
/// | SPEC | sound |
/// | --- | --- |
/// | `none` | none |
/// | `tone`, `tone:HZ` | a steady tone, 440 Hz where nothing is said |
/// | `beep` | a short beep at each whole second of the monotonic clock, when the test pattern flashes |
/// | `file:PATH.wav`, `file:PATH.wav:loop` | a WAVE file at its own rate, once or again and again |
/// | `microphone`, `microphone:DEVICE` | the default microphone, or a named source of the sound server |
/// | `broadcast` | the sound that comes with the pictures of a source `broadcast:…`; after `--microphone`, the voice |
/// | `system`, `system:SINK` | what the machine plays, on the default output or a named sink of the sound server |
enum AudioSpecification: Sendable, Hashable {
    /// No sound.
    case none
    /// A steady tone.
    case tone(frequency: Double)
    /// A beep at each whole second.
    case beep
    /// A WAVE file.
    case file(path: String, loop: Bool)
    /// A source of the sound server; nil is the default one.
    case microphone(device: String?)
    /// What comes with a broadcast's pictures: ``BroadcastSource/sound``, or as the voice ``BroadcastSource/microphone``.
    case broadcast
    /// What a sink of the sound server plays; nil is the default one.
    case system(sink: String?)

    /// The forms of SPEC, for an error or a help text.
    static let forms =
        "use none, tone[:HZ], beep, file:PATH.wav[:loop], microphone[:DEVICE], system[:SINK] or broadcast"

    private static let loopSuffix = ":loop"

    /// Reads a SPEC.
    init(_ text: String) throws(SpecificationError) {
        let kind = String(text.prefix { $0 != ":" })
        let argument = text.dropFirst(kind.count).isEmpty ? nil : String(text.dropFirst(kind.count + 1))
        switch kind {
        case "none", "beep", "broadcast":
            guard argument == nil else {
                throw .invalidSpecification(
                    text: text, problem: "nothing can be said after '\(kind)'", remedy: "use \(kind)")
            }
            self = kind == "none" ? .none : kind == "beep" ? .beep : .broadcast
        case "tone":
            self = try Self.tone(argument, in: text)
        case "file":
            self = try Self.file(argument ?? "", in: text)
        case "microphone", "system":
            guard argument != "" else {
                throw .invalidSpecification(
                    text: text, problem: "the name is missing",
                    remedy: "use \(kind):NAME, or \(kind) for the sound server's default")
            }
            self = kind == "system" ? .system(sink: argument) : .microphone(device: argument)
        default:
            let problem = text.isEmpty ? "it is empty" : "there is no sound '\(kind)'"
            throw .invalidSpecification(text: text, problem: problem, remedy: Self.forms)
        }
    }

    /// Opens the source, ready to be started: its format is known, what cannot be shared has thrown. Nil for ``none``.
    ///
    /// `environment` says in `PULSE_SERVER` which sound server to ask; where it does not, the session's is.
    func open(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> (any AudioCaptureSource)? {
        let server = environment["PULSE_SERVER"].flatMap { $0.isEmpty ? nil : $0 }
        switch self {
        case .none: return nil
        case .broadcast:
            throw SpecificationError.invalidSpecification(
                text: description, problem: "this sound comes with a broadcast's pictures",
                remedy: "share those, too: --source broadcast:PORT")
        case .tone(let frequency): return try ToneSource(frequency: frequency)
        case .beep: return BeepSource()
        case .file(let path, let loop): return try WAVSource(path: path, loop: loop)
        case .microphone(let device): return try PulseSource(.microphone(device: device), server: server)
        case .system(let sink): return try PulseSource(.system(sink: sink), server: server)
        }
    }

    private static func tone(_ argument: String?, in text: String) throws(SpecificationError) -> AudioSpecification {
        guard let argument else { return .tone(frequency: 440) }
        guard let frequency = Double(argument), ToneSource.frequencies.contains(frequency) else {
            throw .invalidSpecification(
                text: text, problem: "'\(argument)' is no frequency that can be heard",
                remedy: "choose 20 to 20000 Hz, for instance tone:1000")
        }
        return .tone(frequency: frequency)
    }

    private static func file(_ argument: String, in text: String) throws(SpecificationError) -> AudioSpecification {
        let loop = argument.hasSuffix(loopSuffix)
        let path = loop ? String(argument.dropLast(loopSuffix.count)) : argument
        guard !path.isEmpty else {
            throw .invalidSpecification(
                text: text, problem: "the path is missing", remedy: "use file:PATH.wav or file:PATH.wav:loop")
        }
        guard path != "-" else {
            throw .invalidSpecification(
                text: text, problem: "sound is not read from standard input", remedy: "use file:PATH.wav")
        }
        return .file(path: path, loop: loop)
    }
}

extension AudioSpecification: CustomStringConvertible {
    /// The SPEC.
    var description: String {
        switch self {
        case .none: "none"
        case .tone(let frequency):
            "tone:\(frequency == frequency.rounded() ? "\(Int(frequency))" : "\(frequency)")"
        case .beep: "beep"
        case .broadcast: "broadcast"
        case .file(let path, let loop): "file:\(path)\(loop ? Self.loopSuffix : "")"
        case .microphone(nil): "microphone"
        case .microphone(let device?): "microphone:\(device)"
        case .system(nil): "system"
        case .system(let sink?): "system:\(sink)"
        }
    }
}

extension SoundDevice {
    /// What shares its sound.
    var specification: AudioSpecification {
        switch kind {
        case .source: .microphone(device: name)
        case .sink: .system(sink: name)
        }
    }
}

extension AudioSpecification {
    /// How sound is written, for the help texts.
    static let syntax =
        "none, tone[:HZ], beep, file:PATH.wav[:loop], microphone[:DEVICE], system[:SINK], "
        + "broadcast (what comes with --source broadcast:…)"
}
