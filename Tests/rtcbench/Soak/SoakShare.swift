internal import Foundation
internal import RTCShareCapture
internal import RTCShareContentShare
internal import RTCShareLocks
internal import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareSDP
import RTCShareTransport
internal import RTCShareWireFormat

/// The share of a soak test: a room with video and audio, and its viewers in another process.
final class SoakShare {
    /// A viewer to which the sharing side has, or had, a connection.
    private struct Seat {
        let viewer: RoomViewer
        var framesSent = 0
        /// Whether the newest offer had no audio, so that another is necessary when there is some.
        var wasOfferedSilence = false
    }

    /// Objects that must be released after all viewers have left.
    private struct Remains {
        let ownsPort: Bool
        weak var connection: Connection?
        weak var session: AttendeeSession?
    }

    /// Observes the share.
    private final class Observer: ContentShareObserver {
        let ends = Locked<[String]>([])

        func contentShareDidStop(status: ContentShareStatus) {
            // A source may be replaced before anybody has seen it.
            guard status != .replaced else { return }
            ends.withLock { $0.append(status.description) }
        }
    }

    private let room: SharingRoom
    private let port: SharedPort
    private let audience: SoakAudience
    private let group: Subgroup
    private let sound: ToneSource
    private let library = SoakSource.Library()
    private let observer = Observer()
    private var source: SoakSource?
    private var configuration = referenceConfiguration
    private var seats: [Int: Seat] = [:]
    private var remains: [Remains] = []
    private var departures: [Int: Instant] = [:]
    private var framesSentToFormer = 0
    private var isPaused = false
    private var hasSound = false

    /// The content while all viewers leave, and the time for which it is shown before.
    static let reference = SoakAction.source(
        .pattern(width: 640, height: 360, framesPerSecond: 12), hasSound: true)
    private static let referenceConfiguration = VideoEncodingParameters(maxBitrate: .kilobitsPerSecond(600))
    private static let referenceTime = Duration.seconds(3)
    private static let loopback = IPAddress.v4(0x7F00_0001)
    /// Consent lasts 30 seconds (RFC 7675 §5.1): a viewer that has left is detected by then.
    private static let departureTime = Duration.seconds(50)

    init(audience: SoakAudience) async throws {
        self.audience = audience
        room = try SharingRoom(owner: AttendeeID("soak"))
        port = try await SharedPort(addresses: [Self.loopback])
        group = try Subgroup("group")
        sound = try ToneSource()
        try sound.start()
        room.contentShare.add(observer: observer)
        await room.join(group)
    }

    func end() async {
        await room.end()
        source?.stop()
        sound.stop()
        await port.close()
    }

    // MARK: Actions

    func apply(_ action: SoakAction) async throws {
        switch action {
        case .join(let viewer, let place, let sharesPort, let loss):
            try await join(viewer, place: place, sharesPort: sharesPort, loss: loss)
        case .leave(let viewer):
            forget(viewer)
            try await audience.ask(.leave(viewer: viewer))
        case .vanish(let viewer):
            forget(viewer)
            try await audience.ask(.vanish(viewer: viewer))
        case .dismiss(let viewer):
            let session = seats[viewer]?.viewer.session
            forget(viewer)
            await session?.leave()
            try await audience.ask(.leave(viewer: viewer))
        case .move(let viewer, let place):
            guard let id = seats[viewer]?.viewer.id else { return }
            try await room.changeMembership(of: id, to: membership(place))
        case .lose(let viewer, let share): try await audience.ask(.lose(viewer: viewer, share: share))
        case .outage(let viewer, let seconds): try await audience.ask(.outage(viewer: viewer, seconds: seconds))
        case .restartICE(let viewer, let isTakenBack): try await restartICE(viewer, isTakenBack: isTakenBack)
        case .requestKeyFrames(let viewer, let count):
            for _ in 0..<count { try await audience.ask(.requestKeyFrame(viewer: viewer)) }
        case .source(let content, let hasSound): try await show(content, hasSound: hasSound)
        case .adaptOutputFormat(let width, let height, let rate):
            await room.contentShare.videoTrack?.adaptOutputFormat(width: width, height: height, fps: rate)
        case .hint(let hint):
            configuration.contentHint = hint.flatMap(ContentHint.init)
            try await room.contentShare.update(configuration)
        case .limit(let kilobits, let rate):
            (configuration.maxBitrate, configuration.maxFramerate) = (.kilobitsPerSecond(kilobits), rate)
            try await room.contentShare.update(configuration)
        case .volume(let volume):
            let track = await room.contentShare.audioTrack
            track?.volume = Float(volume)
        case .pause: await setPaused(true)
        case .destination(let destination):
            try await room.changeDestination(to: destination == .main ? .main : .subgroup(group))
        case .ebb:
            // The measured state must be the same each time.
            configuration = Self.referenceConfiguration
            try await apply(Self.reference)
            try await Task.sleep(for: Self.referenceTime)
            for viewer in seats.keys.sorted() {
                forget(viewer)
                try await audience.ask(.leave(viewer: viewer))
            }
        }
    }

