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
    }

    /// What the status means, in a few words; nil where that is not known.
    var meaning: String? {
        switch status {
        case 300..<400: "elsewhere"
        case 401, 403: "not permitted"
        case 404, 405: "nothing there"
        case 406, 415, 422: "not acceptable"
        case 409: "not now"
        case 410: "over"
        case 413: "too long"
        case 429: "too often"
        case 503: "busy"
        case 500...: "the server's own trouble"
        default: nil
        }
    }

    /// `the server refuses (403, not permitted): …`.
    var words: String {
        "the server refuses (\(status)\(meaning.map { ", \($0)" } ?? ""))" + (sentence.map { ": \($0)" } ?? "")
    }
}
