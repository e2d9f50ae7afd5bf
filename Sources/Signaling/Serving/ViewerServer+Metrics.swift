internal import RTCShareContentShare
internal import RTCSharePeerConnection
internal import RTCShareTransport

/// The metrics in Prometheus's text format 0.0.4.
extension ViewerServer {
    func metricsText() async -> String {
        let connections = sessions.values.map(\.connection)
        let summaries = await Connection.summaries(of: connections).values
        let bytes = summaries.reduce(0) { $0 + $1.bytesSent }
        let lost = summaries.reduce(0) { $0 + $1.packetsLost }
        var text = ""
        func add(_ name: String, _ kind: String, _ help: String, _ values: [(labels: String, value: Int64)]) {
            text += "# HELP rtcshare_\(name) \(help)\n# TYPE rtcshare_\(name) \(kind)\n"
            for (labels, value) in values { text += "rtcshare_\(name)\(labels) \(value)\n" }
        }
        let states = sessions.values.map { $0.state == .connected && $0.isWaiting ? "waiting" : $0.state.rawValue }
        add(
            "viewers", "gauge", "Viewers by their state.",
            ["connecting", "waiting", "connected", "disconnected"].map { state in
                ("{state=\"\(state)\"}", Int64(states.count { $0 == state }))
            })
        add("sent_bytes", "gauge", "Bytes of media sent to those who are there.", [("", Int64(clamping: bytes))])
        add("lost_packets", "gauge", "Packets that those who are there have reported as lost.", [("", Int64(lost))])
        add("sessions_total", "counter", "Viewers who were let in.", [("", Int64(counts.sessions))])
        add("requests_total", "counter", "HTTP requests.", [("", Int64(counts.requests))])
        add(
            "refused_requests_total", "counter", "HTTP requests that were refused.",
            [("", Int64(counts.refusedRequests))])
        add(
            "wrong_tokens_total", "counter", "Requests with a wrong token, or none.",
            [("", Int64(counts.refusedTokens))])
        return text
    }
}

/// The counts that a server reports to monitoring.
struct ServerCounts: Sendable {
    var requests = 0
    var sessions = 0
    var refusedTokens = 0
    var refusedRequests = 0
}
