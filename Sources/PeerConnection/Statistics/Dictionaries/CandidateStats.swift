internal import RTCShareICE
internal import RTCShareWireFormat

/// W3C `RTCIceCandidateStats`.
package struct CandidateStats: StatisticsDictionary {
    package let id: String
    let transportId = StatisticsReport.transportID
    let address: String
    let port: UInt16
    let `protocol`: TransportProtocol
    let tcpType: TCPType?
    let candidateType: CandidateType
    let priority: UInt32
    let foundation: String
    // Only candidates of this side have the members below.
    let url: String?
    let relayProtocol: TransportProtocol?
    let relatedAddress: String?
    let relatedPort: UInt16?

    init(_ candidate: Candidate, isLocal: Bool) {
        id = Self.id(candidate, isLocal: isLocal)
        address = candidate.address.ip.description
        port = candidate.address.port
        `protocol` = candidate.transport
        tcpType = candidate.tcpType
        candidateType = candidate.type
        priority = candidate.priority
        foundation = candidate.foundation
        url = isLocal ? candidate.url : nil
        relayProtocol = isLocal ? candidate.relayProtocol : nil
        relatedAddress = isLocal ? candidate.relatedAddress?.ip.description : nil
        relatedPort = isLocal ? candidate.relatedAddress?.port : nil
    }

    static func id(_ candidate: Candidate, isLocal: Bool) -> String {
        (isLocal ? "L" : "R") + candidate.address.description + (candidate.tcpType.map { "/tcp-\($0.rawValue)" } ?? "")
    }
}
