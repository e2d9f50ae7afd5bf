public import RTCShareMedia

/// The reason why a frame could not be converted, encoded or decoded.
public enum VideoCodingError: Error, Sendable, Hashable {
    /// A setting is outside the codec's range; `allowed` is that range.
    case invalidSetting(name: String, value: String, allowed: String)
    /// A frame has no pixels.
    case emptyPicture
    /// A buffer has fewer or shorter planes than its size and format require.
    case planesTooShort(size: PixelSize, format: PixelFormat)
    /// The encoder received a frame of another format or size than it was made for.
    case unexpectedPicture(size: PixelSize, format: PixelFormat, expected: PixelSize)
    /// Two frames that should be compared differ in size.
    case sizesDiffer(PixelSize, PixelSize)
    /// libyuv rejected a conversion.
    case conversionFailed(operation: String, code: Int)
    /// A codec's library reported an error; `reason` is its text.
    case codecFailed(library: String, operation: String, reason: String)
    /// A codec's library is not installed or can't be used; `reason` names it and its Debian package.
    case codecUnavailable(reason: String)
    /// The system started no thread for encoding; `reason` is its text.
    case threadFailed(reason: String)
    /// The decoder received no bytes.
    case emptyFrame
    /// The decoder has no reference frame: request a key frame from the sender.
    case keyFrameNeeded
    /// A frame is damaged: request a key frame from the sender.
    case corruptedFrame(reason: String)
    /// A key frame is larger than the decoder's limit.
    case pictureTooLarge(size: PixelSize, limit: PixelSize)
}

extension VideoCodingError: CustomStringConvertible {
    /// The failure and its reason, in a sentence.
    public var description: String {
        switch self {
        case .invalidSetting(let name, let value, let allowed): "\(name) can't be \(value): it takes \(allowed)"
        case .emptyPicture: "the frame has no pixels"
        case .planesTooShort(let size, let format): "the buffer's planes don't hold a \(size) frame in \(format)"
        case .unexpectedPicture(let size, let format, let expected):
            "the encoder takes \(expected) in i420, and was given \(size) in \(format)"
        case .sizesDiffer(let one, let other): "a \(one) frame can't be compared with a \(other) one"
        case .conversionFailed(let operation, let code): "libyuv's \(operation) failed with \(code)"
        case .codecFailed(let library, let operation, let reason): "\(library): \(operation) failed: \(reason)"
        case .codecUnavailable(let reason): reason
        case .threadFailed(let reason): "no thread to encode on: \(reason)"
        case .emptyFrame: "the frame has no bytes"
        case .keyFrameNeeded: "there is no earlier frame yet: a key frame must come first"
        case .corruptedFrame(let reason): "the frame is damaged (\(reason)): a key frame must follow"
        case .pictureTooLarge(let size, let limit): "a \(size) frame is larger than the limit of \(limit)"
        }
    }
}
