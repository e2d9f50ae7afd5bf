package import RTCShareWireFormat

/// The reason why an image or a recording could not be written.
public enum MediaFileError: Error, Sendable, Hashable {
    /// The file can't be created or opened; `reason` is the system's.
    case cannotOpen(path: String, reason: String)
    /// The file exists already, and would be overwritten.
    case alreadyExists(path: String)
    /// The file was opened but not completely written; `reason` is the system's.
    case cannotWrite(path: String, reason: String)
    /// The image can't be stored in this file.
    case unsuitablePicture(path: String, reason: String)
    /// The file's type can't contain the codec of a video, which is not recorded.
    case unsuitableVideo(path: String, name: String, codec: String)
    /// The file has no space for the track of a video or an audio stream, which is not recorded.
    case tooManyTracks(path: String, name: String)
    /// There was no frame to write.
    case noPicture(path: String)
}

extension MediaFileError: CustomStringConvertible {
    /// The failure, its reason and its remedy.
    public var description: String { explanation.text }
}

extension MediaFileError: ExplainedError {
    /// The failure with the path and the reason, and separately the remedy.
    package var explanation: Explanation {
        switch self {
        case .cannotOpen(let path, let reason):
            Explanation("can't write \(path): \(reason)", remedy: "choose a directory in which you can write")
        case .alreadyExists(let path):
            Explanation("\(path) exists already", remedy: "choose another file")
        case .cannotWrite(let path, let reason):
            Explanation("can't write \(path): \(reason)", remedy: "free space on the disk, or choose another file")
        case .unsuitablePicture(let path, let reason): "can't write the frame to \(path): \(reason)"
        case .unsuitableVideo(let path, let name, let codec):
            Explanation(
                "can't record \(name) to \(path): files of this type can't contain \(codec)",
                remedy: "choose a name that ends in .mkv")
        case .tooManyTracks(let path, let name): "can't record \(name) to \(path): the file has no space for its track"
        case .noPicture(let path):
            Explanation(
                "nothing was written to \(path): no frame arrived", remedy: "add the sink to a running source")
        }
    }
}
