package import RTCShareRTP
package import RTCShareWireFormat

/// Detects the packets that a stream lacks and schedules requests for them (RFC 4585 §6.2.1).
///
/// A packet after which a later one arrived is requested after ``Configuration/reorderingDelay``, again after each
/// round trip, and given up after ``Configuration/maximumTries``. More gaps than ``Configuration/maximumMissing`` are
/// not worth repairing one by one: they are removed and a key frame is requested.
package struct NACKGenerator: Sendable {
    /// The parameters of the requests.
    package struct Configuration: Hashable, Sendable {
        /// The time for which a gap can be caused by reordering.
        package var reorderingDelay = Duration.milliseconds(10)
        /// The minimum time between two requests for a packet.
        package var minimumRepeat = Duration.milliseconds(20)
        /// The maximum time between two requests for a packet.
        package var maximumRepeat = Duration.milliseconds(500)
        /// The time between two requests while the round-trip time is unknown.
        package var usualRepeat = Duration.milliseconds(100)
        /// The maximum number of requests for one packet.
        package var maximumTries = 10
        /// The maximum number of gaps, above which a key frame is requested instead.
        package var maximumMissing = 1000

        /// Creates parameters for video.
        package init() {}
    }

    /// The result of ``NACKGenerator/receive(_:now:)``.
    package enum Arrival: Hashable, Sendable {
        /// The packet is the newest one. There can be gaps before it.
        case newest
        /// The packet fills a gap, after `tries` requests.
        case filledGap(tries: Int)
        /// The packet is a duplicate, was given up, or precedes the first one.
        case old
        /// The packet is the newest one, with more gaps before it than are worth repairing: a key frame is needed.
        case tooManyGaps
    }

    private struct Gap: Sendable {
        var number: Int64
        var due: Instant
        var tries = 0
    }

    /// The number of requested packets, in which each request counts.
    package private(set) var numbersRequested = 0
    /// The number of packets given up after the last request.
    package private(set) var packetsGivenUp = 0

    private let configuration: Configuration
    /// The gaps in ascending order, which is also the order of detection.
    private var gaps: [Gap] = []
    private var unwrapper = SerialNumberUnwrapper<SequenceNumber>()
    private var newest: Int64?
    private var roundTripTime: Duration?

    /// Creates a generator without packets.
    package init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
    }

    /// Creates a generator for a stream whose numbers restart. The counts and the round-trip time stay.
    init(resuming old: NACKGenerator) {
        self = old
        gaps.removeAll()
        unwrapper = SerialNumberUnwrapper()
        newest = nil
    }

    /// Returns the number of requests for this packet; zero if it is not missing.
    package func tries(of number: SequenceNumber) -> Int {
        index(of: unwrapper.peek(number)).map { gaps[$0].tries } ?? 0
    }

    /// The number of packets that are missing and not given up.
    package var missingCount: Int { gaps.count }

    /// Sets the round-trip time, which determines the interval of requests.
    package mutating func setRoundTripTime(_ time: Duration) {
        roundTripTime = time
    }

    /// Records a packet; a recovered one with its original number.
    package mutating func receive(_ number: SequenceNumber, now: Instant) -> Arrival {
        let unwrapped = unwrapper.unwrap(number)
        guard let newest else {
            self.newest = unwrapped
            return .newest
        }
        guard unwrapped > newest else {
            guard let index = index(of: unwrapped) else { return .old }
            return .filledGap(tries: gaps.remove(at: index).tries)
        }
        self.newest = unwrapped
        guard Int(unwrapped - newest) - 1 + gaps.count <= configuration.maximumMissing else {
            gaps.removeAll(keepingCapacity: true)
            return .tooManyGaps
        }
        let due = now.advanced(by: configuration.reorderingDelay)
        for missing in newest + 1..<unwrapped { gaps.append(Gap(number: missing, due: due)) }
        return .newest
    }

    /// Whether ``expect(_:now:)`` would request this number.
    func canExpect(_ number: SequenceNumber) -> Bool {
        newest.map { unwrapper.peek(number) == $0 + 1 } ?? false
    }

    /// Requests the number after the newest one immediately, although no newer packet shows that it is missing.
    mutating func expect(_ number: SequenceNumber, now: Instant) {
        guard canExpect(number) else { return }
        let unwrapped = unwrapper.unwrap(number)
        newest = unwrapped
        gaps.append(Gap(number: unwrapped, due: now))
    }

    /// Cancels the requests for packets before `number`, since a key frame has made them obsolete.
    package mutating func forget(before number: SequenceNumber) {
        let limit = unwrapper.peek(number)
        guard let first = gaps.first, first.number < limit else { return }
        gaps.removeAll { $0.number < limit }
    }

    /// Returns the packets to request now, in ascending order; empty if none is due.
    package mutating func poll(now: Instant) -> [SequenceNumber] {
        guard let deadline = nextDeadline, deadline <= now else { return [] }
        var numbers: [SequenceNumber] = []
        let wait = repeatInterval
        let before = gaps.count
        gaps.removeAll { $0.due <= now && $0.tries >= configuration.maximumTries }
        packetsGivenUp += before - gaps.count
        for index in gaps.indices where gaps[index].due <= now {
            gaps[index].tries += 1
            gaps[index].due = now.advanced(by: wait)
            numbers.append(SequenceNumber(UInt16(truncatingIfNeeded: gaps[index].number)))
        }
        numbersRequested += numbers.count
        return numbers
    }

    /// The next time to call ``poll(now:)``; nil while nothing is missing.
    package var nextDeadline: Instant? {
        gaps.lazy.map(\.due).min()
    }

    /// The time between two requests for the same packet.
    var repeatInterval: Duration {
        guard let roundTripTime else { return configuration.usualRepeat }
        return min(max(roundTripTime, configuration.minimumRepeat), configuration.maximumRepeat)
    }

    private func index(of number: Int64) -> Int? {
        var low = 0
        var high = gaps.count
        while low < high {
            let middle = (low + high) / 2
            if gaps[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low < gaps.count && gaps[low].number == number ? low : nil
    }
}
