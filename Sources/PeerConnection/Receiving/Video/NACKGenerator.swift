package import RTCShareRTP
package import RTCShareWireFormat

/// Finds the packets that a stream lacks and says when to ask for which (RFC 4585 §6.2.1).
///
/// A packet that a later one overtook is asked for after ``Configuration/reorderingDelay``, again after each round
/// trip, and given up after ``Configuration/maximumTries``. More gaps than ``Configuration/maximumMissing`` are not
/// worth repairing one by one: then the list is emptied and a key frame asked for.
package struct NACKGenerator: Sendable {
    /// The constants of the requests.
    package struct Configuration: Hashable, Sendable {
        /// How long a gap may be mere reordering.
        package var reorderingDelay = Duration.milliseconds(10)
        /// The shortest time between two requests for a packet.
        package var minimumRepeat = Duration.milliseconds(20)
        /// The longest time between two requests for a packet.
        package var maximumRepeat = Duration.milliseconds(500)
        /// The time between two requests while the round trip is unknown.
        package var usualRepeat = Duration.milliseconds(100)
        /// Requests for one packet before it is given up.
        package var maximumTries = 10
        /// Gaps known at one time before a key frame is the better answer.
        package var maximumMissing = 1000

        /// The values that suit video.
        package init() {}
    }

    /// What a call of ``NACKGenerator/receive(_:now:)`` found out.
    package enum Arrival: Hashable, Sendable {
        /// The packet is the newest one; it may have left gaps behind it.
        case newest
        /// The packet fills a gap, asked for `tries` times.
        case filledGap(tries: Int)
        /// The packet was there already, or given up, or came before the first one.
        case old
        /// The packet is the newest one, and leaves more gaps than are worth repairing: a key frame is needed.
        case tooManyGaps
    }

    private struct Gap: Sendable {
        var number: Int64
        var due: Instant
        var tries = 0
    }

    /// Sequence numbers asked for so far, each try counted.
    package private(set) var numbersRequested = 0
    /// Packets given up after the last try.
    package private(set) var packetsGivenUp = 0

    private let configuration: Configuration
    /// In rising order, which is also the order of discovery.
    private var gaps: [Gap] = []
    private var unwrapper = SerialNumberUnwrapper<SequenceNumber>()
    private var newest: Int64?
    private var roundTripTime: Duration?

    /// A generator that has seen no packet.
    package init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
    }

    /// A generator for a stream whose numbering begins anew; the counts and the round trip time go on.
    init(resuming old: NACKGenerator) {
        self = old
        gaps.removeAll()
        unwrapper = SerialNumberUnwrapper()
        newest = nil
    }

    /// How often this packet has been asked for; zero where it is not missing.
    package func tries(of number: SequenceNumber) -> Int {
        index(of: unwrapper.peek(number)).map { gaps[$0].tries } ?? 0
    }

    /// Packets that are missing and not given up.
    package var missingCount: Int { gaps.count }

    /// Sets the round trip time that repeats go by.
    package mutating func setRoundTripTime(_ time: Duration) {
        roundTripTime = time
    }

    /// Takes note of a packet; recovered ones by their original number.
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

    /// Whether ``expect(_:now:)`` would ask for this number.
    func canExpect(_ number: SequenceNumber) -> Bool {
        newest.map { unwrapper.peek(number) == $0 + 1 } ?? false
    }

    /// Asks for the number after the newest one at once, though nothing newer shows that it is missing.
    mutating func expect(_ number: SequenceNumber, now: Instant) {
        guard canExpect(number) else { return }
        let unwrapped = unwrapper.unwrap(number)
        newest = unwrapped
        gaps.append(Gap(number: unwrapped, due: now))
    }

    /// Drops the requests for what comes before `number`: a key frame has made it worthless.
    package mutating func forget(before number: SequenceNumber) {
        let limit = unwrapper.peek(number)
        guard let first = gaps.first, first.number < limit else { return }
        gaps.removeAll { $0.number < limit }
    }

    /// The packets to ask for now, in rising order; empty where nothing is due.
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

    /// When ``poll(now:)`` next has something to do; nil while nothing is missing.
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
