/// What to share where something can't be: a ``CaptureError`` advises it, and a program says it in its own words.
public enum CaptureRemedy: Sendable, Hashable {
    /// The whole screen: ``DisplaySource``.
    case shareDisplay
    /// The whole screen, or a region of it.
    case shareDisplayOrRegion
    /// A window that ``WindowSource`` lists.
    case chooseListedWindow
    /// One window, by its ``WindowSpecification/id(_:)``.
    case nameWindow
    /// The test pattern: ``TestPatternSource``.
    case shareTestPattern
    /// Sound of a file or a tone: ``WAVSource``, ``ToneSource``.
    case shareFileOrTone
    /// Share the sound that the machine plays on this sink, or on the default one: ``PulseSource/Input/system(sink:)``.
    case shareSystemSound(sink: String?)
    /// The file of this path without a loop.
    case shareOnce(path: String)
}

extension CaptureRemedy: CustomStringConvertible {
    /// The remedy in the words of this module, for the end of a sentence.
    public var description: String {
        switch self {
        case .shareDisplay: "share the whole screen"
        case .shareDisplayOrRegion: "share the whole screen or a region of it"
        case .chooseListedWindow: "choose one that is listed"
        case .nameWindow: "name one of them by its id"
        case .shareTestPattern: "share the test pattern"
        case .shareFileOrTone: "share a file or a tone"
        case .shareSystemSound(let sink?): "share the system audio of the output '\(sink)'"
        case .shareSystemSound(nil): "share the system audio"
        case .shareOnce: "share it without a loop"
        }
    }
}
