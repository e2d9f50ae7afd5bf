package import RTCShareWireFormat

/// The reason why a picture or a recording could not be written.
public enum MediaFileError: Error, Sendable, Hashable {
    /// The file can't be made or opened; `reason` is the system's.
    case cannotOpen(path: String, reason: String)
    /// The file is there already, and would be lost.
    case alreadyExists(path: String)
    /// The file is open and took not all; `reason` is the system's.
    case cannotWrite(path: String, reason: String)
    /// The picture can't be put into this file.
    case unsuitablePicture(path: String, reason: String)
    /// No picture came that could be written.
    case noPicture(path: String)
}

extension MediaFileError: CustomStringConvertible {
    /// The failure, its reason and its remedy.
    public var description: String { explanation.text }
}

extension MediaFileError: ExplainedError {
    /// What failed, with the path, and why; apart, what to do.
    package var explanation: Explanation {
        switch self {
        case .cannotOpen(let path, let reason):
            Explanation("can't write \(path): \(reason)", remedy: "choose a directory in which you can write")
        case .alreadyExists(let path):
            Explanation("\(path) exists already", remedy: "choose another file")
        case .cannotWrite(let path, let reason):
            Explanation("can't write \(path): \(reason)", remedy: "free space on the disk, or choose another file")
        case .unsuitablePicture(let path, let reason): "can't write the frame to \(path): \(reason)"
        case .noPicture(let path):
            Explanation(
                "nothing was written to \(path): no frame arrived", remedy: "add the sink to a running source")
        }
    }
}
