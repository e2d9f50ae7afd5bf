package import RTCShareWireFormat

/// The reason why an audio file could not be read.
public enum AudioFileError: Error, Sendable, Hashable {
    /// The file can't be opened; `reason` is the system's.
    case cannotOpen(path: String, reason: String)
    /// The file is not a WAVE file; `found` says what it is instead, nil if that is not known.
    case notWAVE(path: String, found: String?)
    /// The file is a WAVE file and damaged, or of a kind that is not read.
    case unreadable(path: String, reason: String)
    /// The file's channels or rate are none that can be used.
    case unsuitableFormat(path: String, reason: String)
    /// The file is open and can't be read.
    case cannotRead(path: String, reason: String)
}

extension AudioFileError: CustomStringConvertible {
    /// The failure, its reason and its remedy.
    public var description: String { explanation.text }
}

extension AudioFileError: ExplainedError {
    /// What failed, with the path, and why; apart, what to do.
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
