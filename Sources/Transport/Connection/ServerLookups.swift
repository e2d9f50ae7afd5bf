internal import RTCShareICE
internal import RTCSharePeerConnection

/// The STUN and TURN servers of a connection, and their failures.
struct ServerLookups: Sendable {
    /// The servers with known addresses. Local addresses that are added later ask them too.
    private(set) var known: [ICEServerAddress] = []
    /// The number of names that are being resolved.
    var lookUps = 0
    /// The servers whose names have no address.
    private var unresolvable: [(url: String, error: ICEServerError)] = []
    /// The reasons for the end of streams to servers.
    private(set) var streamFailures: [DedicatedSocket.Endpoint: String] = [:]

    /// The maximum number of streams for which a reason is kept: a peer can name any number of them.
    private static let mostStreamFailures = 64

    /// Whether there are servers to ask, including failed ones.
    var areAsked: Bool { !known.isEmpty || !unresolvable.isEmpty || lookUps > 0 }

    /// Records the servers that are asked.
    mutating func ask(_ servers: [ICEServerAddress]) {
        for server in servers where !known.contains(server) { known.append(server) }
        unresolvable.removeAll { failure in servers.contains { $0.url == failure.url } }
    }

    /// Records that a server's name has no address.
    mutating func recordUnresolvable(_ url: String, _ error: ICEServerError) {
        unresolvable.removeAll { $0.url == url }
        unresolvable.append((url, error))
    }

    /// Returns the error of the first of these servers whose name has no address; nil if there is none.
    func unresolvable(of urls: [String]) -> ICEServerError? {
        urls.lazy.compactMap { url in unresolvable.first { $0.url == url }?.error }.first
    }

    /// Removes the failure of a stream that is opened again.
    mutating func streamDidBegin(_ endpoint: DedicatedSocket.Endpoint) {
        streamFailures[endpoint] = nil
    }

    /// Records the reason for the end of a stream.
    mutating func streamDidEnd(_ endpoint: DedicatedSocket.Endpoint, reason: String) {
        if streamFailures.count < Self.mostStreamFailures { streamFailures[endpoint] = reason }
    }

    /// Returns the servers that failed, with the reason, a line each. `reports` are each server's answers to each local
    /// address.
    func failures(_ reports: [ServerReport]) -> [String] {
        var lines = unresolvable.map { "\($0.url): \($0.error)" }
        for report in reports {
            guard case .failed(let error) = report.outcome else { continue }
            let reason = streamFailures.first { endpoint, _ in
                endpoint.base == report.base && endpoint.transport == report.server.transport
                    && endpoint.destination == report.server.address
            }?.value
            let text = reason.map { "no connection: \($0)" } ?? error.description
            let line = "\(report.server): \(text)"
            if !lines.contains(line) { lines.append(line) }
        }
        return lines
    }
}
