public import RTCShareMedia

/// Why a picture could not be converted, encoded or decoded.
public enum VideoCodingError: Error, Sendable, Hashable {
    /// A setting is out of what the codec takes; `allowed` says what it does take.
    case invalidSetting(name: String, value: String, allowed: String)
    /// A picture has no pixels.
    case emptyPicture
    /// A buffer lends fewer planes, or shorter ones, than its size and format need.
    case planesTooShort(size: PixelSize, format: PixelFormat)
    /// The encoder was given another layout or size than it was made for.
    case unexpectedPicture(size: PixelSize, format: PixelFormat, expected: PixelSize)
    /// Two pictures that were to be compared differ in size.
    case sizesDiffer(PixelSize, PixelSize)
    /// libyuv refused a conversion.
    case conversionFailed(operation: String, code: Int)
    /// libvpx refused; `reason` is its own words.
    case codecFailed(operation: String, reason: String)
    /// The system gave no thread to encode on; `reason` is its own words.
    case threadFailed(reason: String)
    /// The decoder was given no bytes.
    case emptyFrame
    /// The decoder has no picture to build on: ask the sender for a key frame.
    case keyFrameNeeded
    /// A frame is damaged: ask the sender for a key frame.
    case corruptedFrame(reason: String)
    /// A key frame announces a picture larger than the decoder's limit.
    case pictureTooLarge(size: PixelSize, limit: PixelSize)
}

extension VideoCodingError: CustomStringConvertible {
    /// What failed and why, in a sentence.
    public var description: String {
        switch self {
        case .invalidSetting(let name, let value, let allowed): "\(name) can't be \(value): it takes \(allowed)"
        case .emptyPicture: "the frame has no pixels"
        case .planesTooShort(let size, let format): "the buffer's planes don't hold a \(size) frame in \(format)"
        case .unexpectedPicture(let size, let format, let expected):
            "the encoder takes \(expected) in i420, and was given \(size) in \(format)"
        case .sizesDiffer(let one, let other): "a \(one) frame can't be compared with a \(other) one"
        case .conversionFailed(let operation, let code): "libyuv's \(operation) failed with \(code)"
        case .codecFailed(let operation, let reason): "libvpx: \(operation) failed: \(reason)"
        case .threadFailed(let reason): "no thread to encode on: \(reason)"
        case .emptyFrame: "the frame has no bytes"
        case .keyFrameNeeded: "there is no earlier frame yet: a key frame must come first"
        case .corruptedFrame(let reason): "the frame is damaged (\(reason)): a key frame must follow"
        case .pictureTooLarge(let size, let limit): "a \(size) frame is larger than the limit of \(limit)"
        }
    }
}
