internal import RTCShareWireFormat

/// Has those wait who show wrong tokens: each longer than the one before, and too many at once not at all. Who shows the
/// right one never waits.
struct AccessGuard {
    /// What becomes of an answer to a wrong token.
    enum Penalty: Hashable {
        case wait(Duration)
        /// So many answers of this address wait already that this one is given at once, with when to come back.
        case refuse(retryAfter: Duration)
    }

    private struct Record {
        var failures = 0
        var waiting = 0
        var last: Instant
    }

    private var records: [IPAddress?: Record] = [:]

    /// The wait for the first wrong token; it doubles with each further one.
    private let firstWait: Duration
    private static let longestWait = Duration.seconds(8)
    /// Answers of one address that wait at a time.
    private static let maximumWaiting = 8
    /// When what somebody tried is forgotten.
    private static let memory = Duration.seconds(600)
    /// The addresses that are remembered; of more, who tried last is.
    private static let maximumRecords = 1024

    init(firstWait: Duration = .milliseconds(250)) { self.firstWait = firstWait }

    /// Takes note of a wrong token.
    mutating func fail(from client: IPAddress?, now: Instant) -> Penalty {
        let address = client?.clientNetwork
        if records.count >= Self.maximumRecords, records[address] == nil { forget(now: now) }
        var record = records[address] ?? Record(last: now)
        if now - record.last > Self.memory { record.failures = 0 }
        record.failures += 1
        record.last = now
        let isRefused = record.waiting >= Self.maximumWaiting
        if !isRefused { record.waiting += 1 }
        records[address] = record
        let wait = min(Self.longestWait, firstWait * (1 << min(record.failures - 1, 8)))
        return isRefused ? .refuse(retryAfter: Self.longestWait) : .wait(wait)
    }

    /// An answer that waited was given.
    mutating func didWait(_ client: IPAddress?) {
        let address = client?.clientNetwork
        guard let record = records[address] else { return }
        records[address]?.waiting = max(0, record.waiting - 1)
    }

    private mutating func forget(now: Instant) {
        records = records.filter { $0.value.waiting > 0 || now - $0.value.last < Self.memory }
        guard records.count >= Self.maximumRecords else { return }
        let oldest = records.filter { $0.value.waiting == 0 }.min { $0.value.last < $1.value.last }
        if let oldest { records[oldest.key] = nil }
    }
}
