internal import FoundationEssentials
internal import Glibc
internal import RTCShareWireFormat

/// A rejection by a server: its response, and the known reasons.
public struct EndpointRefusal: Error, Hashable, Sendable {
    /// The HTTP status.
    public let status: Int
    /// The server's own message, a sentence of at most 300 characters, which is untrusted and may contain characters
    /// that control a terminal.
    public let sentence: String?
    /// The time before a retry, if the server names one.
    public let retryAfter: Duration?
    /// The target of a redirection that does not keep the request (301, 302, 303).
    public let location: String?
    /// The use of the token.
    public let token: TokenUse
    /// The names of the video codecs of the rejected offer.
    public let codecs: [String]
    /// Whether the request was not encrypted.
    let isPlain: Bool

    /// The use of a token in the rejected request.
    public enum TokenUse: Hashable, Sendable {
        /// There is no token.
        case none
        /// The token was sent to the server.
        case shown
        /// The token was withheld from the server, to which another origin had redirected.
        case withheld(from: String)
    }

    init(_ response: HTTPClient.Response, token: TokenUse, codecs: [String] = []) {
        status = response.status
        sentence = response.sentence
        retryAfter = response.retryAfter()
        location =
            (300..<400).contains(status)
            ? response["Location"].flatMap { response.url.resolving($0)?.shown } : nil
        self.token = token
        self.codecs = codecs
        isPlain = response.url.origin.hasPrefix("http://")
    }

    /// The codecs of the rejected offer, for people.
    var media: String { ((codecs.isEmpty ? [] : [codecs.choice]) + ["Opus"]).joined(separator: ", and ") }

    /// The meaning of the status in a few words; nil if it is unknown.
    var meaning: String? {
        switch status {
        case 300..<400: "it redirects to another address"
        case 401, 403: "this is not permitted"
        case 404, 405: "there is nothing at this address"
        case 406, 415, 422: "it does not support the offer"
        case 409: "it is not ready, or the address is in use"
        case 410: "this has ended"
        case 413: "the request is too large"
        case 429: "there were too many attempts"
        case 503: "it is busy"
        case 500...: "it has an internal error"
        default: nil
        }
    }

    /// The rejection with its reason, which is the server's sentence, or the meaning of the status.
    var words: String {
        if let sentence, status != 404, status != 405 { return "the server refuses: \(sentence)" }
        guard let meaning else { return "the server refuses with HTTP \(status)" }
        return "the server refuses: \(meaning) (HTTP \(status)" + (sentence.map { ": \($0)" } ?? "") + ")"
    }
}
