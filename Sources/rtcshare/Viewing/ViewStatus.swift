internal import FoundationEssentials
internal import Glibc
internal import RTCShareContentShare
internal import RTCShareMedia
internal import RTCSharePeerConnection

/// The previous report of `view`, from which the status line is made.
struct ViewStatus {
    private struct Count {
        let time: Double
        let frames: Int
        let bytes: Int
        let renderDelay: Duration
        let processorTime: Duration

        /// Reads the counts of a report. `large` is the index of the large tile's receiver.
        init(_ report: StatisticsReport, large: Int, processorTime: Duration) {
            let screen = report.inboundRTP[large]?.screen
            time = report.timestamp / 1000
            frames = screen?.framesRendered ?? 0
            bytes = report.inboundRTP.values.reduce(0) { $0 + $1.byteCount }
            renderDelay = screen?.totalRenderDelay ?? .zero
            self.processorTime = processorTime
        }
    }

    private var previous: Count?

    /// Returns the line for the time since the previous report, or the reason why the video is paused. Nil before the
    /// second report.
    mutating func line(
        for report: StatisticsReport, large: Int, processorTime: Duration, pauseState: VideoTileState.PauseState
    ) -> String? {
        let count = Count(report, large: large, processorTime: processorTime)
        defer { previous = count }
        guard let before = previous, count.time > before.time, let stream = report.inboundRTP[large]
        else { return nil }
        guard let width = stream.decoder?.frameWidth, let height = stream.decoder?.frameHeight, width > 0 else {
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
            let delay = (count.renderDelay - before.renderDelay) / (count.frames - before.frames)
            parts.append(String(printing: "%.0f ms delay", delay / .milliseconds(1)))
        }
        parts.append(
            String(printing: "%.0f %% CPU", (count.processorTime - before.processorTime) / .seconds(seconds) * 100))
        return "Viewing " + parts.joined(separator: ", ")
    }
}
