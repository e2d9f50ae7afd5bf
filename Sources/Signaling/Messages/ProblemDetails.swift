internal import FoundationEssentials
package import NIOHTTP1

/// The problem with a request, for programs and for people (RFC 9457).
package struct ProblemDetails: Error, Sendable {
    let status: HTTPResponseStatus
    /// The type, which distinguishes problems with the same status.
    var type = "about:blank"
    /// The description, a sentence.
    let detail: String
    /// The time before a retry.
    var retryAfter: Duration?
    /// The alternatives.
    var list: [String] = []
    /// The remedy.
    var remedy: String?
    /// The exit status with which the command line reports it.
    var exitStatus: Int32?
    package var headers: [(String, String)] = []

    package init(
        _ status: HTTPResponseStatus, _ detail: String, list: [String] = [], remedy: String?, exitStatus: Int32
    ) {
        self.init(status, detail)
        self.list = list
        self.remedy = remedy
        self.exitStatus = exitStatus
    }

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
        let list: [String]?
        let remedy: String?
        let exitStatus: Int32?
    }

    /// Returns the response to a request: a page in the language of a browser, JSON for everything else. `root` is the
    /// reference from the request's target to the directory of the viewer page.
    func response(to method: HTTPMethod, _ headers: HTTPHeaders, root: String) -> HTTPResponse {
        let isForPerson =
            [.GET, .HEAD].contains(method)
            && headers[canonicalForm: "Accept"].contains { $0.lowercased().hasPrefix("text/html") }
        guard isForPerson else { return response }
        let languages = headers[canonicalForm: "Accept-Language"]
        return complete(ProblemPage.response(self, root: root, texts: PageTexts.preferred(languages)))
    }

    private func complete(_ response: HTTPResponse) -> HTTPResponse {
        var response = response
        if let retryAfter { response.headers.add(name: "Retry-After", value: String(retryAfter.components.seconds)) }
        for (name, value) in headers { response.headers.add(name: name, value: value) }
        return response
    }

    /// The response for programs.
    package var response: HTTPResponse {
        let body = Body(
            type: type, title: status.reasonPhrase, status: status.code, detail: detail,
            list: list.isEmpty ? nil : list, remedy: remedy, exitStatus: exitStatus)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return complete(
            HTTPResponse(
                status, type: "application/problem+json", body: (try? encoder.encode(body)).map { Array($0) } ?? []))
    }
}
