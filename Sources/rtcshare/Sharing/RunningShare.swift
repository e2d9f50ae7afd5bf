internal import FoundationEssentials
internal import RTCShareContentShare
internal import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareSDP
internal import RTCShareSignaling
internal import RTCShareStreams
internal import RTCShareTransport
internal import RTCShareWireFormat

/// A running share with its sources, viewers and state. Events of the share and requests at its control socket change
/// it.
///
/// Changes of sources run one after the other, and so do changes of viewers. Sources open before their turn, because a
/// pipe or a portal can take minutes, and a pause must not wait for them.
@SharingActor final class RunningShare {
    /// The media and configuration of invited viewers' connections.
    struct Inviting: Sendable {
        let media: Set<SharedMedia>
        let configuration: Connection.Configuration
        let policy: ICEOptions.Policy?
    }

    /// A closure that opens content with this maximum frame rate.
    typealias OpenContent = @Sendable (SourceSpecification, Double) throws -> OpenedSources.Content

    let room: SharingRoom
    let output: any ShareOutput
    let options: SharingOptions
    let inviting: Inviting
    /// The server of the share's link. Nil without a link.
    let server: ViewerServer?
    /// The recording of all sent media; nil if there is none.
    var film: FilmFile? { didSet { course.isRecording = film != nil } }
    /// The recording of `--record`, whose failure is one of the command.
    let requestedFilm: FilmFile?
    let recordingTurns = TurnQueue()
    let places: PublishingServers
    let events: AsyncStream<Share.Occurrence>.Continuation
    let startTime = ContinuousClock.now
    /// The name of the share's control socket.
    var name = ControlSocket.defaultName
    /// The path of the control socket, if the presenter chose it.
    var control: String?
    /// The addresses and names in links.
    var linkHosts: [String] = []
    /// The address in links from which a router forwards to the page; nil without one.
    var outsideAddress: TransportAddress?
    var viewers: ShareViewers
    /// The previews, by their numbers in the room.
    var previews: [Int: AttendeeSession] = [:]
    var course: ShareCourse
    /// The rates of the last second.
    var rates = ShareRates()
    /// The codec of the last second, with the reason.
    var codecDecision: CodecDecision?
    /// The reason why the content's video is not as good as wanted; nil if it is.
    var qualityLimitationReason: QualityLimitationReason?
    /// The rates of the last minutes.
    var history = ShareHistory()
    /// The condition of each viewer's connection.
    var troubles = ViewerTroubles()
    private(set) var messages = ShareMessages()
    /// The sentence about the end of the share; nil before, and for a failure.
    var endReason: String?
    private(set) var isEnding = false

    // MARK: Sources

    var content: ContentState
    /// The content after the current change, which can fail. Nil if the content is not being changed.
    var nextContent: ContentState?
    /// The ends of content that were reported during the change, in their order.
    var heldBack: [Share.Occurrence] = []
    var sounds: ShareSounds
    /// The camera. Nil if none is sent.
    var camera: OpenedCamera?
    /// The parameters that the presenter chose.
    var parameters: VideoEncodingParameters
    /// The current maximum bitrate of the content's video.
    var contentBitrate: DataRate
    var requests = RequestOrder()
    /// The task that mutes a slate after it is sharp.
    var slateMuting: Task<Void, Never>?
    let runner = SourceRunner()
    let sourceTurns = TurnQueue()
    let openContent: OpenContent
    let sleep: @Sendable (Duration) async throws -> Void
    let viewerTurns = TurnQueue()

