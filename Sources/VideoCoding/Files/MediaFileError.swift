/// Why a picture or recording could not be written or read.
public enum MediaFileError: Error, Sendable, Hashable {
    /// The file can't be made or opened; `reason` is the system's.
    case cannotOpen(path: String, reason: String)
    /// The file is there already, and would be lost.
    case alreadyExists(path: String)
    /// The file is open and took not all; `reason` is the system's.
    case cannotWrite(path: String, reason: String)
    /// The file is open and can't be read; `reason` is the system's.
    case cannotRead(path: String, reason: String)
    /// The file is not what it should be, from this byte on.
    case malformed(path: String, offset: Int, reason: String)
    /// The picture can't be put into this file.
    case unsuitablePicture(path: String, reason: String)
    /// No picture came that could be written.
    case noPicture(path: String)
}

extension MediaFileError: CustomStringConvertible {
    /// What failed, with the path, and why.
    public var description: String {
        switch self {
        case .cannotOpen(let path, let reason): "\(path) can't be opened: \(reason)"
        case .alreadyExists(let path): "\(path) is there already; remove it, or name another file"
        case .cannotWrite(let path, let reason): "\(path) can't be written: \(reason)"
        case .cannotRead(let path, let reason): "\(path) can't be read: \(reason)"
        case .malformed(let path, let offset, let reason): "\(path) is damaged at byte \(offset): \(reason)"
        case .unsuitablePicture(let path, let reason): "the picture can't go into \(path): \(reason)"
        case .noPicture(let path): "nothing was written to \(path): no picture came; add the sink to a source that runs"
        }
    }
}
