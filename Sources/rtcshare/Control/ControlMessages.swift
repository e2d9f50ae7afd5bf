internal import FoundationEssentials
internal import Glibc
internal import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareSignaling

/// A request to a running share. ``ControlRoute`` has the HTTP request for each.
enum ControlRequest: Hashable, Sendable {
    case status
    case stop
    case pause(slate: Bool)
    case resume
    case source(SourceSpecification)
    /// Another picture of the attendee, or `none`.
    case camera(CameraSpecification)
    case light(isOn: Bool)
    /// Properties that are nil stay unchanged.
    case set(VideoEncodingParameters)
    case mute(ControlledSounds)
    case unmute(ControlledSounds)
    case destination(name: String)
    case join(subgroup: String)
    case leave(subgroup: String)
    case invite(main: Bool, subgroups: [String])
    case accept(viewer: Int?, answer: String)
    /// Admits a waiting viewer of the link.
    case admit(viewer: Int)
    case kick(viewer: Int)
    case lock
    case unlock
    case link(subgroup: String?)
}

/// Which sounds `rtcshare mute` is about.
enum ControlledSounds: Hashable, Sendable {
    case all
    case audio
    case microphone
}

/// The answer of a running share.
enum ControlAnswer: Hashable, Sendable {
    /// It is done; with a sentence about what changed.
    case done(notice: String?)
    case status(ControlledShare)
    /// The offer to somebody else who is to view.
    case offer(viewer: Int, description: String)
    /// The links of the share, or of a subgroup, best first.
    case links([String])
    /// It is not done: the exit status that says so, why, the things to choose from, and what to try.
    case failed(status: Int32, reason: String, list: [String] = [], remedy: String?)

    init(_ failure: CommandFailure) {
        self = .failed(
            status: failure.status.rawValue, reason: failure.problem.first ?? "",
            list: failure.problem.dropFirst().map(\.trimmed), remedy: failure.remedy)
    }
}

/// How a share stands, as `rtcshare status --json` prints it.
struct ControlledShare: Codable, Hashable, Sendable {
    enum State: String, Codable, Sendable {
        /// No viewer is there, or all of them wait to be admitted.
        case waiting
        case connecting, sharing, paused
    }

    struct Camera: Codable, Hashable, Sendable {
        let spec: String
        /// Why it stands still; nil where it goes on.
        var interruption: String?
        /// Nil where it has no light that could be switched.
        var isLightOn: Bool?
    }

    /// A source of audio.
    struct Sound: Codable, Hashable, Sendable {
        let spec: String
        /// Why it is silent; nil where it is not.
        var interruption: String?
    }

    struct Viewer: Codable, Hashable, Sendable {
        let id: Int
        /// The state of its connection: it is new until its answer is accepted.
        let state: ConnectionState
        /// Whether it waits to be admitted.
        let isWaiting: Bool
        /// The names of the subgroups that it is in, and `main` for the main room.
        let groups: [String]
        /// Where it asks from, of who came by a link.
        var address: String?
        var browser: String?
        /// When it came.
        var since: Date?
        /// The bitrate to the viewer, in kbit/s.
        var bitrate: Double?
        /// The part of the packets that it reports as lost.
        var fractionLost: Double?
        /// In seconds.
        var roundTripTime: Double?
        var path: ViewerRates.Path?
    }

    struct Recording: Codable, Hashable, Sendable {
        let file: String
        /// How long the film is.
        let seconds: Double
    }

    /// A server that it is published at.
    struct Server: Codable, Hashable, Sendable {
        let id: Int
        /// How the server is spoken to: `whip`, `janus`.
        let kind: String
        /// What people know it by: its URL, without what may be secret in it.
        let name: String
        let state: Publication.State
        /// Since when it is so.
        let since: Date
        /// How often the share was published there.
        let count: Int
        /// Why that failed last; nil once it is there again.
        var failure: String?
        /// When it is tried again.
        var nextAttempt: Date?
        /// The bitrate to the server, in kbit/s.
        var bitrate: Double?
        /// The part of the packets that it reports as lost.
        var fractionLost: Double?
        /// In seconds.
        var roundTripTime: Double?
        var path: ViewerRates.Path?
    }

    let name: String
    let pid: Int32
    let attendee: String
    let state: State
    /// The SPEC of what is shared.
    let source: String
    /// Why the source stands still, or can't be seen where it is; nil where it goes on.
    let interruption: String?
    /// What gives the attendee's own picture; nil where none is sent.
    var camera: Camera?
    /// What gives the sound of what is shared.
    var sounds: [Sound]?
    /// What gives the attendee's own voice; nil where none is sent.
    var microphone: Sound?
    /// What was sent last; nil before anything was.
    var width: Int?
    var height: Int?
    var framesPerSecond: Double
    /// Everything that goes out, in kbit/s.
    var bitrate: Double
    /// In kbit/s.
    let maxBitrate: Int
    let maxFramerate: Double
    /// The largest size of its video; nil if none was set.
    var maxWidth: Int?
    var maxHeight: Int?
    let hint: SharingOptions.Hint?
    /// Whether viewers see a slate instead of the last frame while it is paused.
    let isSlateShown: Bool
    let isAudioMuted: Bool
    let isMicrophoneMuted: Bool
    let destination: String
    /// The subgroups that the owner has joined.
    let subgroups: [String]
    /// Whether new viewers can't join; nil if there is no link.
    var isLocked: Bool?
    /// Whether viewers wait until the presenter admits them; nil if there is no link.
    var needsApproval: Bool?
    /// What is sent is recorded in a film; nil where it is not.
    var recording: Recording?
    var viewers: [Viewer]
    /// The servers that it is published at.
    var servers: [Server] = []
    /// Seconds since the share was started.
    var uptime: Double
}

/// What was done, in a sentence; nil where there is nothing to say.
struct ControlNotice: Codable, Hashable, Sendable {
    let notice: String?
}

/// W3C's `RTCSessionDescriptionInit`, and the viewer that it is for or from.
struct ControlDescription: Codable, Hashable, Sendable {
    /// Nil for the answer of the only invited viewer.
    var viewer: Int?
    let type: SessionDescriptionType
    let sdp: String

    enum SessionDescriptionType: String, Codable {
        case offer, answer
    }
}

/// The links of a share, best first.
struct ControlLinks: Codable, Hashable, Sendable {
    let links: [String]
}

/// Messages as JSON.
enum ControlJSON {
    static func encode(_ message: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return [UInt8](try encoder.encode(message))
    }

    static func decode<Message: Decodable>(_ type: Message.Type, from text: some Collection<UInt8>) throws -> Message {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return try decoder.decode(type, from: Data(text))
    }
}
