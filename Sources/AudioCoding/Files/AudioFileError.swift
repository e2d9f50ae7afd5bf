/// Why a sound file could not be read or written.
public enum AudioFileError: Error, Sendable, Hashable {
    /// The file can't be made or opened; `reason` is the system's.
    case cannotOpen(path: String, reason: String)
    /// The file is no WAVE file; `found` says what it is instead.
    case notWAVE(path: String, found: String)
    /// The file is a WAVE file and damaged, or of a kind that is not read.
    case unreadable(path: String, reason: String)
    /// The file's channels or rate are none that can be used.
    case unsuitableFormat(path: String, reason: String)
    /// The file is open and can't be read.
    case cannotRead(path: String, reason: String)
    /// The file is open and took not all.
    case cannotWrite(path: String, reason: String)
    /// A WAVE file's sizes have 32 bits, and it has reached them.
    case full(path: String, bytes: Int)
}

extension AudioFileError: CustomStringConvertible {
    /// What failed, with the path, why, and what to do.
    public var description: String {
        switch self {
        case .cannotOpen(let path, let reason): "\(path) can't be opened: \(reason): check the path and its permissions"
        case .notWAVE(let path, let found):
            "\(path) is no WAVE file but \(found): convert it, for example with `ffmpeg -i FILE sound.wav`"
        case .unreadable(let path, let reason):
            "\(path) can't be read as a WAVE file: \(reason): write it anew, for example with `ffmpeg -i FILE sound.wav`"
        case .unsuitableFormat(let path, let reason):
            "\(path) can't be used: \(reason): convert it, for example with `ffmpeg -i FILE -ac 2 -ar 48000 sound.wav`"
        case .cannotRead(let path, let reason):
            "\(path) can't be read to its end: \(reason): check the disk, and take a copy of the file"
        case .cannotWrite(let path, let reason):
            "\(path) can't be written: \(reason): check that the disk has room, or choose another place"
        case .full(let path, let bytes):
            "\(path) has \(bytes) bytes and a WAVE file can't be longer: go on in another file"
        }
    }
}
