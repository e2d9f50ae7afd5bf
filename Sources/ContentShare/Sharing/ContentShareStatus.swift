internal import RTCShareVideoCoding

/// The reason why a share ended.
public enum ContentShareStatus: Sendable, Hashable, CustomStringConvertible {
    /// It was stopped by a call. That also ends a start whose first frame was not sent.
    case ok
    /// Another start replaced it before its first frame was sent. The other share continues.
    case replaced
    /// The viewer's answer declines the video.
    case refusedByPeer
    /// The viewer left.
    case closedByPeer
    /// The connection failed for this reason.
    case connectionFailed(String)

    /// The status as text for people.
    public var description: String {
        switch self {
        case .ok: "stopped"
        case .replaced: "replaced by another share before it began"
        case .refusedByPeer:
            "the viewer's answer rejects the shared video: it must receive \(VideoCodec.choice) in that section"
        case .closedByPeer: "the viewer left"
        case .connectionFailed(let reason): reason
        }
    }
}
