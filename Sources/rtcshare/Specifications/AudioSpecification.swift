internal import FoundationEssentials
internal import Glibc
internal import RTCShareCapture
internal import RTCShareCaptureBroadcast
internal import RTCShareMedia

/// The audio to share, as users write it after `--audio`.
///
/// | SPEC | audio |
/// | --- | --- |
/// | `none` | none |
/// | `tone`, `tone:HZ` | a steady tone, by default of 440 Hz |
/// | `beep` | a short beep at each whole second of the monotonic clock, when the test pattern flashes |
/// | `file:PATH.wav`, `file:PATH.wav:loop` | a WAVE file at its own rate, once or repeatedly |
/// | `microphone`, `microphone:DEVICE` | the default microphone, or a named source of the sound server |
/// | `process` | the audio that comes with the source `process:…`; after `--microphone`, the microphone there |
/// | `system`, `system:SINK` | the machine's playback, on the default output or a named sink of the sound server |
enum AudioSpecification: Specification {
    /// No audio.
    case none
    /// A steady tone.
    case tone(frequency: Double)
    /// A beep at each whole second.
    case beep
    /// A WAVE file.
    case file(path: String, loop: Bool)
    /// A source of the sound server; nil is the default one.
    case microphone(device: String?)
    /// The audio of a capturing process: ``BroadcastSource/sound`` or, as the microphone,
    /// ``BroadcastSource/microphone``.
    case broadcast
    /// The audio that a sink of the sound server plays; nil is the default one.
    case system(sink: String?)

    /// The words with which a SPEC begins.
    private static let kinds = ["none", "tone", "beep", "file", "microphone", "system", "process"]
    /// The words that users try for audio with another name.
    private static let synonyms = [
        "computer": "system", "desktop": "system", "display": "system", "mike": "microphone", "off": "none",
        "output": "system", "sine": "tone", "sound": "system", "speaker": "system", "speakers": "system",
    ]
    private static let formsRemedy = "rtcshare help sources"

    private static let loopSuffix = ":loop"
    private static let defaultFrequency = 440.0

    /// Parses a SPEC.
    init(_ text: String) throws(SpecificationError) {
        let kind = String(text.prefix { $0 != ":" })
        let argument = text.dropFirst(kind.count).isEmpty ? nil : String(text.dropFirst(kind.count + 1))
        switch kind {
        // `broadcast` is the name of `process` before `capture` existed.
        case "none", "beep", "process", "broadcast":
            guard argument == nil else {
                throw .invalidSpecification(
                    text: text, problem: "\(kind) takes no value", remedy: kind)
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
                    remedy: "\(kind):NAME, or \(kind) for the audio server's default")
            }
            self = kind == "system" ? .system(sink: argument) : .microphone(device: argument)
        default:
            throw .unknown("audio", in: text, meant: Self.meant(by: text, kind: kind), remedy: Self.formsRemedy)
        }
    }

    /// Returns the SPEC that was probably meant by an invalid text.
    private static func meant(by text: String, kind: String) -> String? {
        if text.lowercased().hasSuffix(".wav"), kind == text { return "file:\(text)" }
        return synonyms[kind.lowercased()] ?? Suggestion.nearest(to: kind, among: kinds)
    }

    /// Opens the source, ready to be started: its format is known, and an invalid source has thrown. Returns nil for
    /// ``none``.
    ///
    /// `PULSE_SERVER` in `environment` is the sound server; without it, the session's is used.
    func open(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> (any AudioCaptureSource)? {
        let server = environment["PULSE_SERVER"].flatMap { $0.isEmpty ? nil : $0 }
        switch self {
        case .none: return nil
        case .broadcast:
            throw SpecificationError.invalidSpecification(
                text: description, problem: "this audio comes with the source process:PORT",
                remedy: "--source process:PORT --audio process")
        case .tone(let frequency): return try ToneSource(frequency: frequency)
        case .beep: return BeepSource()
        case .file(let path, let loop): return try WAVSource(path: path, loop: loop)
        case .microphone(let device): return try PulseSource(.microphone(device: device), server: server)
        case .system(let sink): return try PulseSource(.system(sink: sink), server: server)
        }
    }

    private static func tone(_ argument: String?, in text: String) throws(SpecificationError) -> AudioSpecification {
        guard let argument else { return .tone(frequency: defaultFrequency) }
        guard let frequency = Double(argument), ToneSource.frequencies.contains(frequency) else {
            throw .invalidSpecification(
                text: text, problem: "'\(argument)' is not a frequency from 20 to 20000 Hz",
                remedy: "tone:1000")
        }
        return .tone(frequency: frequency)
    }

    private static func file(_ argument: String, in text: String) throws(SpecificationError) -> AudioSpecification {
        let loop = argument.hasSuffix(loopSuffix)
        let path = loop ? String(argument.dropLast(loopSuffix.count)) : argument
        guard !path.isEmpty else {
            throw .invalidSpecification(
                text: text, problem: "the path is missing", remedy: "file:PATH.wav or file:PATH.wav:loop")
        }
        guard path != "-" else {
            throw .invalidSpecification(
                text: text, problem: "audio can't be read from standard input", remedy: "file:PATH.wav")
        }
        return .file(path: path, loop: loop)
    }
}

extension AudioSpecification {
    /// The SPEC.
    var description: String {
        switch self {
        case .none: "none"
        case .tone(Self.defaultFrequency): "tone"
        case .tone(let frequency):
            "tone:\(frequency == frequency.rounded() ? "\(Int(frequency))" : "\(frequency)")"
        case .beep: "beep"
        case .broadcast: "process"
        case .file(let path, let loop): "file:\(path)\(loop ? Self.loopSuffix : "")"
        case .microphone(nil): "microphone"
        case .microphone(let device?): "microphone:\(device)"
        case .system(nil): "system"
        case .system(let sink?): "system:\(sink)"
        }
    }
}

extension AudioDevice {
    /// The SPEC for the device's audio.
    var specification: AudioSpecification {
        switch kind {
        case .source: .microphone(device: name)
        case .sink: .system(sink: name)
        }
    }
}
