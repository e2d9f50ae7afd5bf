/// Creates streams, tracks and sources, with ids that are valid in SDP.
public struct MediaFactory: Sendable {
    /// The maximum length of an id (RFC 8830 §2).
    public static let maximumIdentifierLength = 64

    /// Creates a factory. It has no state.
    public init() {}

    /// Creates a stream without tracks.
    public func mediaStream(withID id: String) throws(MediaError) -> MediaStream {
        MediaStream(id: try Self.checked(id))
    }

    /// Creates a track of an audio source.
    public func audioTrack(with source: any AudioSource, id: String) throws(MediaError) -> AudioTrack {
        AudioTrack(id: try Self.checked(id), source: source)
    }

    /// Creates a source whose frames the program pushes, as those of a screen or of a camera.
    public func videoSource(forScreencast isScreencast: Bool) -> PushVideoSource {
        PushVideoSource(isScreencast: isScreencast)
    }

    /// Creates a track of a video source.
    public func videoTrack(with source: any VideoSource, id: String) throws(MediaError) -> VideoTrack {
        VideoTrack(id: try Self.checked(id), source: source)
    }

    /// Returns the id if it is valid. RFC 8830 §2: an id has the characters of a token (RFC 8866 §9).
    private static func checked(_ id: String) throws(MediaError) -> String {
        guard !id.isEmpty, id.utf8.count <= maximumIdentifierLength, id.utf8.allSatisfy(isTokenByte) else {
            throw .identifier(id)
        }
        return id
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x30...0x39, 0x41...0x5A, 0x5E...0x7E: true
        default: false
        }
    }
}

/// The reason why a stream or a track can't be created.
public enum MediaError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The id is empty, too long, or has characters that are not allowed in SDP.
    case identifier(String)

    /// The problem and the valid values.
    public var description: String {
        switch self {
        case .identifier(let id):
            "the id \(String(id.prefix(MediaFactory.maximumIdentifierLength)).debugDescription) can't stand in a description; give 1 to "
                + "\(MediaFactory.maximumIdentifierLength) letters, digits or any of !#$%&'*+-.^_`{|}~"
        }
    }
}
