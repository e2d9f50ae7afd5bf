internal import RTCShareNetworkSimulation

/// The record of a run. Times are in seconds from its start.
struct NetworkRecord {
    /// The interval of rows in seconds.
    static let step = 0.1

    /// The traffic of one user of the network.
    struct Flow {
        struct Packet {
            let time: Double
            /// The wait at the bottleneck, in milliseconds.
            let wait: Double
        }

        let name: String
        let direction: NetworkRun.Network.Direction
        let start: Double
        /// The bytes on the wire in each step, sent and, below, received.
        var sent: [Double]
        var arrived: [Double]
        /// The packets sent in each step and, below, the lost ones of them.
        var packets: [Double]
        var lost: [Double]
        /// The longest wait in each step, in milliseconds.
        var longestWait: [Double]
        /// The estimate at the end of each step, in kbit/s.
        var estimate: [Double?]
        var waits: [Packet] = []
        /// The times at which the viewer's frame became sharp, or stopped being so.
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

        /// Returns the number of received bytes.
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
    /// The capacity in each step, in kbit/s.
    var forwardCapacity: [Double]
    var backwardCapacity: [Double]
    var shares: [Flow]
    var downloads: [Flow]

    /// Returns the number of bytes that the forward bottleneck could transfer.
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
