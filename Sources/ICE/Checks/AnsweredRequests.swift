import RTCShareSTUN
import RTCShareWireFormat

/// The latest authentic requests. Each counts once, so that an attacker's replay from any address has no effect. RFC
/// 8489 has no rule for this: a request has no time, and its integrity stays valid forever.
struct AnsweredRequests: Sendable {
    /// The source of a request and the base that received it.
    struct Path: Hashable, Sendable {
        let source: TransportAddress
        let base: BaseAddress
    }

    private let limit: Int
    private var paths: [TransactionID: Path] = [:]
    /// The identifiers in order of arrival: a ring once it is full.
    private var order: [TransactionID] = []
    private var oldest = 0

    /// Creates a store of the latest `limit` requests.
    init(limit: Int) {
        self.limit = max(1, limit)
    }

    /// Returns the path of a stored request.
    func path(of id: TransactionID) -> Path? { paths[id] }

    /// The number of stored requests.
    var count: Int { paths.count }

    /// Stores a new request.
    mutating func note(_ id: TransactionID, from source: TransportAddress, to base: BaseAddress) {
        guard paths.updateValue(Path(source: source, base: base), forKey: id) == nil else { return }
        guard order.count >= limit else { return order.append(id) }
        paths[order[oldest]] = nil
        order[oldest] = id
        oldest = (oldest + 1) % limit
    }
}
