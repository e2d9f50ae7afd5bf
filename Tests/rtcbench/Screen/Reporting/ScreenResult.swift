internal import Foundation
internal import RTCShareMedia
internal import RTCShareWireFormat

/// The result of one sender with one content in one round.
struct ScreenResult: Codable, Sendable {
    let size: String
    let content: ScreenContent
    let peer: ScreenPeer
    let round: Int
    /// The processor time of the sender, in milliseconds per second of content.
    var senderProcessor = 0.0
    /// The processor time of the X server in that time, which includes capturing and drawing.
    var serverProcessor = 0.0
    /// The received bitrate in kbit/s: UDP payload, including feedback and handshake.
    var bitrate = 0.0
    /// The number of decoded frames per second.
    var frameRate = 0.0
    /// The number of changes on the screen per second.
    var changeRate = 0.0
    var keyFrames = 0
    /// The structural similarity of frames to the screen at their ticks; nil if none arrived.
    var similarity: Double?
    var leastSimilarity: Double?
    /// That of the newest frame after the content has been idle for a second.
    var restSimilarity: Double?
    /// The time from each change to the first decoded frame that shows it, in milliseconds and, below, the number of
    /// changes that none ever showed.
    var latencies: [Double] = []
    var unseenChanges = 0
    /// The time from the answer to the connection and, below, from then to the first decoded frame, in milliseconds.
    var connecting = 0.0
    var firstPicture = 0.0
    /// The time of the viewer's decoder, in milliseconds per frame.
    var decoding = 0.0
    var packetsLost = 0

    /// The number of frames whose number could not be read, or is impossible.
    var unreadablePictures = 0

    /// Finds the time at which each change within a window was visible.
    mutating func addLatencies(
        of drawn: [DrawnTick], seen: [ScreenViewer.Seen], from start: Instant, to end: Instant
    ) {
        let readable = seen.filter { seen in
            // A number that was not drawn yet was misread.
            seen.tick.map { $0 < drawn.count && drawn[$0].begun <= seen.decoded } ?? false
        }
        unreadablePictures = seen.count - readable.count
        var position = 0
        for (tick, time) in drawn.map(\.shown).enumerated() where tick > 0 && start <= time && time < end {
            while position < readable.count, readable[position].tick.map({ $0 < tick }) ?? true { position += 1 }
            guard position < readable.count else {
                unseenChanges += 1
                continue
            }
            latencies.append((readable[position].decoded - time).milliseconds)
        }
    }
}

extension [Double] {
    /// Returns the value that this fraction of them does not exceed (nearest rank); nil if there are none.
    func rank(_ share: Double) -> Double? {
        guard !isEmpty else { return nil }
        return sorted()[Swift.max(0, Swift.min(count - 1, Int((share * Double(count)).rounded(.up)) - 1))]
    }

    /// The median, or the mean of the two in the middle.
    var median: Double? {
        guard !isEmpty else { return nil }
        let values = sorted()
        return (values[(count - 1) / 2] + values[count / 2]) / 2
    }
}
