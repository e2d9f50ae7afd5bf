internal import FoundationEssentials
internal import Glibc

/// A server's answer that is a refusal: what it says, and what is known of why.
public struct EndpointRefusal: Error, Hashable, Sendable {
    /// The status of HTTP.
    public let status: Int
    /// The server's own words, a sentence of at most 300 characters: a stranger's, which may steer a terminal.
    public let sentence: String?
    /// When the server wants to be asked again, where it says so.
    public let retryAfter: Duration?
    /// Where the server leads to in a way that does not keep the request (301, 302, 303).
    public let location: String?
    /// What became of the token.
    public let token: TokenUse
    /// Whether the request was not encrypted.
    let isPlain: Bool

    /// What became of a token.
    public enum TokenUse: Hashable, Sendable {
        /// There is none.
        case none
        /// The server that refuses was shown it.
        case shown
        /// It was kept from the server that refuses, to whose origin another led.
        case withheld(from: String)
    }

    init(_ response: HTTPClient.Response, token: TokenUse) {
        status = response.status
        sentence = response.sentence
        retryAfter = response.retryAfter()
        location =
            (300..<400).contains(status)
            ? response["Location"].flatMap { response.url.resolving($0)?.shown } : nil
        self.token = token
        isPlain = response.url.origin.hasPrefix("http://")
    }

    /// What the status means, in a few words; nil where that is not known.
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

    /// The refusal with its reason, which is the server's sentence, or the meaning of the status.
    var words: String {
        if let sentence, status != 404, status != 405 { return "the server refuses: \(sentence)" }
        guard let meaning else { return "the server refuses with HTTP \(status)" }
        return "the server refuses: \(meaning) (HTTP \(status)" + (sentence.map { ": \($0)" } ?? "") + ")"
    }
}
