import RTCShareSTUN
import RTCShareWireFormat

/// The newest authentic requests: each counts once, so that whoever has caught one and sends it again, from wherever,
/// brings nothing about. RFC 8489 has no rule for this: a request says no time, and integrity holds for ever.
struct AnsweredRequests: Sendable {
    /// Where a request came to, and from where.
    struct Path: Hashable, Sendable {
        let source: TransportAddress
        let base: TransportAddress
    }

    private let limit: Int
    private var paths: [TransactionID: Path] = [:]
    /// A ring, once it is full.
    private var order: [TransactionID] = []
    private var oldest = 0

    /// Remembers the newest `limit` requests.
    init(limit: Int) {
        self.limit = max(1, limit)
    }

    /// Where a request came that is known.
    func path(of id: TransactionID) -> Path? { paths[id] }

    /// How many are remembered.
    var count: Int { paths.count }

    /// Remembers a request that is not known.
    mutating func note(_ id: TransactionID, from source: TransportAddress, to base: TransportAddress) {
        guard paths.updateValue(Path(source: source, base: base), forKey: id) == nil else { return }
        guard order.count >= limit else { return order.append(id) }
        paths[order[oldest]] = nil
        order[oldest] = id
        oldest = (oldest + 1) % limit
    }
}