    init(
        room: SharingRoom, sources: OpenedSources, options: SharingOptions, inviting: Inviting,
        server: ViewerServer? = nil, places: PublishingServers = PublishingServers(), film: FilmFile? = nil,
        events: AsyncStream<Share.Occurrence>.Continuation, output: (any ShareOutput)? = nil,
        openContent: OpenContent? = nil,
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        (self.room, self.options, self.inviting) = (room, options, inviting)
        (self.server, self.places, self.film, requestedFilm) = (server, places, film, film)
        (self.events, self.sleep) = (events, sleep)
        self.output = output ?? room
        self.openContent =
            openContent ?? { specification, frameRate in
                let tokens = try options.tokens(
                    for: specification, remedy: "start the share with --my-token-file FILE --peer-token-file FILE")
                // Only a start uses a saved choice: a switch to the desktop's dialog is one to another source.
                return try OpenedSources.open(
                    specification, maximumFrameRate: frameRate, broadcastTokens: tokens,
                    choosesAnew: specification.isChosenOnDesktop)
            }
        course = ShareCourse(
            isServed: server != nil, servers: places.count, isRecording: film != nil, duration: options.output.duration)
        viewers = ShareViewers(outlivesViewers: course.outlivesViewers)
        parameters = options.parameters
        let first = OpenedContent(sources.content, isSizeChosen: options.quality.size != nil, events: events)
        first.observer.startReporting(on: first.source)
        content = ContentState(first)
        contentBitrate =
            parameters.maxBitrate
            ?? parameters.usualBitrate(of: first.source.captureFormat.size, isRecorded: film != nil)
        sounds = ShareSounds(sources, events: events)
        camera = sources.camera.map { OpenedCamera($0, isSent: true, events: events) }
        room.add(observer: self)
    }

    // MARK: Events of the share

    /// Prints lines, as a message for the presenter.
    func tell(_ lines: [String]) {
        Terminal.shared.say(lines)
        note(lines)
    }

    /// Keeps lines that were printed, as a message for the presenter.
    func note(_ lines: [String]) { messages.add(lines, at: Date()) }

    /// Returns a command for this share that a person can type in another terminal.
    func command(_ arguments: String) -> String {
        let usual = name == ControlSocket.defaultName ? "" : " --name \(name)"
        return "rtcshare \(arguments)" + (control.map { " --control \($0)" } ?? usual)
    }

    /// Ends capture, and rejects all later requests.
    func stopCapture() async {
        isEnding = true
        await sourceTurns.run { stopSources() }
        await runner.finish()
    }

    /// All viewers and publications in the order in which they joined, with their names.
    var receivers: [(viewer: Int, name: String, session: AttendeeSession)] {
        let viewers = viewers.sessions.map { ($0.viewer, self.viewers.name(of: $0.viewer), $0.session) }
        return (viewers + places.sessions).sorted { $0.0 < $1.0 }
    }

    /// Whether a viewer or a server receives the share. Viewers who wait for admission receive nothing.
    var isAnyConnected: Bool {
        let waiting = Set(room.viewers.lazy.filter(\.membership.isWaiting).map(\.id))
        return viewers.hasConnected(besides: waiting) || places.publishedCount > 0
    }

    /// The number of connected viewers who were admitted.
    var watchingCount: Int {
        room.viewers.count { !$0.membership.isWaiting && viewers[$0.id]?.hasConnected == true }
    }

    // MARK: Requests

    /// Executes a request from the control socket.
    func answer(_ request: ControlRequest) async -> ControlAnswer {
        do {
            return try await perform(request)
        } catch {
            return ControlAnswer(CommandFailure(explaining: error))
        }
    }