    private func join(_ number: Int, place: SoakPlace, sharesPort: Bool, loss: Double) async throws {
        var configuration = Connection.Configuration()
        configuration.releasesHandshake = true
        configuration.addresses = [Self.loopback]
        if sharesPort { configuration.sharedPort = port }
        let viewer = try await room.addViewer(
            media: [.content, .contentAudio], configuration: configuration, membership: membership(place))
        let connection = viewer.session.connection
        seats[number] = Seat(viewer: viewer)
        remains.append(Remains(ownsPort: !sharesPort, connection: connection, session: viewer.session))
        try await negotiate(number) { .join(viewer: number, offer: $0, loss: loss) }
    }

    /// Sends an offer of the current media to a viewer, and sets its answer.
    private func negotiate(_ number: Int, _ request: (String) -> SoakRequest) async throws {
        guard let connection = seats[number]?.viewer.session.connection else { return }
        let offer = try await connection.makeOffer()
        seats[number]?.wasOfferedSilence = !hasSound
        let answer = try await audience.answer(to: request(offer.description))
        try await connection.accept(answer: SessionDescription.parse(answer), to: offer)
    }

    private func restartICE(_ number: Int, isTakenBack: Bool) async throws {
        guard let connection = seats[number]?.viewer.session.connection else { return }
        await connection.restartICE()
        if isTakenBack {
            _ = try await connection.makeOffer()
            return await connection.rollbackOffer()
        }
        try await negotiate(number) { .answer(viewer: number, offer: $0) }
    }

    private func show(_ content: SoakContent, hasSound: Bool) async throws {
        let new = try SoakSource(content, from: library)
        try await room.contentShare.start(
            source: new.video, audio: hasSound ? sound : nil, parameters: configuration)
        source?.stop()
        source = new
        isPaused = false
        self.hasSound = hasSound
        guard hasSound else { return }
        for (number, seat) in seats where seat.wasOfferedSilence {
            try await negotiate(number) { .answer(viewer: number, offer: $0) }
        }
    }

    /// Pauses or resumes the share, including its audio. Content that is shared during a pause is not paused.
    func setPaused(_ isPaused: Bool) async {
        guard isPaused != self.isPaused else { return }
        self.isPaused = isPaused
        let (picture, sound) = (await room.contentShare.videoTrack, await room.contentShare.audioTrack)
        picture?.isPaused = isPaused
        sound?.isPaused = isPaused
    }

    private func membership(_ place: SoakPlace) throws -> RoomMembership {
        switch place {
        case .main: RoomMembership()
        case .both: RoomMembership(subgroups: [group])
        case .group: try RoomMembership(onlySubgroups: [group])
        }
    }

    private func forget(_ number: Int) {
        guard let seat = seats.removeValue(forKey: number) else { return }
        framesSentToFormer += seat.framesSent
        departures[seat.viewer.id] = MonotonicTime.now
    }

    // MARK: State

    /// The number of connections, including those of vanished viewers.
    var connections: Int {
        get async { await room.viewers.count }
    }

    /// The number of connections with a port of their own.
    var ownPorts: Int { remains.count { $0.ownsPort && $0.connection != nil } }

    /// Returns the number of frames that were sent to all viewers.
    func framesSent() async -> Int {
        for (number, seat) in seats {
            let streams = await seat.viewer.session.connection.stats().outboundRTP.values
            seats[number]?.framesSent = Int(clamping: streams.reduce(0) { $0 + ($1.video?.framesSent ?? 0) })
        }
        return framesSentToFormer + seats.values.reduce(0) { $0 + $1.framesSent }
    }

    /// Returns the failures that no viewer reports, since the last call.
    func takeFailures() async -> [String] {
        var failures = observer.ends.withLock { ends in
            defer { ends = [] }
            return ends.map { "the share has ended: \($0)" }
        }
        let present = Set(await room.viewers.map(\.id))
        for (number, seat) in seats where !present.contains(seat.viewer.id) {
            forget(number)
            failures.append("viewer \(number) is not in the room any more")
        }
        departures = departures.filter { present.contains($0.key) }
        for (id, departure) in departures where MonotonicTime.now - departure > Self.departureTime {
            departures[id] = nil
            failures.append("the room's viewer \(id) left and is still there")
        }
        return failures
    }

    /// Returns the number of connections and sessions of former viewers that are still in memory.
    func leftBehind() -> Int {
        remains.removeAll { $0.connection == nil && $0.session == nil }
        let present = Set(seats.values.map { ObjectIdentifier($0.viewer.session.connection) })
        return remains.count { remains in
            !(remains.connection.map { present.contains(ObjectIdentifier($0)) } ?? false)
        }
    }
}
