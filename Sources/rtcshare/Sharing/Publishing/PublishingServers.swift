internal import FoundationEssentials
internal import Glibc
internal import RTCShareContentShare
internal import RTCShareSignaling
internal import RTCShareWireFormat

/// The publications of a share, each with its own retries, numbered from 1.
struct PublishingServers: Sendable {
    /// An event of one publication.
    struct Occurrence: Sendable {
        let place: Int
        let event: Publication.Event
    }

    private let publications: [Publication]

    init(_ publications: [Publication] = []) {
        self.publications = publications
    }

    /// Creates publications of a room's share, which ``start(_:)`` starts.
    init(_ endpoints: [any PublishingEndpoint], of room: SharingRoom) {
        self.init(endpoints.map { Publication(of: room, at: $0) })
    }

    var count: Int { publications.count }
    var isEmpty: Bool { publications.isEmpty }

    /// Starts to publish, and passes each event to `tell`. The caller must cancel the returned tasks.
    @SharingActor func start(_ tell: @escaping @Sendable (Occurrence) -> Void) -> [Task<Void, Never>] {
        var tasks: [Task<Void, Never>] = []
        for (index, publication) in publications.enumerated() {
            tasks.append(
                Task {
                    for await event in publication.events { tell(Occurrence(place: index + 1, event: event)) }
                })
            publication.start()
        }
        return tasks
    }

    /// Ends all publications at the same time, and notifies the servers.
    func stop() async {
        await withDiscardingTaskGroup { group in
            for publication in publications { group.addTask { await publication.stop() } }
        }
    }

    /// Returns the name of a server, with its number if the name is not unique.
    func name(of place: Int) -> String {
        let name = publications[place - 1].endpoint.name
        let isUnique = publications.count { $0.endpoint.name == name } == 1
        return isUnique ? name : "\(name) (server \(place))"
    }

    /// The current sessions, by their numbers in the room.
    @SharingActor var sessions: [(viewer: Int, name: String, session: AttendeeSession)] {
        publications.enumerated().compactMap { index, publication in
            publication.status.viewer.map { ($0.id, name(of: index + 1), $0.session) }
        }
    }

    /// The number of servers that have the share.
    @SharingActor var publishedCount: Int { publications.count { $0.status.state == .published } }

    /// Whether every publication has failed permanently.
    @SharingActor var areGivenUp: Bool { publications.allSatisfy { $0.status.state == .failed } }

    /// Returns the state of each publication, for `status`.
    func report(_ rates: ShareRates) async -> [ControlledShare.Server] {
        var places: [ControlledShare.Server] = []
        for (index, publication) in publications.enumerated() {
            let status = await publication.status
            places.append(
                ControlledShare.Server(
                    id: index + 1, kind: publication.endpoint.kind, name: publication.endpoint.name, status,
                    rates: status.viewer.flatMap { rates.viewers[$0.id] }))
        }
        return places
    }
}

extension ControlledShare.Server {
    fileprivate init(id: Int, kind: String, name: String, _ status: Publication.Status, rates: ViewerRates?) {
        self.init(
            id: id, kind: kind, name: name, state: status.state, since: status.since, count: status.count,
            failure: status.failure.map { CommandFailure(explaining: $0).message }, nextAttempt: status.nextAttempt,
            codec: rates?.codec, bitrate: rates.map { $0.bitsPerSecond / 1000 }, fractionLost: rates?.fractionLost,
            roundTripTime: rates?.roundTripTime, path: rates?.path, layers: rates?.layers)
    }
}

extension PublishingServers {
    /// Returns the terminal's text for an event.
    func words(for occurrence: Occurrence) -> [String] {
        let name = name(of: occurrence.place)
        switch occurrence.event {
        case .published(_, count: 1): return ["The share is published to \(name)."]
        case .published: return ["The share is published to \(name) again."]
        case .disconnected: return ["\(name) does not answer. Waiting for it, and looking for another route."]
        case .reconnected: return ["\(name) answers again."]
        case .losses(let count):
            return [
                "\(name) reports \(count == 1 ? "1 lost packet" : "\(count) lost packets"): the route to it is poor."
            ]
        case .limited(let rate):
            return [
                "\(name) takes at most \(rate.bitsPerSecond / 1000) kbit/s of each publisher. --janus-bitrate asks for more."
            ]
        case .failed(let error, _, let pause):
            var lines = CommandFailure(explaining: error).lines(after: "\(name): ")
            guard let pause else { return lines + ["The share is not published to \(name): rtcshare does not retry."] }
            let seconds = max(1, Int((pause / .seconds(1)).rounded()))
            let next = "Trying again in \(seconds) \(seconds == 1 ? "second" : "seconds")."
            // The remedy is on the next line.
            lines[0] += " " + next
            return lines
        }
    }
}

/// The results of the first attempts of a share that is only published. If all fail and none can be retried, the
/// command fails instead of waiting.
struct FirstAttempts {
    private var waitedFor: Set<Int>

    init(count: Int) {
        waitedFor = Set((0..<count).map { $0 + 1 })
    }

    /// Records a failed attempt. Returns whether all failed, and none will be retried.
    mutating func note(_ place: Int, _ retryPolicy: RetryPolicy) -> Bool {
        if case .retry = retryPolicy { return false }
        waitedFor.remove(place)
        return waitedFor.isEmpty
    }
}
