internal import FoundationEssentials
internal import Glibc
internal import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareWireFormat

/// The rates of a share since the previous measurement.
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

/// The rates and the path to one viewer.
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

/// Makes rates from the counts of connections, and the status line from rates.
struct ShareStatus {
    private var previous: [Int: SendingSummary] = [:]

    /// The rates since the summaries before, by viewer.
    mutating func rates(for summaries: [Int: SendingSummary]) -> ShareRates {
        var rates = ShareRates()
        for (viewer, summary) in summaries.sorted(by: { $0.key < $1.key }) {
            // Size and frames are the content's; the bits are those of all media.
            guard let video = summary.video, let before = previous[viewer], summary.time > before.time else { continue }
            let seconds = (summary.time - before.time) / .seconds(1)
            let frames = (Double(video.framesSent) - Double(before.video?.framesSent ?? 0)) / seconds
            let bits = (Double(summary.bytesSent) - Double(before.bytesSent)) * 8 / seconds
            let trip = summary.roundTripTime.map { $0 / .seconds(1) }
            rates.bitsPerSecond += bits
            rates.viewers[viewer] = ViewerRates(
                bitsPerSecond: bits, roundTripTime: trip, fractionLost: summary.fractionLost,
                path: summary.isRelayed.map { $0 ? .relayed : .direct })
            guard frames > rates.framesPerSecond || !rates.isKnown else { continue }
            rates.isKnown = true
            rates.framesPerSecond = frames
            if video.frameWidth > 0 { rates.size = PixelSize(width: video.frameWidth, height: video.frameHeight) }
            rates.roundTripTime = trip
            rates.fractionLost = summary.fractionLost
        }
        previous = summaries
        return rates
    }

    /// The status line; this many of the connections are to servers.
    mutating func line(for summaries: [Int: SendingSummary], places: Int = 0) -> String {
        let rates = rates(for: summaries)
        guard rates.isKnown else { return "Sending …" }
        guard let size = rates.size else { return "Waiting for the first frame" }
        var parts = [
            size.description, String(printing: "%.0f fps", rates.framesPerSecond),
            String(printing: "%.0f kbit/s", rates.bitsPerSecond / 1000),
        ]
        if let trip = rates.roundTripTime { parts.append(String(printing: "%.0f ms round trip", trip * 1000)) }
        if let lost = rates.fractionLost { parts.append(String(printing: "%.1f %% lost", lost * 100)) }
        let viewers = max(0, summaries.count - places)
        let audience = [(viewers, "viewer"), (places, "server")].filter { $0.0 > 0 }.map { count, name in
            "\(count) \(name)\(count == 1 ? "" : "s")"
        }
        return (summaries.count > 1 ? "Sending to \(audience.joined(separator: " and ")) " : "Sending ")
            + parts.joined(separator: ", ")
    }
}
