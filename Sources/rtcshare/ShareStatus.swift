internal import Foundation
internal import PeerConnection

/// Makes the status line: what went out since the line before.
struct ShareStatus {
    private var previous: (time: Double, frames: Int64, bytes: Int64)?

    /// The line for a report.
    mutating func line(for report: [StatisticsObject]) -> String {
        let streams = report.filter { $0.type == .outboundRTP }
        let time = (report.first?.timestamp ?? 0) / 1000
        // Size and frames are the content's, which is the first of the pictures; the bits are those of everything.
        let content = streams.first { $0.text("kind") == "video" }
        let frames = content?.integer("framesSent") ?? 0
        let bytes = streams.reduce(0) { $0 + ($1.integer("bytesSent") ?? 0) + ($1.integer("headerBytesSent") ?? 0) }
        defer { previous = (time, frames, bytes) }
        guard let content, let previous, time > previous.time else { return "Sending …" }
        let seconds = time - previous.time
        var parts = [
            "\(content.integer("frameWidth") ?? 0)x\(content.integer("frameHeight") ?? 0)",
            String(format: "%.0f fps", Double(frames - previous.frames) / seconds),
            String(format: "%.0f kbit/s", Double(bytes - previous.bytes) * 8 / 1000 / seconds),
        ]
        if let remote = report.first(where: { $0.id == content.text("remoteId") }) {
            if let trip = remote.number("roundTripTime") {
                parts.append(String(format: "%.0f ms round trip", trip * 1000))
            }
            if let lost = remote.number("fractionLost") { parts.append(String(format: "%.1f %% lost", lost * 100)) }
        }
        return "Sending " + parts.joined(separator: ", ")
    }
}
