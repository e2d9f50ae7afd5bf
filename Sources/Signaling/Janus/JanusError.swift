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
public enum JanusError: Error, Hashable, Sendable, CustomStringConvertible {
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

    /// What is wrong and what to do.
    public var description: String { words(Words()) }

    /// The same in the words of a program that has names of its own for what is given.
    package func words(_ words: Words) -> String {
        switch self {
        case .url:
            "this is no URL of a Janus; give that of its HTTP API, as http://server.example:8088/janus, or of its WebSocket, "
                + "as ws://server.example:8188"
        case .userInformation: "Janus knows nobody by user and password in the URL; leave them out"
        case .noJanus(let status, let sentence):
            "what answers is no Janus" + (status.map { " (\($0))" } ?? "") + (sentence.map { ": \($0)" } ?? "")
                + "; its HTTP API is usually at http://server.example:8088/janus, its WebSocket at ws://server.example:8188"
        case .refused(let refusal): refusal.words(words)
        case .noAnswer: "the server says something else than was asked for; is it a Janus with VideoRoom?"
        case .pictureDeclined:
            "the room declines the picture, which is VP8; have the room take it (videocodec), or use another"
        case .noPublisher(let name, let present):
            "nobody publishes as \(name) in the room; "
                + (present.isEmpty ? "nobody does at all" : "there are \(present.joined(separator: ", "))")
        case .kicked: "somebody took it out of the room"
        case .roomGone: "the room was ended"
        case .hungUp(let reason): "the server hung up" + (reason.map { ": \($0)" } ?? "")
        case .sessionGone: "the server knows this session no more; it may have been started again"
        case .connectionClosed: "the server closed the connection"
        case .lost: "the server stopped answering, and no other way to it was found"
        }
    }
}

extension JanusRefusal {
    fileprivate func words(_ words: JanusError.Words) -> String {
        "the server refuses (\(code))" + (sentence.map { ": \($0)" } ?? "") + (advice(words).map { "; \($0)" } ?? "")
    }

    private func advice(_ words: JanusError.Words) -> String? {
        switch meaning {
        case .noRoom: "check \(words.room): it has to be there already"
        case .missing where names("pin"): "it wants \(words.pin)"
        case .full: "somebody has to leave, or the room to take more publishers"
        case .wrongPin where names("pin"): "check \(words.pin)"
        case .wrongPin: "who joins has to show \(words.token)"
        case .notAuthorized: "it may want \(words.secret), or \(words.token)"
        case .noVideoRoom: "have it load the VideoRoom plugin"
        case .wrongKind where names("room"): "check \(words.room)"
        case .missing, .wrongKind, .sessionGone, .unsuitable, .other: nil
        }
    }
}
