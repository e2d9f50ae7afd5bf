internal import NIOHTTP1
internal import RTCShareSignaling

/// Rejects requests to the presenter's page that do not come from the page itself.
///
/// Any page in the presenter's browser reaches this machine, and a name of an attacker can resolve to it (DNS rebinding).
/// So the page must have the right name, requests of other origins are rejected by what browsers say about them, and the
/// interface needs a secret that no other page knows. It is not a cookie: browsers send the same cookies to all ports.
struct PresenterGuard: Sendable {
    let port: UInt16
    let secret: AccessToken

    /// Checks a request with the values that `values` returns for the name of a header. `isControl` is whether it is for the
    /// control interface, and not for a file of the page.
    func check(_ method: HTTPMethod, isControl: Bool, _ values: (String) -> [String]) throws(ProblemDetails) {
        let hosts = values("Host")
        guard let host = hosts.first, hosts.count == 1, ["127.0.0.1:\(port)", "localhost:\(port)"].contains(host) else {
            throw Self.problem(.misdirectedRequest, "the request names another host")
        }
        guard values("Sec-Fetch-Site").allSatisfy({ ["same-origin", "none"].contains($0) }) else {
            throw Self.problem(.forbidden, "the request comes from a page of another origin")
        }
        let origins = values("Origin")
        let needsOrigin = method != .GET && method != .HEAD
        guard origins.allSatisfy({ $0 == "http://\(host)" }), !origins.isEmpty || !needsOrigin else {
            throw Self.problem(
                .forbidden, "the request comes from \(origins.isEmpty ? "no page" : "a page of another origin")")
        }
        guard isControl else { return }
        let authorizations = values("Authorization")
        guard authorizations.count == 1, let words = authorizations.first?.split(separator: " ", maxSplits: 1),
            words.count == 2, words[0].lowercased() == "bearer", secret.accepts(words[1])
        else {
            var problem = Self.problem(.unauthorized, "the secret of this page is missing, or no longer valid")
            problem.headers = [("WWW-Authenticate", "Bearer")]
            throw problem
        }
    }

    private static func problem(_ status: HTTPResponseStatus, _ detail: String) -> ProblemDetails {
        ProblemDetails(status, detail, remedy: "rtcshare present", exitStatus: 77)
    }
}
