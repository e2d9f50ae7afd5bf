internal import RTCShareContentShare
internal import RTCSharePeerConnection

/// Counts for Prometheus (text format 0.0.4).
extension ViewerServer {
    func metricsText() async -> String {
        var bytes: Int64 = 0
        var lost: Int64 = 0
        for session in Array(sessions.values) {
            for object in await room.statistics(of: session.viewer.id) {
                switch object.type {
                case .outboundRTP:
                    bytes += (object.integer("bytesSent") ?? 0) + (object.integer("headerBytesSent") ?? 0)
                case .remoteInboundRTP: lost += object.integer("packetsLost") ?? 0
                default: continue
                }
            }
        }
        var text = ""
        func add(_ name: String, _ kind: String, _ help: String, _ values: [(labels: String, value: Int64)]) {
            text += "# HELP rtcshare_\(name) \(help)\n# TYPE rtcshare_\(name) \(kind)\n"
            for (labels, value) in values { text += "rtcshare_\(name)\(labels) \(value)\n" }
        }
        let states: [ServedViewer.State] = [.connecting, .waiting, .connected, .away]
        add(
            "viewers", "gauge", "Viewers by their state.",
            states.map { state in
                ("{state=\"\(state.rawValue)\"}", Int64(sessions.values.count { $0.state == state }))
            })
        add("sent_bytes", "gauge", "Bytes of media sent to those who are there.", [("", bytes)])
        add("lost_packets", "gauge", "Packets that those who are there have reported as lost.", [("", lost)])
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
