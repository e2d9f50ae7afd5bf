internal import RTCShareWireFormat

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

extension JanusRefusal {
    func explanation(_ words: JanusError.Words) -> Explanation {
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
