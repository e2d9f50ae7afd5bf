internal import FoundationEssentials
internal import Glibc
internal import RTCShareMedia
internal import RTCSharePeerConnection

/// What goes out: since the last time that this was asked.
struct ShareRates: Sendable {
    /// Of the content, as it was sent last.
    var size: PixelSize?
    /// Of the content, to the viewer who is sent most.
    var framesPerSecond = 0.0
    /// Of everything, to all.
    var bitsPerSecond = 0.0
    var roundTripTime: Double?
    var fractionLost: Double?
    /// Whether there was a time before to compare with.
    var isKnown = false
    /// By viewer.
    var viewers: [Int: ViewerRates] = [:]
}

/// What goes to one viewer, and how.
struct ViewerRates: Sendable {
    /// The way that its packets take.
    enum Path: String, Codable, Sendable {
        /// From this machine to the viewer's, or its router.
        case direct
        /// Through a TURN server.
        case relayed
    }

    let bitsPerSecond: Double
    let roundTripTime: Double?
    let fractionLost: Double?
    let path: Path?
}

extension ViewerRates.Path {
    /// The way that is selected.
    init?(_ report: StatisticsReport) {
        guard let isRelayed = report.isRelayed else { return nil }
        self = isRelayed ? .relayed : .direct
    }
}

/// Makes rates out of reports, and the status line out of rates.
struct ShareStatus {
    private struct Count {
        let time: Double
        let frames: Int64
        let bytes: Int64
    }

    private var previous: [Int: Count] = [:]

    /// What went out since the reports before, by viewer.
    mutating func rates(for reports: [(viewer: Int, report: StatisticsReport)]) -> ShareRates {
        var rates = ShareRates()
        var counts: [Int: Count] = [:]
        for (viewer, report) in reports {
            // Size and frames are the content's, which is the first of the video; the bits are those of everything.
            let content = report.outboundRTP.filter { $0.value.kind == .video }.min { $0.key < $1.key }
            let count = Count(
                time: report.timestamp / 1000, frames: Int64(clamping: content?.value.video?.framesSent ?? 0),
                bytes: report.outboundRTP.values.reduce(0) {
                    $0 + Int64(clamping: $1.sent.bytesSent) + Int64(clamping: $1.sent.headerBytesSent)
                })
            counts[viewer] = count
            guard let content, let before = previous[viewer], count.time > before.time else { continue }
            let seconds = count.time - before.time
            let frames = Double(count.frames - before.frames) / seconds
            let bits = Double(count.bytes - before.bytes) * 8 / seconds
            rates.bitsPerSecond += bits
            let remote = report.remoteInboundRTP[content.key]
            let trip = remote?.roundTripTime.map { $0 / .seconds(1) }
            rates.viewers[viewer] = ViewerRates(
                bitsPerSecond: bits, roundTripTime: trip, fractionLost: remote?.fractionLost,
                path: ViewerRates.Path(report))
            guard frames > rates.framesPerSecond || !rates.isKnown else { continue }
            rates.isKnown = true
            rates.framesPerSecond = frames
            if let video = content.value.video, video.frameWidth > 0 {
                rates.size = PixelSize(width: video.frameWidth, height: video.frameHeight)
            }
            rates.roundTripTime = trip
            rates.fractionLost = remote?.fractionLost
        }
        previous = counts
        return rates
    }

    /// The status line; `places` of those who are reported on are servers.
    mutating func line(for reports: [(viewer: Int, report: StatisticsReport)], places: Int = 0) -> String {
        let rates = rates(for: reports)
        guard rates.isKnown else { return "Sending …" }
        guard let size = rates.size else { return "Waiting for the first frame" }
        var parts = [
            size.description, String(printing: "%.0f fps", rates.framesPerSecond),
            String(printing: "%.0f kbit/s", rates.bitsPerSecond / 1000),
        ]
        if let trip = rates.roundTripTime { parts.append(String(printing: "%.0f ms round trip", trip * 1000)) }
        if let lost = rates.fractionLost { parts.append(String(printing: "%.1f %% lost", lost * 100)) }
        let viewers = max(0, reports.count - places)
        let audience = [(viewers, "viewer"), (places, "server")].filter { $0.0 > 0 }.map { count, name in
            "\(count) \(name)\(count == 1 ? "" : "s")"
        }
        return (reports.count > 1 ? "Sending to \(audience.joined(separator: " and ")) " : "Sending ")
            + parts.joined(separator: ", ")
    }
}