    private func perform(_ request: ControlRequest) async throws -> ControlAnswer {
        switch request {
        case .status, .stop: break
        default: try checkIsRunning()
        }
        switch request {
        case .status: return .status(await report())
        case .stop:
            events.yield(.course(.stopRequested))
            return .done(notice: Share.stop)
        case .pause(let slate):
            if let notice = try await pause(showingSlate: slate) { return .done(notice: notice) }
            return done("The share is paused: viewers see \(slate ? "a slate" : "the last frame").")
        case .resume:
            if let notice = try await resume() { return .done(notice: notice) }
            return done("The share is resumed.")
        case .source(let specification):
            try await change(to: specification)
            return done(
                content.isPaused
                    ? "The share will show \(specification) when you resume it."
                    : "The share now shows \(specification).")
        case .camera(let specification):
            try await change(camera: specification)
            return done(specification.source.map { "Your camera is now \($0)." } ?? "Your camera is off.")
        case .light(let isOn):
            try await setLight(isOn)
            return done("The camera's light is \(isOn ? "on" : "off").")
        case .set(let changes, let automatic):
            try await set(changes, automatic: automatic)
            return done("The quality is now: at most \(parameters(for: content.current.source).words).")
        case .mute(let sounds): return done(try mute(sounds, true))
        case .unmute(let sounds): return done(try mute(sounds, false))
        case .unmuteSilenced: return done(try unmuteSilenced())
        case .destination(let name):
            try room.changeDestination(to: try ShareDestination(name))
            return done(
                "The share now goes to \(name == Subgroup.mainRoom ? "the main room" : "the subgroup \(name)").")
        case .join(let name):
            room.join(try Subgroup(name))
            updatePreviewMemberships()
            return done("You joined the subgroup \(name).")
        case .leave(let name):
            do {
                try room.leave(try Subgroup(name))
            } catch SharingRoomError.notJoined(let subgroup) {
                throw CommandFailure(
                    .usage, "you are not in the subgroup \(subgroup)",
                    try: "rtcshare status (it lists your subgroups)")
            }
            updatePreviewMemberships()
            return done("You left the subgroup \(name).")
        case .link(let subgroup): return .links(try links(subgroup).map(ControlLinks.Place.init))
        case .linkCode: return try linkCode()
        case .history: return .history(ControlHistory(samples: history.samples))
        case .record(true): return done(try await startRecording())
        case .record(false): return .done(notice: try await stopRecording())
        case .setApproval(let isNeeded):
            return done(try setApproval(isNeeded))
        case .openPage, .start, .choices, .keep, .sources, .router:
            throw CommandFailure(.internalError, "a share does not answer this itself")
        case .lock:
            let server = try linkServer()
            guard !server.isLocked else { return .done(notice: "The link is already locked.") }
            server.lock()
            return done("The link is locked: new viewers can't join.")
        case .unlock:
            let server = try linkServer()
            guard server.isLocked else { return .done(notice: "The link is already open.") }
            server.unlock()
            admitViewersWithoutApproval(at: server)
            return done("The link is open: new viewers can join.")
        case .invite(let main, let subgroups):
            return try await inViewerTurn { try await invite(RoomMembership(main: main, subgroups: subgroups)) }
        case .accept(let viewer, let text):
            return try await inViewerTurn { done(try await accept(viewer, text)) }
        case .admit(let viewer):
            let name = viewers.name(of: viewer)
            guard try admit(viewer) else { return .done(notice: "\(name) is already admitted.") }
            return done("\(name) is admitted.")
        case .kick(let viewer): return try await inViewerTurn { done(try await kick(viewer)) }
        case .openPreview(let offer): return try await inViewerTurn { try await openPreview(offer) }
        case .closePreview(let preview):
            try await closePreview(preview)
            return .done(notice: nil)
        }
    }

    /// Calls `body` after all earlier changes of viewers.
    private func inViewerTurn(_ body: @SharingActor () async throws -> ControlAnswer) async throws -> ControlAnswer {
        try await viewerTurns.run {
            try checkIsRunning()
            return try await body()
        }
    }

    /// Returns the answer to a completed request. The words are printed here too, because the request came from another
    /// terminal.
    private func done(_ words: String) -> ControlAnswer {
        Terminal.shared.say(words)
        return .done(notice: words)
    }

    /// Throws while the share ends.
    func checkIsRunning() throws(CommandFailure) {
        if isEnding { throw CommandFailure(.unavailable, "the share is about to end") }
    }

    /// The maximum bitrate of a connection, for the content's video and all other media.
    var maximumBitrate: DataRate { options.maximumBitrate(for: inviting.media, content: contentBitrate) }
}
