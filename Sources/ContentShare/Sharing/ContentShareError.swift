package import RTCShareWireFormat

/// The reason why a call failed. The share has not changed.
public enum ContentShareError: Error, Sendable, Hashable {
    /// No share can be stopped or changed, because nothing is shared.
    case notSharing
    /// The connection has ended.
    case ended
    /// The viewer's newest answer declines the content's video.
    case refusedByPeer
    /// Another controller shares this attendee's content over this connection.
    case alreadyShared(by: AttendeeID)
    /// The connection has the maximum number of shares.
    case tooManyShares(limit: Int)
    /// The stream has no video track.
    case nothingToShow(stream: String)
    /// A value of the configuration is not valid.
    case configuration(String)
    /// The encoder can't be created.
    case encoder(String)
}

extension ContentShareError: CustomStringConvertible {
    /// The failure with its reason and its remedy.
    public var description: String { explanation.text }
}

extension ContentShareError: ExplainedError {
    /// The problem, and separately its remedy.
    package var explanation: Explanation {
        switch self {
        case .notSharing: Explanation("nothing is shared", remedy: "start a share first")
        case .ended:
            Explanation("the connection has ended", remedy: "make a new connection, with a new offer")
        case .refusedByPeer:
            Explanation(
                "\(ContentShareStatus.refusedByPeer)",
                remedy: "make a new offer")
        case .alreadyShared(let attendee):
            Explanation(
                "\(attendee) shares over this connection already", remedy: "use that attendee's session for both")
        case .tooManyShares(let limit):
            Explanation(
                "this connection has \(limit) shares, and no more are allowed", remedy: "use another connection")
        case .nothingToShow(let stream):
            Explanation("the stream \(stream) has no video track", remedy: "add a video track first")
        case .configuration(let problem): Explanation(problem)
        case .encoder(let reason): "can't create the encoder: \(reason)"
        }
    }
}
