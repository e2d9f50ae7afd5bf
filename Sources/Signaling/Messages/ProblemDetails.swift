internal import FoundationEssentials
package import NIOHTTP1

/// What is wrong with a request, for programs and for people (RFC 9457).
package struct ProblemDetails: Error, Sendable {
    let status: HTTPResponseStatus
    /// Tells apart what one status stands for.
    var type = "about:blank"
    /// A sentence.
    let detail: String
    /// When to try again.
    var retryAfter: Duration?
    /// The things to choose from.
    var list: [String] = []
    /// What to try.
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

    /// The response to a request: a page in the language of a person's browser, JSON for everything else. `root` leads from
    /// the request's target to the folder of the viewer page.
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
