internal import RTCShareICE
internal import RTCSharePeerConnection

/// The servers that help a connection to connect, and what became of those that gave nothing.
struct ServerLookups: Sendable {
    /// Those whose addresses are known; addresses of ours that come later ask them too.
    private(set) var known: [ICEServerAddress] = []
    /// How many names are being looked up.
    var lookUps = 0
    /// Those whose names have no address.
    private var unresolvable: [(url: String, error: ICEServerError)] = []
    /// What streams to servers ended for, in words.
    private(set) var streamFailures: [DedicatedSocket.Endpoint: String] = [:]

    /// For how many streams it is remembered why they ended, for people: a peer names any number of them.
    private static let mostStreamFailures = 64

    /// Whether there are servers that are asked, or were to be.
    var areAsked: Bool { !known.isEmpty || !unresolvable.isEmpty || lookUps > 0 }

    /// Takes note of servers that are asked.
    mutating func ask(_ servers: [ICEServerAddress]) {
        for server in servers where !known.contains(server) { known.append(server) }
        unresolvable.removeAll { failure in servers.contains { $0.url == failure.url } }
    }

    /// Takes note that a server's name has no address.
    mutating func recordUnresolvable(_ url: String, _ error: ICEServerError) {
        unresolvable.removeAll { $0.url == url }
        unresolvable.append((url, error))
    }

    /// Why the first of these servers can't be asked whose name has no address; nil where there is none.
    func unresolvable(of urls: [String]) -> ICEServerError? {
        urls.lazy.compactMap { url in unresolvable.first { $0.url == url }?.error }.first
    }

    /// A stream that is opened has not failed any more.
    mutating func streamDidBegin(_ endpoint: DedicatedSocket.Endpoint) {
        streamFailures[endpoint] = nil
    }

    /// Takes note of why a stream has ended.
    mutating func streamDidEnd(_ endpoint: DedicatedSocket.Endpoint, reason: String) {
        if streamFailures.count < Self.mostStreamFailures { streamFailures[endpoint] = reason }
    }

    /// The servers that gave nothing, a line each: which, and why. `reports`: what each answered to each local address.
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
