/// Makes streams, tracks and sources, with ids that can stand in a description.
public struct MediaFactory: Sendable {
    /// The longest id (RFC 8830 §2).
    public static let maximumIdentifierLength = 64

    /// A factory; any of them makes the same.
    public init() {}

    /// A stream without tracks.
    public func mediaStream(withID id: String) throws(MediaError) -> MediaStream {
        MediaStream(id: try Self.checked(id))
    }

    /// A track of an audio source.
    public func audioTrack(with source: any AudioSource, id: String) throws(MediaError) -> AudioTrack {
        AudioTrack(id: try Self.checked(id), source: source)
    }

    /// A source whose frames the program pushes: of a screen, or else of a camera.
    public func videoSource(forScreencast isScreencast: Bool) -> CustomVideoSource {
        CustomVideoSource(isScreencast: isScreencast)
    }

    /// A track of a video source.
    public func videoTrack(with source: any VideoSource, id: String) throws(MediaError) -> VideoTrack {
        VideoTrack(id: try Self.checked(id), source: source)
    }

    /// RFC 8830 §2: an id is of the characters of a token (RFC 8866 §9).
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

/// Why a stream or a track can't be made.
public enum MediaError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The id is empty, too long, or has characters that no description can hold.
    case identifier(String)

    /// What is wrong, and what would be right.
    public var description: String {
        switch self {
        case .identifier(let id):
            "the id \(String(id.prefix(MediaFactory.maximumIdentifierLength)).debugDescription) can't stand in a description; give 1 to "
                + "\(MediaFactory.maximumIdentifierLength) letters, digits or any of !#$%&'*+-.^_`{|}~"
        }
    }
}
