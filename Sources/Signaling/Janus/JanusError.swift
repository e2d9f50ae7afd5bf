package import RTCShareWireFormat

/// What a Janus, or its VideoRoom, refuses.
public struct JanusRefusal: Error, Hashable, Sendable {
    /// The code: Janus' own below 420 and from 440 on, VideoRoom's between.
    public let code: Int
    /// The server's own words: a stranger's, which may steer a terminal.
    public let sentence: String?

    init(code: Int, sentence: String?) {
        self.code = code
        self.sentence = sentence.map { String($0.prefix(300)) }
    }

    /// What the code means, as far as something follows from it.
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

    /// Whether it is for want of a pin, a secret or a token, or of the right one.
    package var isOfPermission: Bool {
        switch meaning {
        case .wrongPin, .notAuthorized: true
        case .missing: names("pin") || names("token")
        case .noRoom, .wrongKind, .full, .sessionGone, .noVideoRoom, .unsuitable, .other: false
        }
    }

    /// Whether what is missing, or another than was shown, is this element of a request.
    func names(_ element: String) -> Bool { sentence?.contains(element) == true }
}

/// Why nothing is published at a Janus, or subscribed to, or no more.
public enum JanusError: Error, Hashable, Sendable {
    /// It is no URL of a Janus.
    case url
    /// User and password stand in the URL.
    case userInformation
    /// What answers is no Janus: its status, and its own words where they are a sentence.
    case noJanus(status: Int?, sentence: String?)
    /// The server refuses.
    case refused(JanusRefusal)
    /// The server says something else than was asked for.
    case noAnswer
    /// The room's answer declines the picture.
    case pictureDeclined
    /// Nobody of this name publishes in the room; those who do.
    case noPublisher(String, present: [String])
    /// Somebody took the publisher out of the room.
    case kicked
    /// The room was ended.
    case roomGone
    /// The server hung up.
    case hungUp(reason: String?)
    /// The server knows the session no more, as after it was started again.
    case sessionGone
    /// The WebSocket was closed.
    case connectionClosed
    /// The server stopped answering, and no other way to it was found.
    case lost

    init(_ refusal: JanusMessage.Refusal) {
        let refusal = JanusRefusal(code: refusal.code, sentence: refusal.reason)
        self = refusal.meaning == .sessionGone ? .sessionGone : .refused(refusal)
    }

    /// How a program calls what a person gives it.
    package struct Words: Sendable {
        package var room = "the room"
        package var pin = "the room's pin"
        package var secret = "the server's API secret"
        package var token = "a token"

        package init() {}
    }
}

extension JanusError: CustomStringConvertible {
    /// The failure, its reason and its remedy.
    public var description: String { explanation.text }
}

extension JanusError: ExplainedError {
    /// The problem and, separately, its remedy.
    package var explanation: Explanation { explanation(Words()) }

    /// The same in the words of a program that has names of its own for what is given.
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
