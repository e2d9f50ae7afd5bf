internal import FoundationEssentials
internal import Glibc
internal import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareSignaling
internal import RTCShareStreams

/// The state of a share, as `rtcshare status --json` prints it.
struct ControlledShare: Codable, Hashable, Sendable {
    enum State: String, Codable, CaseIterable, Sendable {
        /// There are no viewers, or all of them wait for admission.
        case waiting
        case connecting, sharing, paused
    }

    struct Camera: Codable, Hashable, Sendable {
        let spec: String
        /// The reason for an interruption; nil if there is none.
        var interruption: String?
        /// Whether the light is on; nil if the camera has none.
        var isLightOn: Bool?
    }

    /// A source of audio.
    struct Sound: Codable, Hashable, Sendable {
        let spec: String
        /// The reason for an interruption; nil if there is none.
        var interruption: String?
    }

    /// The codec of the video for viewers who accept it.
    struct Codec: Codable, Hashable, Sendable {
        let name: String
        let reason: CodecDecision.Reason
        /// The codec that is not used for this reason; nil if there is none.
        var alternative: String?
        /// The seconds until the alternative is tried again.
        var retryIn: Double?
    }

    struct Viewer: Codable, Hashable, Sendable {
        let id: Int
        /// The state of its connection, which is new until its answer is accepted.
        let state: ConnectionState
        /// Whether it waits for admission.
        let isWaiting: Bool
        /// The names of its subgroups, and `main` for the main room.
        let groups: [String]
        /// The address of a viewer that joined through a link.
        var address: String?
        var browser: String?
        /// The time at which it joined.
        var since: Date?
        /// The codec of the video that it is sent; nil before the first frame.
        var codec: String?
        /// The bitrate to the viewer, in kbit/s.
        var bitrate: Double?
        /// The fraction of packets that it reports as lost.
        var fractionLost: Double?
        /// The round trip in seconds.
        var roundTripTime: Double?
        var path: SendingSummary.Route?
        /// The worst trouble of its connection; nil without one.
        var trouble: ViewerTroubles.Trouble?
        /// The figure of the trouble: for `stuck` the seconds of requests for key frames, for `lossy` the fraction of lost
        /// packets, for `slow` the target bitrate in kbit/s, for `late` the round trip in seconds.
        var troubleFigure: Double?
    }

    /// A message for the presenter.
    struct Message: Codable, Hashable, Sendable {
        /// A number that grows with each message.
        let id: Int
        let time: Date
        let text: String
        /// The command to type, or another remedy; nil if nothing helps.
        var remedy: String?
    }

    struct Recording: Codable, Hashable, Sendable {
        let file: String
        /// The duration of the recording.
        let seconds: Double
    }

    /// A server to which it is published.
    struct Server: Codable, Hashable, Sendable {
        let id: Int
        /// The protocol: `whip`, `janus`.
        let kind: String
        /// The name for people, without secrets: for WHIP the scheme and the host of its URL.
        let name: String
        let state: Publication.State
        /// The time since which it has the state.
        let since: Date
        /// The number of times that the share was published there.
        let count: Int
        /// The reason for the last failure; nil after it was published again.
        var failure: String?
        /// The time of the next retry.
        var nextAttempt: Date?
        /// The codec of the video that it is sent; nil before the first frame.
        var codec: String?
        /// The bitrate to the server, in kbit/s.
        var bitrate: Double?
        /// The fraction of packets that it reports as lost.
        var fractionLost: Double?
        /// The round trip in seconds.
        var roundTripTime: Double?
        var path: SendingSummary.Route?
        /// The layers of the video, the best first; nil if the server accepts only one.
        var layers: [Layer]?
    }

    /// A layer of the video to a server.
    struct Layer: Codable, Hashable, Sendable {
        /// The layer's `a=rid`.
        let rid: String
        /// The size of the last sent frame; nil before the first.
        var width: Int?
        var height: Int?
        var framesPerSecond = 0.0
        /// The bitrate in kbit/s.
        var bitrate = 0.0
        /// The reason why it is not sent; nil if it is.
        var pauseReason: SendingSummary.PauseReason?
    }

    let name: String
    let pid: Int32
    let attendee: String
    let state: State
    /// The SPEC of the shared source.
    let source: String
    /// The reason why the source is interrupted, or can't be seen on the screen; nil if there is none.
    let interruption: String?
    /// The presenter's camera; nil if none is sent.
    var camera: Camera?
    /// Whether a camera can be sent: the share was started with one.
    var canSendCamera = false
    /// The sources of the shared audio.
    var sounds: [Sound]?
    /// The presenter's microphone; nil if none is sent.
    var microphone: Sound?
    /// The size of the last sent frame; nil before the first.
    var width: Int?
    var height: Int?
    var framesPerSecond: Double
    /// The total outgoing bitrate in kbit/s.
    var bitrate: Double
    /// The reason why frames are smaller, fewer or coarser than wanted; nil if they are not.
    var qualityLimitationReason: QualityLimitationReason?
    /// The maximum bitrate in kbit/s.
    let maxBitrate: Int
    /// Whether it follows the size of the content, because the presenter has chosen none.
    var isBitrateAutomatic = false
    let maxFramerate: Double
    /// The preferred codec of the video; nil before the first viewer.
    var codec: Codec?
    /// The maximum size of its video; nil if none was set.
    var maxWidth: Int?
    var maxHeight: Int?
    let hint: SharingOptions.Hint?
    /// Whether viewers see a slate instead of the last frame while it is paused.
    let isSlateShown: Bool
    let isAudioMuted: Bool
    let isMicrophoneMuted: Bool
    let destination: String
    /// The subgroups that the presenter has joined.
    let subgroups: [String]
    /// Whether new viewers can't join; nil if there is no link.
    var isLocked: Bool?
    /// Whether viewers wait until the presenter admits them; nil if there is no link.
    var needsApproval: Bool?
    /// The recording of the sent media; nil if there is none.
    var recording: Recording?
    var viewers: [Viewer]
    /// The servers to which it is published.
    var servers: [Server] = []
    /// The newest messages for the presenter, the oldest first.
    var messages: [Message] = []
    /// The seconds since the start of the share.
    var uptime: Double
}
