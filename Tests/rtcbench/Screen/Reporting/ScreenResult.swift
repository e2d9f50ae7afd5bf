internal import Foundation
internal import RTCShareMedia
internal import RTCShareWireFormat

/// What one sender did with one content, once.
struct ScreenResult: Codable, Sendable {
    let size: String
    let content: ScreenContent
    let peer: ScreenPeer
    let round: Int
    /// Processor time of the sender, milliseconds in a second of content.
    var senderProcessor = 0.0
    /// The same of the X server meanwhile, where capturing costs too, and drawing.
    var serverProcessor = 0.0
    /// What came at the viewer, in kbit/s: UDP payload, with feedback's and handshake's datagrams.
    var bitrate = 0.0
    /// Pictures decoded in a second.
    var frameRate = 0.0
    /// Changes on the screen in a second.
    var changeRate = 0.0
    var keyFrames = 0
    /// Structural similarity of pictures with what the screen showed at their ticks; nil where none came.
    var similarity: Double?
    var leastSimilarity: Double?
    /// That of the newest picture once the content has rested for a second.
    var restSimilarity: Double?
    /// From each change to the first decoded picture that shows it, in milliseconds; and changes that none ever showed.
    var latencies: [Double] = []
    var unseenChanges = 0
    /// From the answer until the connection stands, and from then to the first decoded picture, in milliseconds.
    var connecting = 0.0
    var firstPicture = 0.0
    /// The viewer's decoder, milliseconds a picture.
    var decoding = 0.0
    var packetsLost = 0

    /// Pictures whose number could not be read, or can't be.
    var unreadablePictures = 0

    /// Finds when each change within a window was seen.
    mutating func addLatencies(
        of drawn: [DrawnTick], seen: [ScreenViewer.Seen], from start: Instant, to end: Instant
    ) {
        let readable = seen.filter { seen in
            // A number that was not drawn yet is one that was misread.
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
    /// The value that this share of them does not exceed (nearest rank); nil where there is none.
    func rank(_ share: Double) -> Double? {
        guard !isEmpty else { return nil }
        return sorted()[Swift.max(0, Swift.min(count - 1, Int((share * Double(count)).rounded(.up)) - 1))]
    }

    /// The middle one, or the mean of the two in the middle.
    var median: Double? {
        guard !isEmpty else { return nil }
        let values = sorted()
        return (values[(count - 1) / 2] + values[count / 2]) / 2
    }
}
