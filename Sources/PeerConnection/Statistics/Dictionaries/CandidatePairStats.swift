package import RTCShareICE
internal import RTCShareWireFormat

/// W3C `RTCIceCandidatePairStats`.
public struct CandidatePairStats: StatisticsDictionary {
    /// Unique in its report, and the same from report to report.
    public let id: String
    let transportId = StatisticsReport.transportID
    let localCandidateId: String
    let remoteCandidateId: String
    package let state: PairState
    /// Whether the controlling side chose the pair.
    public let nominated: Bool
    let priority: UInt64
    let counts: PairStatistics
    /// The estimated bandwidth of the pair in use, in bits per second.
    public let availableOutgoingBitrate: Double?
    /// The newest round trip of a check.
    public var currentRoundTripTime: Duration? { counts.currentRoundTripTime }

    init(_ pair: PairReport, availableBitrate: DataRate?) {
        id = Self.id(pair.id)
        localCandidateId = CandidateStats.id(pair.local, isLocal: true)
        remoteCandidateId = CandidateStats.id(pair.remote, isLocal: false)
        state = pair.state
        nominated = pair.nominated
        priority = pair.priority
        counts = pair.statistics
        availableOutgoingBitrate = availableBitrate.map { Double($0.bitsPerSecond) }
    }

    static func id(_ pair: Int) -> String { "CP\(pair)" }
}
