/// Asks a server at a Unix socket.
package struct LocalHTTPClient: Sendable {
    /// Why there is no response, or only a part of one.
    package enum Failure: Error {
        case timedOut
        /// The connection was closed, or not made.
        case closed
    }

    private let client: HTTPClient

    /// - Parameters:
    ///   - path: The path of the socket.
    ///   - timeout: How long a response may take, or the next piece of one that `receive` takes.
    ///   - isTrusted: Whether a connection leads to the server that is meant. Nothing is sent to another.
    ///   - receive: Takes the body of a successful response as it arrives, and returns whether it takes more; without it,
    ///     the body is returned whole.
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
