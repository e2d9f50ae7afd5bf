internal import Foundation
internal import RTCShareLocks
internal import RTCSharePeerConnection
internal import RTCShareRTP
internal import RTCShareSDP
import RTCShareTransport
internal import RTCShareWireFormat
internal import Synchronization

/// The sender to a room: a connection per viewer, all on one port, or on one of each event loop.
final class FanoutRoom {
    private(set) var connections: [Connection] = []
    private var senders: [FanoutSender] = []
    /// All senders, in a list for each event loop.
    private var everybody: [[FanoutSender]] = []
    private(set) var ports: [UInt16] = []
    private let sharedPorts: SharedPorts
    private let crowd: CrowdProcess
    private let kilobitsPerSecond: Int
    private let maximumKilobitsPerSecond: Int
    private let counts = EventCounts()

    /// The counts of the connections' events.
    final class EventCounts: SenderOwner {
        let failures = Atomic(0)
        let keyFrameRequests = Atomic(0)
        let targets = Locked<[ObjectIdentifier: BitrateTarget]>([:])
        /// The connections whose queues are full.
        let full = Locked<Set<ObjectIdentifier>>([])
        let framesWithheld = Atomic(0)

        func makeSender(over connection: Connection, media: [Int]) -> FanoutSender {
            FanoutSender(connection: connection, media: media[0], counts: self)
        }

        func receive(_ feedback: SenderFeedback, of sender: FanoutSender) {
            switch feedback {
            case .keyFrameRequested: keyFrameRequests.add(1, ordering: .relaxed)
            case .target(let target):
                let identifier = ObjectIdentifier(sender.connection)
                targets.withLock { $0[identifier] = target }
                full.withLock { full in
                    if target.isQueueFull { full.insert(identifier) } else { full.remove(identifier) }
                }
            case .negotiated, .lossReported, .unresponsive, .ended: return
            }
        }
    }

    init(crowd: CrowdProcess, kilobitsPerSecond: Int, eventLoops: Int) async throws {
        self.crowd = crowd
        self.kilobitsPerSecond = kilobitsPerSecond
        maximumKilobitsPerSecond = max(2500, 2 * kilobitsPerSecond)
        sharedPorts = try await SharedPorts(addresses: [.v4(0x7F00_0001)], count: eventLoops)
    }

    /// Connects viewers until there are so many. As in a real room, each receives a key frame when it joins, and the
    /// probes of its route, so they don't all join at once.
    func grow(to count: Int, _ frames: inout FanoutFrames) async throws {
        while connections.count < count {
            let known = connections.count
            try await connect(min(32, count - known))
            Connection.send(
                frames.next(isKeyFrame: true, now: MonotonicTime.now), through: Self.lists(of: senders[known...]))
            everybody = Self.lists(of: senders)
            try await Task.sleep(for: .milliseconds(60))
        }
    }

    private static func lists(of senders: some Sequence<FanoutSender>) -> [[FanoutSender]] {
        Array(Dictionary(grouping: senders, by: \.loop).values)
    }

    private func connect(_ count: Int) async throws {
        var waiting: [Task<Bool, Never>] = []
        for _ in 0..<count {
            var random = SystemRandomNumberGenerator()
            var configuration = Connection.Configuration()
            configuration.releasesHandshake = true
            configuration.sharedPort = sharedPorts.next()
            configuration.maxBitrate = .kilobitsPerSecond(maximumKilobitsPerSecond)
            let kind = LocalIdentity.MediaKind.video(streamID: "bench#content", isContent: true)
            let connection = try await Connection(
                as: .offerer,
                identity: LocalIdentity(
                    media: [kind], unixTime: Int64(Date().timeIntervalSince1970), random: &random),
                configuration: configuration)
            let offer = try await connection.makeOffer()
            try crowd.send(.offer(index: connections.count, description: offer.description))
            guard case .answer(_, let description, let port) = try crowd.reply() else {
                throw BenchmarkFailure("the viewers answered out of turn")
            }
            waiting.append(listen(to: connection))
            try await connection.accept(answer: SessionDescription.parse(description), to: offer)
            let rate = DataRate.kilobitsPerSecond(kilobitsPerSecond)
            let sender = try await connection.sender(of: kind, for: counts, atMost: 1)
            sender.setDemand(BitrateDemand(minimum: .kilobitsPerSecond(30), maximum: rate, priority: .medium))
            connections.append(connection)
            senders.append(sender)
            ports.append(port)
        }
        for task in waiting {
            guard await task.value else { throw BenchmarkFailure("a viewer could not connect") }
        }
    }

    /// Reads a connection's events to its end; the task ends when it is connected.
    private func listen(to connection: Connection) -> Task<Bool, Never> {
        let (stream, continuation) = AsyncStream.makeStream(of: Bool.self)
        let counts = counts
        Task {
            for await case .state(let state) in connection.signals {
                switch state {
                case .connected: continuation.yield(true)
                case .failed, .closed:
                    counts.failures.add(1, ordering: .relaxed)
                    continuation.yield(false)
                default: continue
                }
            }
            continuation.finish()
        }
        return Task {
            for await isConnected in stream { return isConnected }
            return false
        }
    }

    /// Sends a frame to all connections, except those whose queues are full.
    func send(_ frame: PacketizedFrame) {
        let full = counts.full.withLock { $0 }
        let ready =
            full.isEmpty
            ? everybody
            : everybody.map { $0.filter { !full.contains(ObjectIdentifier($0.connection)) } }
        counts.framesWithheld.add(
            senders.count - ready.reduce(0) { $0 + $1.count }, ordering: .relaxed)
        Connection.send(frame, through: ready)
    }

    /// Returns the number of withheld frames since the last call.
    func takeFramesWithheld() -> Int { counts.framesWithheld.exchange(0, ordering: .relaxed) }

    /// The number of connections that ended, and the lowest target bitrate of the others, in kbit/s.
    var state: (failures: Int, leastTarget: Int) {
        let least = counts.targets.withLock { targets in targets.values.map(\.bitrate.bitsPerSecond).min() ?? 0 }
        return (counts.failures.load(ordering: .relaxed), Int(least / 1000))
    }

    func close() async {
        for connection in connections { await connection.close() }
        await sharedPorts.close()
    }
}

/// A sender that counts the reports of its connection.
final class FanoutSender: RTPSender {
    let connection: Connection
    let media: Int
    private let counts: FanoutRoom.EventCounts

    init(connection: Connection, media: Int, counts: FanoutRoom.EventCounts) {
        self.connection = connection
        self.media = media
        self.counts = counts
    }

    func receive(_ feedback: SenderFeedback) { counts.receive(feedback, of: self) }
}
