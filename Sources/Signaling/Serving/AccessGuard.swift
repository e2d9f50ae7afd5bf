internal import RTCShareWireFormat

/// The delay of answers to wrong tokens. Each wrong token from a network doubles it, and too many delayed answers at
/// once are refused. A correct token is never delayed.
struct AccessGuard {
    /// The treatment of an answer to a wrong token.
    enum Penalty: Hashable {
        case wait(Duration)
        /// An immediate answer with the time to retry after, because too many answers to this network are delayed
        /// already.
        case refuse(retryAfter: Duration)
    }

    private struct Record {
        var failures = 0
        var waiting = 0
        var last: Instant
    }

    private var records: [IPAddress?: Record] = [:]

    /// The delay for the first wrong token, which doubles with each further one.
    private let firstWait: Duration
    private static let longestWait = Duration.seconds(8)
    /// The maximum number of delayed answers to one network.
    private static let maximumWaiting = 8
    /// The time after which failures are forgotten.
    private static let memory = Duration.seconds(600)
    /// The maximum number of networks with a record. The oldest record is removed first.
    private static let maximumRecords = 1024

    init(firstWait: Duration = .milliseconds(250)) { self.firstWait = firstWait }

    /// Records a wrong token.
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

    /// Records that a delayed answer was sent.
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
