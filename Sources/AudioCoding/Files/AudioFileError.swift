package import RTCShareWireFormat

/// The reason why an audio file could not be read.
public enum AudioFileError: Error, Sendable, Hashable {
    /// The file can't be opened; `reason` is the system's.
    case cannotOpen(path: String, reason: String)
    /// The file is not a WAVE file; `found` is its actual type, nil if that is unknown.
    case notWAVE(path: String, found: String?)
    /// The file is a WAVE file, but damaged or of an unsupported kind.
    case unreadable(path: String, reason: String)
    /// The file's number of channels or sampling rate is not supported.
    case unsuitableFormat(path: String, reason: String)
    /// The file was opened but can't be read.
    case cannotRead(path: String, reason: String)
}

extension AudioFileError: CustomStringConvertible {
    /// The failure, its reason and its remedy.
    public var description: String { explanation.text }
}

extension AudioFileError: ExplainedError {
    /// The failure with the path and the reason, and separately the remedy.
    package var explanation: Explanation {
        switch self {
        case .cannotOpen(let path, let reason):
            Explanation("can't open \(path): \(reason)", remedy: "check the path of the file")
        case .notWAVE(let path, let found):
            Explanation(
                "\(path) is not a WAVE file" + (found.map { ", but \($0)" } ?? ""),
                remedy: "ffmpeg -i FILE audio.wav")
        case .unreadable(let path, let reason):
            Explanation(
                "can't read \(path) as a WAVE file: \(reason)",
                remedy: "ffmpeg -i FILE audio.wav")
        case .unsuitableFormat(let path, let reason):
            Explanation(
                "can't use \(path): \(reason)",
                remedy: "ffmpeg -i FILE -ac 2 -ar 48000 audio.wav")
        case .cannotRead(let path, let reason):
            Explanation("can't read \(path) to its end: \(reason)", remedy: "check the disk, or use a copy of the file")
        }
    }
}
