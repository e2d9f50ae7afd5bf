/// Why nothing is published at a WHIP server, or no more.
public enum WHIPError: Error, Hashable, Sendable, CustomStringConvertible {
    /// It is no URL of the web.
    case url
    /// User and password stand in the URL.
    case userInformation
    /// The server refuses.
    case refused(EndpointRefusal)
    /// The server accepts, and what it says is no answer: its status, and its own words where they are a sentence.
    case noAnswer(status: Int, sentence: String?)
    /// The answer declines the picture.
    case pictureDeclined
    /// The server knows the session no more, as after it was started again.
    case sessionGone
    /// The server stopped answering, and no other way to it was found.
    case lost

    init(_ failure: EndpointSession.Failure) {
        self =
            switch failure {
            case .refused(let refusal): .refused(refusal)
            case .noAnswer(let status, let sentence): .noAnswer(status: status, sentence: sentence)
            }
    }

    /// What is wrong and what to do.
    public var description: String { words(namingToken: "its token") }

    /// The same in the words of a program that has a name of its own for how a token is given.
    package func words(namingToken token: String) -> String {
        switch self {
        case .url: "this is no URL of a WHIP endpoint; give one that begins with http:// or https://"
        case .userInformation:
            "a WHIP server knows nobody by user and password in the URL; leave them out, and give \(token)"
        case .refused(let refusal):
            refusal.words + (Self.advice(on: refusal, token).map { "; \($0)" } ?? "")
        case .noAnswer(let status, let sentence):
            "the server accepts (\(status)) and gives no answer" + (sentence.map { ": \($0)" } ?? "")
                + "; is the URL that of its WHIP endpoint?"
        case .pictureDeclined:
            "the server's answer declines the picture, which is VP8; let the server take VP8, or use another"
        case .sessionGone: "the server knows this session no more; it may have been started again"
        case .lost: "the server stopped answering, and no other way to it was found"
        }
    }

    private static func advice(on refusal: EndpointRefusal, _ token: String) -> String? {
        switch (refusal.status, refusal.token) {
        case (300..<400, _): refusal.location.map { "it is at \($0): give that URL" }
        case (400, .none): "it may want a token: give \(token)"
        case (401, .none), (403, .none): "it wants a token: give \(token)"
        case (400, .withheld(let origin)), (401, .withheld(let origin)), (403, .withheld(let origin)):
            "the token is not shown to \(origin), to which the URL led; where that is right, give the URL there"
        case (401, .shown): "check the token"
        case (403, .shown): "check the token, and whether somebody else is publishing there"
        case (404, _), (405, _), (410, _): "check the URL: it is to be that of a WHIP endpoint"
        case (406, _), (415, _), (422, _): "it may lack VP8 or Opus, which is what is sent"
        case (409, _): "somebody else may be publishing there"
        case (429, _), (503, _):
            refusal.retryAfter.map { "it wants to be asked again in \($0.components.seconds) s" } ?? "try again later"
        default: nil
        }
    }
}
