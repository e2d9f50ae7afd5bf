internal import FoundationEssentials
internal import Glibc
internal import RTCShareContentShare
internal import RTCShareSignaling
internal import RTCShareWireFormat

/// The servers at which a share is published, beside those who come to it: each a place with a life of its own, numbered
/// from 1.
struct PublishingServers: Sendable {
    /// An event of one server.
    struct Occurrence: Sendable {
        let place: Int
        let event: Publication.Event
    }

    private let publications: [Publication]

    init(_ publications: [Publication] = []) {
        self.publications = publications
    }

    /// Publishes a room's share at servers, once ``start(_:)`` begins.
    init(_ endpoints: [any PublishingEndpoint], of room: SharingRoom) {
        self.init(endpoints.map { Publication(of: room, at: $0) })
    }

    var count: Int { publications.count }
    var isEmpty: Bool { publications.isEmpty }

    /// Begins to publish, and tells what happens; the tasks that do so are the caller's to cancel.
    func start(_ tell: @escaping @Sendable (Occurrence) -> Void) async -> [Task<Void, Never>] {
        var tasks: [Task<Void, Never>] = []
        for (index, publication) in publications.enumerated() {
            tasks.append(
                Task {
                    for await event in publication.events { tell(Occurrence(place: index + 1, event: event)) }
                })
            await publication.start()
        }
        return tasks
    }

    /// Ends all of them at once, and tells the servers.
    func stop() async {
        await withDiscardingTaskGroup { group in
            for publication in publications { group.addTask { await publication.stop() } }
        }
    }

    /// The name of a server.
    func name(of place: Int) -> String {
        let name = publications[place - 1].endpoint.name
        let isUnique = publications.count { $0.endpoint.name == name } == 1
        return isUnique ? name : "\(name) (server \(place))"
    }

    /// The sessions that there are now, by their numbers in the room.
    @SharingActor var sessions: [(viewer: Int, name: String, session: AttendeeSession)] {
        publications.enumerated().compactMap { index, publication in
            publication.status.viewer.map { ($0.id, name(of: index + 1), $0.session) }
        }
    }

    /// The number of servers that have the share.
    @SharingActor var publishedCount: Int { publications.count { $0.status.state == .published } }

    /// Whether every server has failed for good.
    @SharingActor var areGivenUp: Bool { publications.allSatisfy { $0.status.state == .failed } }

    /// The state of each server, for `status`.
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
            bitrate: rates.map { $0.bitsPerSecond / 1000 }, fractionLost: rates?.fractionLost,
            roundTripTime: rates?.roundTripTime, path: rates?.path)
    }
}

extension PublishingServers {
    /// The terminal's text for an event.
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
            // A remedy has a line of its own, behind it.
            lines[0] += " " + next
            return lines
        }
    }
}

/// How the first tries went, where a share goes to servers alone: one that no server takes, and none can be waited for, is
/// worth an error rather than patience.
struct FirstAttempts {
    private var waitedFor: Set<Int>

    init(count: Int) {
        waitedFor = Set((0..<count).map { $0 + 1 })
    }

    /// Takes note of a try that failed; returns whether all did, and no server asked to be tried again.
    mutating func note(_ place: Int, _ retryPolicy: RetryPolicy) -> Bool {
        if case .retry = retryPolicy { return false }
        waitedFor.remove(place)
        return waitedFor.isEmpty
    }
}
