internal import FoundationEssentials
internal import Glibc
internal import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareWireFormat

/// The rates of a share since the previous measurement.
struct ShareRates: Sendable {
    /// The size of the content's last sent frame.
    var size: PixelSize?
    /// The highest frame rate of the content to any viewer.
    var framesPerSecond = 0.0
    /// The bitrate of all media to all viewers.
    var bitsPerSecond = 0.0
    var roundTripTime: Double?
    var fractionLost: Double?
    /// The highest target bitrate of the content to a viewer; nil until it is known.
    var bestTarget: DataRate?
    /// Whether there is a previous measurement.
    var isKnown = false
    /// The layers of the first connection that has some; nil if all have single streams.
    var layers: [ControlledShare.Layer]?
    /// The rates of each viewer, by its number.
    var viewers: [Int: ViewerRates] = [:]
}

/// The rates and the route to one viewer.
struct ViewerRates: Sendable {
    /// The name of the codec of the content's newest packet.
    let codec: String?
    let bitsPerSecond: Double
    let roundTripTime: Double?
    let fractionLost: Double?
    let path: SendingSummary.Route?
    /// The layers of the content; nil for a single stream.
    var layers: [ControlledShare.Layer]?
}

/// The previous measurement, from which rates and the status line are made.
struct ShareStatus {
    private var previous: [Int: SendingSummary] = [:]

    /// Returns the rates since the previous summaries.
    mutating func rates(for summaries: [Int: SendingSummary]) -> ShareRates {
        var rates = ShareRates()
        for (viewer, summary) in summaries.sorted(by: { $0.key < $1.key }) {
            // Size and frame rate are the content's, and the bitrate is that of all media.
            guard let video = summary.video, let before = previous[viewer], summary.time > before.time else { continue }
            let seconds = (summary.time - before.time) / .seconds(1)
            let layers = layers(of: summary, since: before)
            // The best sent layer can be another one than before.
            let frames =
                layers.map { ($0.first { $0.pauseReason == nil } ?? $0[0]).framesPerSecond }
                ?? (Double(video.framesSent) - Double(before.video?.framesSent ?? 0)) / seconds
            let bits = (Double(summary.bytesSent) - Double(before.bytesSent)) * 8 / seconds
            let trip = summary.roundTripTime.map { $0 / .seconds(1) }
            rates.bitsPerSecond += bits
            if let target = summary.targetBitrate { rates.bestTarget = max(rates.bestTarget ?? target, target) }
            rates.viewers[viewer] = ViewerRates(
                codec: summary.codec, bitsPerSecond: bits, roundTripTime: trip, fractionLost: summary.fractionLost,
                path: summary.route, layers: layers)
            rates.layers = rates.layers ?? layers
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

    private func layers(of summary: SendingSummary, since before: SendingSummary) -> [ControlledShare.Layer]? {
        let agreed = summary.layers.filter { $0.pauseReason != .refused }
        guard agreed.count > 1, summary.layers.count == before.layers.count else { return nil }
        let seconds = (summary.time - before.time) / .seconds(1)
        return zip(summary.layers, before.layers).map { layer, before in
            let isShown = layer.video.frameWidth > 0
            return ControlledShare.Layer(
                rid: layer.rid, width: isShown ? layer.video.frameWidth : nil,
                height: isShown ? layer.video.frameHeight : nil,
                framesPerSecond: (Double(layer.video.framesSent) - Double(before.video.framesSent)) / seconds,
                bitrate: (Double(layer.bytesSent) - Double(before.bytesSent)) * 8 / seconds / 1000,
                pauseReason: layer.pauseReason)
        }
    }

    /// Returns the status line. `places` is the number of publications.
    mutating func line(for summaries: [Int: SendingSummary], places: Int = 0) -> String {
        let rates = rates(for: summaries)
        guard rates.isKnown else { return "Sending …" }
        guard let size = rates.size else { return "Waiting for the first frame" }
        let layers = rates.layers?.enumerated().map { index, layer in
            "layer \(index + 1): \(layer.parts.joined(separator: " "))"
        }
        var parts =
            (layers ?? [size.description, String(printing: "%.0f fps", rates.framesPerSecond)])
            + [
                Set(rates.viewers.values.compactMap(\.codec)).sorted().joined(separator: " and "),
                String(printing: "%.0f kbit/s", rates.bitsPerSecond / 1000),
            ].filter { !$0.isEmpty }
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
