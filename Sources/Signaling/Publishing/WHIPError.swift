package import RTCShareWireFormat

/// The reason why a publication to a WHIP server failed or ended.
public enum WHIPError: Error, Hashable, Sendable {
    /// The URL is not a valid URL of the web.
    case url
    /// The URL contains a user name and password.
    case userInformation
    /// The server rejected the request.
    case refused(EndpointRefusal)
    /// The server accepted, but its response is not a valid answer: its status, and its own message if that is a
    /// sentence.
    case noAnswer(status: Int, sentence: String?)
    /// The answer declines the video, in all of the `offered` codecs.
    case pictureDeclined(offered: [String])
    /// The server does not know the session any more, for example after a restart.
    case sessionGone
    /// The server stopped answering, and no other route to it was found.
    case lost

    init(_ failure: EndpointSession.Failure) {
        self =
            switch failure {
            case .refused(let refusal): .refused(refusal)
            case .noAnswer(let status, let sentence): .noAnswer(status: status, sentence: sentence)
            }
    }
}

extension WHIPError: CustomStringConvertible {
    /// The failure, its reason and a remedy.
    public var description: String { explanation.text }
}

extension WHIPError: ExplainedError {
    /// The problem and, separately, a remedy.
    package var explanation: Explanation { explanation(namingToken: "its token") }

    /// Returns the explanation with a program's own name for the token's option.
    package func explanation(namingToken token: String) -> Explanation {
        switch self {
        case .url:
            Explanation(
                "this is not the URL of a WHIP endpoint", remedy: "give a URL that begins with http:// or https://")
        case .userInformation:
            Explanation(
                "a WHIP server takes no user name and password in the URL", remedy: "leave them out, and give \(token)")
        case .refused(let refusal): Explanation(refusal.words, remedy: Self.remedy(for: refusal, token))
        case .noAnswer(let status, let sentence):
            Explanation(
                "the server accepts the offer (HTTP \(status)), but gives no answer"
                    + (sentence.map { ": \($0)" } ?? ""),
                remedy: Self.urlCheck)
        case .pictureDeclined(let offered):
            Explanation(
                "the server rejects the video, which is offered in \(offered.choice)",
                remedy: "allow \(offered.choice) on the server, or use another server")
        case .sessionGone: "the server does not know this session: it may have restarted"
        case .lost: "the server stopped answering, and there is no other route to it"
        }
    }

    private static let urlCheck = "check that the URL is the server's WHIP endpoint"

    private static func remedy(for refusal: EndpointRefusal, _ token: String) -> String? {
        switch (refusal.status, refusal.token) {
        case (300..<400, _):
            refusal.location.flatMap { WebAddress($0) }
                .map { "give the URL to which the server redirects, at \($0.place)" }
        case (400, .none), (401, .none), (403, .none): "give \(token)"
        case (400, .withheld(let origin)), (401, .withheld(let origin)), (403, .withheld(let origin)):
            "give the URL at \(origin), if that is the right server (the token is not sent to a server that another one "
                + "redirects to)"
        case (401, .shown): "check the token"
        case (403, .shown): "check the token, and that nobody else publishes there"
        case (404, _), (405, _), (410, _): urlCheck
        case (406, _), (415, _), (422, _): "use a server that takes \(refusal.media)"
        case (409, _): "check that nobody else publishes there"
        case (429, _), (503, _):
            refusal.retryAfter.map { "wait \($0.components.seconds) seconds, as the server asks" } ?? "wait a while"
        default: nil
        }
    }
}
