/// The counts of a connection: the dictionaries of W3C webrtc-stats, each part filled by its owner. ``objects`` has all
/// their members, by name.
public struct StatisticsReport: Sendable {
    /// The time of the values, in milliseconds since 1 January 1970.
    public let timestamp: Double
    /// ICE and DTLS together.
    public package(set) var transport: TransportStats?
    /// The pairs of addresses.
    public internal(set) var candidatePairs: [CandidatePairStats] = []
    package internal(set) var localCandidates: [CandidateStats] = []
    package internal(set) var remoteCandidates: [CandidateStats] = []
    package internal(set) var codecs: [CodecStats] = []
    // The keys are the indices of this side's media.
    package var mediaSources: [Int: MediaSourceStats] = [:]
    /// The sent streams, by the indices of this side's media.
    public package(set) var outboundRTP: [Int: OutboundRTPStreamStats] = [:]
    /// The peer's reports on the sent streams, by the indices of this side's media.
    public internal(set) var remoteInboundRTP: [Int: RemoteInboundRTPStreamStats] = [:]
    // The keys are the indices of the receivers.
    /// The received streams, by the indices of the peer's media.
    public package(set) var inboundRTP: [Int: InboundRTPStreamStats] = [:]
    package internal(set) var remoteOutboundRTP: [Int: RemoteOutboundRTPStreamStats] = [:]
    package var mediaPlayouts: [MediaPlayoutStats] = []
    /// The members that W3C does not define, by the ids of their dictionaries.
    private var additions: [String: [any Encodable & Sendable]] = [:]

    /// The id of ``transport``.
    package static let transportID = "T0"

    package init(timestamp: Double) {
        self.timestamp = timestamp
    }

    /// Adds a program's members to the dictionary with this id, if there is one.
    package mutating func add(_ members: some Encodable & Sendable, to id: String) {
        additions[id, default: []].append(members)
    }

    /// The objects of the report as `getStats()` gives them, with members by name.
    public var objects: [StatisticsObject] {
        var objects: [StatisticsObject] = []
        func add(_ dictionaries: [some StatisticsDictionary], _ type: StatisticsObject.Kind) {
            objects += dictionaries.map {
                StatisticsObject($0, type: type, additions: additions[$0.id] ?? [], timestamp: timestamp)
            }
        }
        func add(_ dictionaries: [Int: some StatisticsDictionary], _ type: StatisticsObject.Kind) {
            add(dictionaries.sorted { $0.key < $1.key }.map(\.value), type)
        }
        if let transport { add([transport], .transport) }
        add(candidatePairs, .candidatePair)
        add(localCandidates, .localCandidate)
        add(remoteCandidates, .remoteCandidate)
        add(codecs, .codec)
        add(mediaSources, .mediaSource)
        add(outboundRTP, .outboundRTP)
        add(remoteInboundRTP, .remoteInboundRTP)
        add(inboundRTP, .inboundRTP)
        add(remoteOutboundRTP, .remoteOutboundRTP)
        add(mediaPlayouts, .mediaPlayout)
        return objects
    }
}

extension StatisticsReport: Encodable {
    /// Encodes ``objects``.
    public func encode(to encoder: any Encoder) throws { try objects.encode(to: encoder) }
}

/// A dictionary of W3C webrtc-stats. It encodes the members of its object and those of its parts.
protocol StatisticsDictionary: Encodable, Sendable {
    /// An id that is unique in a report, and the same in later reports.
    var id: String { get }
}

/// The media type of a stream.
public enum StreamKind: String, Encodable, Sendable {
    /// Audio.
    case audio
    /// Video.
    case video
}
