/// A client of a server at a Unix domain socket.
package struct LocalHTTPClient: Sendable {
    /// The reason why there is no response, or only a part of one.
    package enum Failure: Error {
        case timedOut
        /// The connection was closed, or could not be opened.
        case closed
    }

    private let client: HTTPClient

    /// - Parameters:
    ///   - path: The path of the socket.
    ///   - timeout: The timeout for a response, or for the next piece of one that `receive` accepts.
    ///   - isTrusted: Returns whether a connection leads to the intended server. Nothing is sent to another.
    ///   - receive: Receives the body of a successful response as it arrives, and returns whether it accepts more;
    /// without it, the body is returned completely.
    package init(
        path: String, timeout: Duration, isTrusted: @escaping @Sendable (_ descriptor: CInt) -> Bool,
        receive: (@Sendable ([UInt8]) -> Bool)? = nil
    ) {
        client = HTTPClient(
            timeout: timeout, unixSocket: HTTPClient.UnixSocket(path: path, isTrusted: isTrusted), receive: receive)
    }

    /// Sends a request for a path of the server, which begins with `/`; a body is JSON.
    package func perform(
        _ method: String, _ path: String, json body: [UInt8]?
    ) async throws(Failure) -> (status: Int, body: [UInt8]) {
        guard let url = WebAddress("http://localhost" + path) else { throw .closed }
        let headers = body.map { _ in [(name: "Content-Type", value: "application/json")] } ?? []
        let request = HTTPClient.Request(method: method, url: url, headers: headers, body: body)
        do throws(HTTPClientError) {
            let response = try await client.send(request)
            return (response.status, response.body)
        } catch {
            if case .unreachable(_, HTTPClient.silence) = error { throw .timedOut }
            throw .closed
        }
    }
}
