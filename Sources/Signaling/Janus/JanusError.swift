package import RTCShareWireFormat

/// A rejection by Janus, or its VideoRoom plugin.
public struct JanusRefusal: Error, Hashable, Sendable {
    /// The code: Janus's own below 420 and from 440 on, VideoRoom's between.
    public let code: Int
    /// The server's own message, which is untrusted and may contain characters that control a terminal.
    public let sentence: String?

    init(code: Int, sentence: String?) {
        self.code = code
        self.sentence = sentence.map { String($0.prefix(300)) }
    }

    /// The meaning of the code, as far as it has consequences.
    enum Meaning {
        case noRoom, missing, wrongKind, full, wrongPin, notAuthorized, sessionGone, noVideoRoom, unsuitable, other
    }

    var meaning: Meaning {
        switch code {
        case 426: .noRoom
        case 429: .missing
        case 430: .wrongKind
        case 432: .full
        case 433: .wrongPin
        case 403, 405, 470: .notAuthorized
        case 458, 459: .sessionGone
        case 460: .noVideoRoom
        case 437, 465: .unsuitable
        default: .other
        }
    }

    /// Whether a PIN, a secret or a token is missing or wrong.
    package var isOfPermission: Bool {
        switch meaning {
        case .wrongPin, .notAuthorized: true
        case .missing: names("pin") || names("token")
        case .noRoom, .wrongKind, .full, .sessionGone, .noVideoRoom, .unsuitable, .other: false
        }
    }

    /// Returns whether this element of a request is missing or wrong.
    func names(_ element: String) -> Bool { sentence?.contains(element) == true }
}

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
    /// The room's answer declines the video.
    case pictureDeclined
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
        case .pictureDeclined:
            Explanation(
                "the room does not take VP8 video",
                remedy: "add vp8 to the room's videocodec, or use another room")
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

extension JanusRefusal {
    fileprivate func explanation(_ words: JanusError.Words) -> Explanation {
        Explanation(
            sentence.map { "the server refuses: \($0)" } ?? "the server refuses with error \(code)",
            remedy: remedy(words))
    }

    private func remedy(_ words: JanusError.Words) -> String? {
        switch meaning {
        case .noRoom: "check \(words.room), which must exist already"
        case .missing where names("pin"): "give \(words.pin)"
        case .full: "wait until a publisher leaves, or allow more publishers in the room"
        case .wrongPin where names("pin"): "check \(words.pin)"
        case .wrongPin: "give \(words.token)"
        case .notAuthorized: "give \(words.secret), or \(words.token)"
        case .noVideoRoom: "load the VideoRoom plugin on the server"
        case .wrongKind where names("room"): "check \(words.room)"
        case .missing, .wrongKind, .sessionGone, .unsuitable, .other: nil
        }
    }
}
