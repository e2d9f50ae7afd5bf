package import RTCSharePeerConnection
internal import RTCShareStreams
public import RTCShareWireFormat

/// The media that an attendee can send over a connection.
public enum SharedMedia: Sendable, Hashable, CaseIterable {
    /// The video of the shared content.
    case content
    /// The audio of the shared content.
    case contentAudio
    /// The attendee's camera.
    case camera
    /// The attendee's microphone.
    case microphone

    /// The bitrate that the medium is sent with if the program sets none.
    public var defaultBitrate: DataRate {
        switch self {
        case .content: VideoDefaults.content.bitrate
        case .camera: VideoDefaults.camera.bitrate
        case .contentAudio: AudioSendStream.Settings(isVoice: false).bitrate
        case .microphone: AudioSendStream.Settings(isVoice: true).bitrate
        }
    }

    /// Returns the media sections of a description with these media, in the order that all of our descriptions have.
    package static func kinds(
        _ media: Set<SharedMedia>, of attendee: AttendeeID
    ) throws(AttendeeIDError) -> [LocalIdentity.MediaKind] {
        let content = try attendee.content.rawValue
        return allCases.filter(media.contains).map { kind in
            switch kind {
            case .content: .video(streamID: content, isContent: true)
            case .contentAudio: .audio(streamID: content, isContent: true)
            case .camera: .video(streamID: attendee.rawValue, isContent: false)
            case .microphone: .audio(streamID: attendee.rawValue, isContent: false)
            }
        }
    }
}
