import Foundation
import TestSupport

/// An object of a line of `--stats`, as far as tests judge it.
struct StatisticsEntry: Decodable {
    var id: String
    var type: String
    var kind: String?
    var mimeType: String?
    var payloadType: Int?
    var frameWidth: Int?
    var framesDecoded: Int?
    var packetsReceived: Int?
    var packetsLost: Int?
    var nackCount: Int?
    var retransmittedPacketsSent: Int?
    var retransmittedPacketsReceived: Int?
    var availableOutgoingBitrate: Double?
    var iceLocalUsernameFragment: String?
    var selectedCandidatePairId: String?
    var localCandidateId: String?
    var remoteCandidateId: String?
    var candidateType: String?
    var address: String?
    var `protocol`: String?

    /// The newest report of a file, whose last line may be half written.
    static func newest(in file: URL) -> [StatisticsEntry] {
        let lines = ((try? String(contentsOf: file, encoding: .utf8)) ?? "").split(separator: "\n").reversed()
        return lines.lazy.compactMap { try? JSONDecoder().decode([StatisticsEntry].self, from: Data($0.utf8)) }
            .first ?? []
    }
}

extension [StatisticsEntry] {
    /// The received video.
    var video: StatisticsEntry? { first { $0.type == "inbound-rtp" && $0.kind == "video" } }

    var transport: StatisticsEntry? { first { $0.type == "transport" } }

    /// The candidates of the route in use.
    var route: (local: StatisticsEntry, remote: StatisticsEntry)? {
        func entry(_ id: String?) -> StatisticsEntry? { id.flatMap { id in first { $0.id == id } } }
        let pair = entry(transport?.selectedCandidatePairId)
        guard let local = entry(pair?.localCandidateId), let remote = entry(pair?.remoteCandidateId) else { return nil }
        return (local, remote)
    }
}
