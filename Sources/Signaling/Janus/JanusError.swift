package import RTCShareWireFormat

/// The reason why a publication to Janus, or a subscription, failed or ended.
public enum JanusError: Error, Hashable, Sendable {
    /// The URL is not a valid URL of Janus.
    case url
    /// The URL contains a user name and password.
    case userInformation
    /// The server is not Janus: its status, and its own message if that is a sentence.
    case noJanus(status: Int?, sentence: String?)
    /// The server rejected the request.
    case refused(JanusRefusal)
    /// The server's response is not the expected one.
    case noAnswer
    /// The room's answer declines the video, in all of the `offered` codecs. It has its own, if it is listed.
    case pictureDeclined(offered: [String], accepted: [String])
    /// The room has no publisher of this name; `present` are the existing ones.
    case noPublisher(String, present: [String])
    /// Somebody removed the publisher from the room.
    case kicked
    /// The room was destroyed.
    case roomGone
    /// The server hung up.
    case hungUp(reason: String?)
    /// The server does not know the session any more, for example after a restart.
    case sessionGone
    /// The WebSocket was closed.
    case connectionClosed
    /// The server stopped answering, and no other route to it was found.
    case lost

    init(_ refusal: JanusMessage.Refusal) {
        let refusal = JanusRefusal(code: refusal.code, sentence: refusal.reason)
        self = refusal.meaning == .sessionGone ? .sessionGone : .refused(refusal)
    }

    /// A program's names for a user's input.
    package struct Words: Sendable {
        package var room = "the room"
        package var pin = "the room's pin"
        package var secret = "the server's API secret"
        package var token = "a token"

        package init() {}
    }
}

extension JanusError: CustomStringConvertible {
    /// The failure, its reason and a remedy.
    public var description: String { explanation.text }
}

extension JanusError: ExplainedError {
    /// The problem and, separately, a remedy.
    package var explanation: Explanation { explanation(Words()) }

    /// Returns the explanation with a program's own names for the input.
    package func explanation(_ words: Words) -> Explanation {
        switch self {
        case .url:
            Explanation("this is not the URL of a Janus server", remedy: Self.urls)
        case .userInformation:
            Explanation("Janus takes no user name and password in the URL", remedy: "leave them out")
        case .noJanus(let status, let sentence):
            Explanation(
                "this server is not Janus" + (status.map { " (HTTP \($0))" } ?? "")
                    + (sentence.map { ": \($0)" } ?? ""),
                remedy: Self.urls)
        case .refused(let refusal): refusal.explanation(words)
        case .noAnswer:
            Explanation(
                "the server's answer is not one of Janus' VideoRoom",
                remedy: "check that the URL is a Janus server with the VideoRoom plugin")
        case .pictureDeclined(let offered, let accepted):
            Explanation(
                "the room rejects the video, which is offered in \(offered.choice)"
                    + (accepted.isEmpty ? "" : ": it takes \(accepted.choice)"),
                remedy: "add \(offered.map { $0.lowercased() }.choice) to the room's videocodec, or use another room")
        case .noPublisher(let name, let present):
            Explanation(
                "\(name) does not publish in the room. " + (present.isEmpty ? "Nobody does" : "Its publishers are"),
                list: present)
        case .kicked: "you were removed from the room"
        case .roomGone: "the room was ended"
        case .hungUp(let reason): Explanation("the server ended the session" + (reason.map { ": \($0)" } ?? ""))
        case .sessionGone: "the server does not know this session: it may have restarted"
        case .connectionClosed: "the server closed the connection"
        case .lost: "the server stopped answering, and there is no other route to it"
        }
    }

    private static let urls =
        "give the URL of its HTTP API, as http://server.example:8088/janus, or of its WebSocket, as "
        + "ws://server.example:8188"
}
