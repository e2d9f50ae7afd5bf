/// What the sharing process tells the one that plays the viewers, a line of JSON each, and is answered one by one.
enum SoakRequest: Codable {
    /// A new viewer answers an offer, over a path that loses this share of packets.
    case join(viewer: Int, offer: String, loss: Double)
    /// A viewer that is there answers another offer.
    case answer(viewer: Int, offer: String)
    case leave(viewer: Int)
    case vanish(viewer: Int)
    case lose(viewer: Int, share: Double)
    case outage(viewer: Int, seconds: Double)
    case requestKeyFrame(viewer: Int)
    case report
}

/// What comes back.
enum SoakReply: Codable {
    case done
    case answer(String)
    case report(SoakAudienceReport)
    case failed(String)
}

/// How the viewers' process stands.
struct SoakAudienceReport: Codable {
    let census: ProcessCensus
    /// Pictures that were decoded, of all viewers there ever were.
    let picturesSeen: Int
    /// Paths of viewers who are there, or were until lately.
    let paths: Int
    let viewers: [SoakViewerReport]
}

/// What a viewer has seen and heard.
struct SoakViewerReport: Codable {
    let viewer: Int
    /// Seconds since its latest picture, and since it last heard something; nil where there was nothing yet.
    let sinceSeen: Double?
    let sinceHeard: Double?
    /// How its tile stands, and what else there is to say of it.
    let state: String
    /// Why its session is over, where it did not end that itself.
    let ended: String?
}
