internal import FoundationEssentials
internal import Glibc
internal import RTCShareContentShare
internal import RTCSharePeerConnection

/// Makes the status line of `view` out of its reports.
struct ViewStatus {
    private struct Count {
        let time: Double
        let frames: Int64
        let bytes: Int64
        let renderDelay: Double
        let processorTime: Double

        /// `large` is the id of what is about the large picture.
        init(_ report: [StatisticsObject], large: String) {
            let picture = report.first { $0.id == large }
            time = (report.first?.timestamp ?? 0) / 1000
            frames = picture?.integer("framesRendered") ?? 0
            bytes = report.filter { $0.type == .inboundRTP }.reduce(0) {
                $0 + ($1.integer("bytesReceived") ?? 0) + ($1.integer("headerBytesReceived") ?? 0)
            }
            renderDelay = picture?.number("totalRenderDelay") ?? 0
            processorTime = report.first { $0.type == .transport }?.number("processorTime") ?? 0
        }
    }

    private var previous: Count?

    /// The line for the time since the previous report, or why the video is paused; nil before the second report.
    mutating func line(
        for report: [StatisticsObject], large: String, pauseState: VideoTileState.PauseState
    ) -> String? {
        let count = Count(report, large: large)
        defer { previous = count }
        guard let before = previous, count.time > before.time, let picture = report.first(where: { $0.id == large })
        else { return nil }
        guard let width = picture.integer("frameWidth"), let height = picture.integer("frameHeight"), width > 0 else {
            return "Waiting for the first frame"
        }
        let pause: String? =
            switch pauseState {
            case .unpaused: nil
            case .pausedByUser: "paused here"
            case .pausedBySender: "paused by the presenter"
            case .pausedForPoorConnection: "no data arrives"
            }
        if let pause { return "Viewing \(width)x\(height), \(pause)" }
        let seconds = count.time - before.time
        var parts = [
            "\(width)x\(height)",
            String(printing: "%.0f fps", Double(count.frames - before.frames) / seconds),
            String(printing: "%.0f kbit/s", Double(count.bytes - before.bytes) * 8 / 1000 / seconds),
        ]
        if count.frames > before.frames {
            let delay = (count.renderDelay - before.renderDelay) / Double(count.frames - before.frames)
            parts.append(String(printing: "%.0f ms delay", delay * 1000))
        }
        parts.append(
            String(printing: "%.0f %% CPU", (count.processorTime - before.processorTime) / seconds * 100))
        return "Viewing " + parts.joined(separator: ", ")
    }
}
