/// An alternative after a failure: a ``CaptureError`` advises it, and a program describes it in its own words.
public enum CaptureRemedy: Sendable, Hashable {
    /// Share the whole screen: ``DisplaySource``.
    case shareDisplay
    /// Share the whole screen, or a region of it.
    case shareDisplayOrRegion
    /// Share a window that ``WindowSource`` lists.
    case chooseListedWindow
    /// Name one window by its ``WindowSpecification/id(_:)``.
    case nameWindow
    /// Share the test pattern: ``TestPatternSource``.
    case shareTestPattern
    /// Share the audio of a file or a tone: ``WAVSource``, ``ToneSource``.
    case shareFileOrTone
    /// Share the audio that the machine plays on this sink, or on the default one: ``PulseSource/Input/system(sink:)``.
    case shareSystemSound(sink: String?)
    /// Share the file of this path without a loop.
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
