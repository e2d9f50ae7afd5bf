package import RTCShareWireFormat

/// The traffic of one competing TCP user, with both ends of its connections.
package struct TCPTraffic: Sendable {
    /// The kind of traffic.
    package enum Kind: Hashable, Sendable {
        /// One transfer without end.
        case bulk
        /// Files of uniformly distributed size, each in its own connection, with pauses of exponential length between
        /// them (RFC 8868 §4.6). If it does not begin with a file, it begins with a pause.
        case files(byteCounts: ClosedRange<Int>, meanPause: Duration, beginsWithFile: Bool)
    }

    /// A packet on the network.
    package enum Packet: Hashable, Sendable {
        /// From the sender.
        case segment(TCPSender.Segment, connection: Int)
        /// From the receiver.
        case acknowledgement(TCPSender.Acknowledgement, connection: Int)

        /// Whether it has the direction of the data.
        package var isData: Bool {
            switch self {
            case .segment: true
            case .acknowledgement: false
            }
        }

        /// The size on the wire in bytes.
        package var byteCount: Int {
            isData ? TCPSender.segmentByteCount : TCPSender.acknowledgementByteCount
        }
    }

    /// The number of complete files.
    package private(set) var filesFinished = 0
    /// The number of retransmitted segments, in all connections.
    package var repetitions: Int { earlierRepetitions + (sender?.repetitions ?? 0) }
    /// The number of retransmission timeouts, in all connections.
    package var timeouts: Int { earlierTimeouts + (sender?.timeouts ?? 0) }

    private let kind: Kind
    private let control: TCPCongestionControl
    private let end: Instant
    private var sender: TCPSender?
    private var receiver = TCPReceiver()
    private var connection = 0
    private var nextFile: Instant?
    private var answers: [Packet] = []
    private var generator: SeededGenerator
    private var earlierRepetitions = 0
    private var earlierTimeouts = 0

    /// Creates a user who is active from `start` to `end`.
    package init(_ kind: Kind, _ control: TCPCongestionControl, start: Instant, end: Instant, seed: UInt64) {
        self.kind = kind
        self.control = control
        self.end = end
        generator = SeededGenerator(seed: seed)
        nextFile = start
        if case .files(_, let pause, beginsWithFile: false) = kind {
            nextFile = start.advanced(by: .seconds(generator.exponential(mean: pause.seconds)))
        }
    }

    /// The time at which ``handleTimeout(now:)`` is due.
    package var nextDeadline: Instant? {
        switch (sender?.nextDeadline, nextFile) {
        case (let timer?, let file?): min(timer, file)
        case (let timer, let file): timer ?? file
        }
    }

    /// Returns the next packet to send now.
    package mutating func poll(now: Instant) -> Packet? {
        if !answers.isEmpty { return answers.removeFirst() }
        guard now < end, let segment = sender?.pollSegment(now: now) else { return nil }
        return .segment(segment, connection: connection)
    }

    /// Receives a packet.
    package mutating func receive(_ packet: Packet, now: Instant) {
        switch packet {
        case .segment(let segment, connection):
            answers.append(.acknowledgement(receiver.receive(segment), connection: connection))
        case .acknowledgement(let acknowledgement, connection):
            sender?.receive(acknowledgement, now: now)
            if sender?.isFinished == true { finishFile(now: now) }
        default: break  // of an ended connection
        }
    }

    /// Handles the timers that have expired.
    package mutating func handleTimeout(now: Instant) {
        if now >= end {
            endConnection()
            nextFile = nil
        }
        sender?.handleTimeout(now: now)
        if let due = nextFile, due <= now {
            nextFile = nil
            connection += 1
            receiver = TCPReceiver()
            switch kind {
            case .bulk: sender = TCPSender(control)
            case .files(let byteCounts, _, _):
                sender = TCPSender(control, byteCount: Int.random(in: byteCounts, using: &generator))
            }
        }
    }

    private mutating func finishFile(now: Instant) {
        filesFinished += 1
        endConnection()
        if case .files(_, let pause, _) = kind {
            nextFile = now.advanced(by: .seconds(generator.exponential(mean: pause.seconds)))
        }
    }

    private mutating func endConnection() {
        earlierRepetitions += sender?.repetitions ?? 0
        earlierTimeouts += sender?.timeouts ?? 0
        sender = nil
    }
}
