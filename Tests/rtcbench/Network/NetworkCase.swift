internal import RTCShareNetworkSimulation
internal import RTCShareWireFormat

/// A network with its users and the requirements for the outcome. Times are in seconds from the start.
struct NetworkCase {
    /// Steps of a rate in kbit/s, each with its start.
    typealias Steps = [(from: Double, kilobits: Int)]

    /// A share with a complete connection.
    struct Share {
        var name: String
        var start = 0.0
        var end: Double
        var direction = NetworkRun.Network.Direction.forward
        /// The one-way delay in milliseconds.
        var delay = 50
        /// The deviation of the additional delay, in milliseconds.
        var jitter = 0
        /// The random loss in each direction.
        var loss = 0.0
        /// The maximum bitrate of its encoder, in kbit/s.
        var maximum = 1500
        var hasSound = true
        /// Whether its viewer sends transport-wide feedback, in addition to receiver reports.
        var hasTransportFeedback = true
        /// Whether its viewer supports RTX, without which there is no padding.
        var hasRetransmission = true
        /// The phases of the video, each with its start: moving, still or paused.
        var content: [(from: Double, phase: SyntheticVideo.Phase)] = [(0, .motion)]
    }

    /// A download.
    struct Download {
        var name = "TCP"
        var start = 0.0
        var end: Double
        var kind = TCPTraffic.Kind.bulk
    }

    let name: String
    let title: String
    var seconds: Double
    var forward: Steps
    var backward: Steps = [(0, 4000)]
    /// The length of the queue in milliseconds, at the current capacity.
    var queue = 300
    var shares: [Share]
    var downloads: [Download] = []
    var bars: [NetworkBar]

    /// Returns the same network with still video.
    func still() -> NetworkCase {
        var shares = shares
        for index in shares.indices { shares[index].content = [(0, .still)] }
        return NetworkCase(
            name: "still-\(name)", title: "A still picture: \(title)", seconds: min(seconds, 60), forward: forward,
            backward: backward, queue: queue, shares: shares, downloads: downloads,
            bars: shares.indices.map { .sharpness(share: $0) })
    }
}
