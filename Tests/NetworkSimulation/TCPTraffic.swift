package import RTCShareWireFormat

/// What one competing user of TCP does, with both ends of its connections.
package struct TCPTraffic: Sendable {
    /// What it sends.
    package enum Kind: Hashable, Sendable {
        /// One transfer without end.
        case bulk
        /// Files of evenly spread size, each in a connection of its own, with pauses of exponential length between them
        /// (RFC 8868 §4.6). One that does not begin with a file begins with a pause.
        case files(byteCounts: ClosedRange<Int>, meanPause: Duration, beginsWithFile: Bool)
    }

    /// What crosses the network.
    package enum Packet: Hashable, Sendable {
        /// From the sender.
        case segment(TCPSender.Segment, connection: Int)
        /// From the receiver.
        case acknowledgement(TCPSender.Acknowledgement, connection: Int)

        /// Whether it goes the way of the data.
        package var isData: Bool {
            switch self {
            case .segment: true
            case .acknowledgement: false
            }
        }

        /// Bytes on the wire.
        package var byteCount: Int {
            isData ? TCPSender.segmentByteCount : TCPSender.acknowledgementByteCount
        }
    }

    /// Files that have come whole.
    package private(set) var filesFinished = 0
    /// Segments that were sent again, in all connections.
    package var repetitions: Int { earlierRepetitions + (sender?.repetitions ?? 0) }
    /// How often a retransmission timer ran out, in all connections.
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

    /// A user who is there from `start` to `end`.
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

    /// When ``handleTimeout(now:)`` is next due.
    package var nextDeadline: Instant? {
        switch (sender?.nextDeadline, nextFile) {
        case (let timer?, let file?): min(timer, file)
        case (let timer, let file): timer ?? file
        }
    }

    /// The next packet that is to leave now.
    package mutating func poll(now: Instant) -> Packet? {
        if !answers.isEmpty { return answers.removeFirst() }
        guard now < end, let segment = sender?.pollSegment(now: now) else { return nil }
        return .segment(segment, connection: connection)
    }

    /// Takes a packet that arrived.
    package mutating func receive(_ packet: Packet, now: Instant) {
        switch packet {
        case .segment(let segment, connection):
            answers.append(.acknowledgement(receiver.receive(segment), connection: connection))
        case .acknowledgement(let acknowledgement, connection):
            sender?.receive(acknowledgement, now: now)
            if sender?.isFinished == true { finishFile(now: now) }
        default: break  // of a connection that is over
        }
    }

    /// Does what is due.
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
