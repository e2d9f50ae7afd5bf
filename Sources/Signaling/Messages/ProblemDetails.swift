internal import FoundationEssentials
internal import NIOHTTP1

/// What is wrong with a request, for programs and for people (RFC 9457).
struct ProblemDetails: Error, Sendable {
    let status: HTTPResponseStatus
    /// Tells apart what one status stands for.
    var type = "about:blank"
    /// A sentence.
    let detail: String
    /// When to try again.
    var retryAfter: Duration?
    var headers: [(String, String)] = []

    init(
        _ status: HTTPResponseStatus, _ detail: String, type: String = "about:blank", retryAfter: Duration? = nil,
        headers: [(String, String)] = []
    ) {
        self.status = status
        self.detail = detail
        self.type = type
        self.retryAfter = retryAfter
        self.headers = headers
    }

    private struct Body: Encodable {
        let type: String
        let title: String
        let status: UInt
        let detail: String
    }

    /// The response that says so.
    var response: HTTPResponse {
        let body = Body(type: type, title: status.reasonPhrase, status: status.code, detail: detail)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var response = HTTPResponse(
            status, type: "application/problem+json", body: (try? encoder.encode(body)).map { Array($0) } ?? [])
        if let retryAfter { response.headers.add(name: "Retry-After", value: String(retryAfter.components.seconds)) }
        for (name, value) in headers { response.headers.add(name: name, value: value) }
        return response
    }
}
