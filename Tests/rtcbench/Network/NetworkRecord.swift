internal import RTCShareNetworkSimulation

/// What a run showed. Times are in seconds from its beginning.
struct NetworkRecord {
    /// Rows of a record are this many seconds apart.
    static let step = 0.1

    /// What one user of the network did, and what became of it.
    struct Flow {
        struct Packet {
            let time: Double
            /// At the bottleneck, in milliseconds.
            let wait: Double
        }

        let name: String
        let direction: NetworkRun.Network.Direction
        let start: Double
        /// Of each step: bytes on the wire that were sent, and that came.
        var sent: [Double]
        var arrived: [Double]
        /// Packets of each step that were sent, and of them those that vanished.
        var packets: [Double]
        var lost: [Double]
        /// The longest wait of each step, in milliseconds.
        var longestWait: [Double]
        /// What the estimator says at the end of each step, in kbit/s.
        var estimate: [Double?]
        var waits: [Packet] = []
        /// When the picture at the viewer became sharp, or ceased to be.
        var sharpness: [(time: Double, isSharp: Bool)] = []
        var framesSent = 0
        var framesReceived = 0
        var keyFrames = 0
        var failure: String?

        init(name: String, direction: NetworkRun.Network.Direction, start: Double, steps: Int) {
            self.name = name
            self.direction = direction
            self.start = start
            sent = Array(repeating: 0, count: steps)
            arrived = sent
            packets = sent
            lost = sent
            longestWait = sent
            estimate = Array(repeating: nil, count: steps)
        }

        var packetsSent: Int { Int(packets.reduce(0, +)) }
        var packetsLost: Int { Int(lost.reduce(0, +)) }

        /// Bytes that came.
        func delivered(from start: Double, to end: Double) -> Double {
            let steps = Int((start / step).rounded())..<Int((end / step).rounded())
            return arrived[steps.clamped(to: arrived.indices)].reduce(0, +)
        }

        func packets(from start: Double, to end: Double) -> [Packet] {
            waits.filter { $0.time >= start && $0.time < end }
        }

        func waits(from start: Double, to end: Double) -> [Double] { packets(from: start, to: end).map(\.wait) }
    }

    let seconds: Double
    /// Of each step, in kbit/s.
    var forwardCapacity: [Double]
    var backwardCapacity: [Double]
    var shares: [Flow]
    var downloads: [Flow]

    /// Bytes that the forward bottleneck could carry.
    func capacity(from start: Double, to end: Double) -> Double {
        let steps = Int((start / Self.step).rounded())..<Int((end / Self.step).rounded())
        return forwardCapacity[steps.clamped(to: forwardCapacity.indices)].reduce(0, +) * 125 * Self.step
    }

    func rise(to share: Double) -> Double? {
        let flow = shares[0]
        guard let first = flow.sent.firstIndex(where: { $0 > 0 }) else { return nil }
        let window = 5
        for end in first + window...flow.arrived.count where end <= flow.arrived.count {
            let rate = flow.arrived[end - window..<end].reduce(0, +) / (Double(window) * Self.step) / 125
            if rate >= share * forwardCapacity[end - 1] { return Double(end - first) * Self.step }
        }
        return nil
    }
}

private let step = NetworkRecord.step
