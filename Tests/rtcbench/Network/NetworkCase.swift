internal import RTCShareNetworkSimulation
internal import RTCShareWireFormat

/// A network, who uses it, and what is asked of the outcome. Times are in seconds from its beginning.
struct NetworkCase {
    /// From when on there is a rate, in kbit/s.
    typealias Steps = [(from: Double, kilobits: Int)]

    /// Somebody who shares something: a whole connection.
    struct Share {
        var name: String
        var start = 0.0
        var end: Double
        var direction = NetworkRun.Network.Direction.forward
        /// One way, in milliseconds.
        var delay = 50
        /// The deviation of what is added to the delay, in milliseconds.
        var jitter = 0
        /// Random loss, each way.
        var loss = 0.0
        /// What its encoder uses at most, in kbit/s.
        var maximum = 1500
        var hasSound = true
        /// Whether its viewer gives transport-wide feedback, and not receiver reports alone.
        var hasTransportFeedback = true
        /// Whether its viewer takes RTX, without which nothing can be padded.
        var hasRetransmission = true
        /// From when on the picture moves, stands still or is not sent.
        var content: [(from: Double, phase: SyntheticVideo.Phase)] = [(0, .motion)]
    }

    /// Somebody who downloads.
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
    /// In milliseconds at the capacity of the moment.
    var queue = 300
    var shares: [Share]
    var downloads: [Download] = []
    var bars: [NetworkBar]

    /// The same network under a picture that stands still.
    func still() -> NetworkCase {
        var shares = shares
        for index in shares.indices { shares[index].content = [(0, .still)] }
        return NetworkCase(
            name: "still-\(name)", title: "A still picture: \(title)", seconds: min(seconds, 60), forward: forward,
            backward: backward, queue: queue, shares: shares, downloads: downloads,
            bars: shares.indices.map { .sharpness(share: $0) })
    }
}
