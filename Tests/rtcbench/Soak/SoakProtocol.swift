/// A request to the viewers' process, a line of JSON each. Each has one reply.
enum SoakRequest: Codable {
    /// A new viewer answers an offer, over a link that loses this fraction of packets.
    case join(viewer: Int, offer: String, loss: Double)
    /// An existing viewer answers another offer.
    case answer(viewer: Int, offer: String)
    case leave(viewer: Int)
    case vanish(viewer: Int)
    case lose(viewer: Int, share: Double)
    case outage(viewer: Int, seconds: Double)
    case requestKeyFrame(viewer: Int)
    case report
}

/// A reply of the viewers' process.
enum SoakReply: Codable {
    case done
    case answer(String)
    case report(SoakAudienceReport)
    case failed(String)
}

/// The state of the viewers' process.
struct SoakAudienceReport: Codable {
    let census: ProcessCensus
    /// The number of decoded frames of all viewers so far.
    let picturesSeen: Int
    /// The number of links of current and recent viewers.
    let paths: Int
    let viewers: [SoakViewerReport]
}

/// A viewer's video and audio.
struct SoakViewerReport: Codable {
    let viewer: Int
    /// The seconds since its last frame and, below, since its last audible audio; nil before the first.
    let sinceSeen: Double?
    let sinceHeard: Double?
    /// The state of its tile, with further information.
    let state: String
    /// The reason for the end of its session, if it did not end that itself.
    let ended: String?
}
