internal import FoundationEssentials
package import RTCShareWireFormat

/// The reason why playing from a WHEP server failed.
public enum WHEPError: Error, Hashable, Sendable {
    /// The URL is not a valid URL of the web.
    case url
    /// The link's secret is malformed.
    case token(AccessTokenError)
    /// The server rejected the request.
    case refused(EndpointRefusal)
    /// The server's response is not a valid answer.
    case noAnswer(status: Int)
    /// The presenter removed this viewer.
    case removed
    /// The presenter did not admit this viewer.
    case declined
    /// The server does not know the session any more, for example after a restart.
    case sessionGone
    /// The server stopped answering, and no other route to it was found.
    case lost

    init(_ failure: EndpointSession.Failure) {
        self =
            switch failure {
            case .refused(let refusal): .refused(refusal)
            case .noAnswer(let status, _): .noAnswer(status: status)
            }
    }
}

extension WHEPError: CustomStringConvertible {
    /// The failure, its reason and a remedy.
    public var description: String { explanation.text }
}

extension WHEPError: ExplainedError {
    /// The problem and, separately, a remedy.
    package var explanation: Explanation {
        switch self {
        case .url: Explanation("this is not a link", remedy: "give a link that begins with http:// or https://")
        case .token(let error):
            Explanation(
                "the link's secret, the part after #, is damaged: \(error.explanation.problem)", remedy: Self.copy)
        case .noAnswer(let status):
            Explanation(
                "the server accepts the offer (HTTP \(status)), but gives no answer",
                remedy: "check that the URL is a link of a share, or a WHEP endpoint")
        case .refused(let refusal):
            switch (refusal.status, refusal.token) {
            case (401, .none), (403, .none):
                Explanation("this link has no secret: the part after # is missing", remedy: Self.copy)
            case (400, _) where refusal.isPlain && refusal.sentence == nil:
                Explanation(
                    "the server refuses the request: it may require HTTPS",
                    remedy: "use https:// instead of http:// in the link")
            default: Explanation(refusal.words, remedy: Self.remedy(for: refusal))
            }
        case .removed: "the presenter removed you"
        case .declined: "the presenter did not admit you"
        case .sessionGone:
            Explanation("the server does not know this session: it may have restarted", remedy: "open the link again")
        case .lost:
            Explanation(
                "the server stopped answering, and there is no other route to it",
                remedy: "open the link again when the server is back")
        }
    }

    private static let copy = "copy the whole link"

    private static func remedy(for refusal: EndpointRefusal) -> String? {
        switch refusal.status {
        case 300..<400:
            refusal.location.flatMap { WebAddress($0) }
                .map { "use \($0.place) in the link, to which the server redirects" }
        case 401, 403:
            if case .withheld(let origin) = refusal.token {
                "use \(origin) in the link, if that is the right server (the secret is not sent to a server that another "
                    + "one redirects to)"
            } else if refusal.status == 401 {
                "copy the whole link, or ask the presenter for the current one"
            } else {
                "ask the presenter to admit new viewers"
            }
        case 404, 405, 410: "check the link"
        case 406, 415, 422: "use a server that sends \(refusal.media)"
        case 409, 429, 503:
            refusal.retryAfter.map { "wait \($0.components.seconds) seconds, as the server asks" } ?? "wait a while"
        default: nil
        }
    }
}
