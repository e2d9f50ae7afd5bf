internal import FoundationEssentials
internal import RTCShareCapture
internal import RTCShareContentShare
internal import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareSDP
internal import RTCShareSignaling
internal import RTCShareTransport
internal import RTCShareWireFormat

/// What a running share consists of, and what is done to it while it runs: by its own course, and by who asks at its
/// socket.
actor ShareControl {
    /// What others are invited with.
    struct Inviting: Sendable {
        let media: Set<SharedMedia>
        let configuration: Connection.Configuration
        let policy: ICEOptions.Policy?
    }

    let room: SharingRoom
    let options: SharingOptions
    let inviting: Inviting
    /// Who lets viewers in that come by a link.
    let server: ViewerServer?
    /// What is sent is recorded in it.
    let film: FilmFile?
    /// The servers that the share is published at.
    let places: SharePlaces
    let sources: SharedSources
    let camera: ShareCamera
    private let runner = SourceRunner()
    private let events: AsyncStream<Share.Occurrence>.Continuation
    let begun = ContinuousClock.now
    /// What the share is called at its socket.
    private(set) var name = ControlSocket.defaultName
    /// The addresses and names that links have.
    private(set) var linkHosts: [String] = []
    var viewers: ShareViewers
    private(set) var rates = ShareRates()
    private var isEnding = false
    /// The change under way: one comes after the other.
    private var change: Task<Void, Never>?
    private var turns = Turns()

    /// What a request has opened before its turn.
    private enum Opened {
        case nothing
        case content(SharedSources.Opened)
        case camera(ShareCamera.Opened)
    }

    init(
        room: SharingRoom, sources: OpenedSources, options: SharingOptions, inviting: Inviting,
        server: ViewerServer? = nil, places: SharePlaces = SharePlaces(), film: FilmFile? = nil,
        events: AsyncStream<Share.Occurrence>.Continuation
    ) {
        self.server = server
        self.places = places
        self.film = film
        viewers = ShareViewers(outlivesViewers: server != nil || !places.isEmpty)
        self.room = room
        self.sources = SharedSources(sources, in: room, runner: runner, options: options, events: events)
        self.options = options
        self.inviting = inviting
        self.events = events
        camera = ShareCamera(sources.camera, in: room, runner: runner, events: events)
    }

    // MARK: The share's own course

    /// A command about this share, as it can be typed in another terminal.
    func command(_ arguments: String) -> String {
        "rtcshare \(arguments)" + (name == ControlSocket.defaultName ? "" : " --name \(name)")
    }

    /// What the share is called.
    func setName(_ name: String) { self.name = name }

    /// Puts everything in place; it is sent from when there is a viewer.
    func begin(for viewer: RoomViewer? = nil) async throws {
        if let viewer { add(viewer) }
        try await sources.begin()
        try await camera.begin()
    }

    /// The addresses and names that links have from now on.
    func setLinkHosts(_ hosts: [String]) { linkHosts = hosts }

    /// Begins to capture, with the first viewer.
    func startCapture() async throws {
        try await sources.start()
        try await camera.start()
    }

    /// Ends capture, and whatever is asked from now on.
    func stopCapture() async {
        isEnding = true
        await sources.stop()
        camera.stop()
        await runner.finish()
    }

    /// Has what was set since the share began hold for a place, too.
    func limit(_ place: RoomViewer) async {
        place.session.connection.setMaximumBitrate(await maximumBitrate)
    }

    /// Everybody whom the share goes to, in the order in which they came, and what each is called.
    var receivers: [(viewer: Int, name: String, session: AttendeeSession)] {
        get async {
            let viewers = viewers.sessions.map { ($0.viewer, self.viewers.name(of: $0.viewer), $0.session) }
            return (viewers + (await places.sessions)).sorted { $0.0 < $1.0 }
        }
    }

    /// Whether viewers come by a link, and find the share running.
    var isServed: Bool { server != nil }

    /// Whether there is nobody else to share to than the servers.
    var isForPlacesAlone: Bool { server == nil && viewers.isEmpty }

    /// Whether a viewer or a server receives what is shared now. Viewers who wait to be admitted receive nothing.
    var isAnyConnected: Bool {
        get async {
            let waiting = Set(await room.viewers.lazy.filter(\.membership.isWaiting).map(\.id))
            if viewers.hasConnected(besides: waiting) { return true }
            return await places.publishedCount > 0
        }
    }

    /// Records the state of a viewer's connection; returns whether it differs from the state before.
    func viewer(_ id: Int, is state: ConnectionState) -> Bool {
        guard let previous = viewers[id], previous != state else { return false }
        viewers[id] = state
        return true
    }

    /// Takes note that a viewer is gone; returns how many of those who answered are still there.
    func viewerDidEnd(_ id: Int) -> Int { viewers.end(id) }

    /// Records that a source other than the content has ended.
    func sourceDidEnd(_ source: SourceListener) async {
        await inTurn { await self.removeCamera(source) }
    }

    private func removeCamera(_ ended: SourceListener) async { await camera.sourceDidEnd(ended) }

    /// Takes note of what goes out.
    func note(_ rates: ShareRates) { self.rates = rates }

    /// Adds a viewer who came by a link.
    func add(_ viewer: RoomViewer, as served: ServedViewer) {
        let words = [served.browser, served.address].compactMap { $0 }
        add(viewer, name: words.isEmpty ? nil : words.joined(separator: ", "))
    }

    /// Adds a viewer, whose answer to `offer` is waited for if there is one.
    func add(_ viewer: RoomViewer, name: String? = nil, offer: SessionDescription? = nil) {
        viewers.add(viewer, name: name, offer: offer)
        Task { [events] in
            for await state in await viewer.session.states where state != .new {
                events.yield(.viewer(viewer.id, state))
            }
        }
    }

    // MARK: What is asked

    /// Does what is asked. Changes come one after the other; how the share stands is said meanwhile too. What is to be shared
    /// is opened before its turn: a pipe or a desktop's window may take minutes, and a pause does not wait for that.
    func answer(_ request: ControlRequest) async -> ControlAnswer {
        switch request {
        case .status: return .status(await report())
        case .stop:
            events.yield(.stopRequested)
            return .done(notice: Share.stop)
        default:
            let number = turns.ask()
            let opened: Opened
            do {
                opened = try await open(for: request)
            } catch {
                return ControlAnswer(CommandFailure(explaining: error))
            }
            return await inTurn { await self.perform(request, opened, number: number) }
        }
    }

    /// Calls `body` when the changes that were requested before are made.
    private func inTurn<Result: Sendable>(_ body: @escaping @Sendable () async -> Result) async -> Result {
        let previous = change
        let next = Task {
            await previous?.value
            return await body()
        }
        change = Task { _ = await next.value }
        return await next.value
    }

    private let cameraRemedy = "restart the share with --camera camera"

    private func open(for request: ControlRequest) async throws -> Opened {
        switch request {
        case .source(let specification):
            do {
                return .content(try await sources.open(specification))
            } catch CaptureError.displayUnavailable(display: nil, _) {
                let process = ProcessInfo.processInfo.processIdentifier
                throw CommandFailure(
                    .unavailable,
                    "DISPLAY is not set in the process of the share (\(process)), so it can't show a display",
                    try: "restart the share in a desktop session, or with DISPLAY set")
            }
        case .camera(let specification):
            guard inviting.media.contains(.camera) else {
                throw CommandFailure(
                    .usage, "the share was started without --camera, so a camera can't be added",
                    try: cameraRemedy)
            }
            guard let source = specification.source else { return .nothing }
            return .camera(try await camera.open(source))
        default: return .nothing
        }
    }

    private func perform(_ request: ControlRequest, _ opened: Opened, number: Int) async -> ControlAnswer {
        do {
            if isEnding {
                discard(opened)
                throw CommandFailure(.unavailable, "the share is about to end")
            }
            let words: String?
            switch request {
            case .status, .stop: return .done(notice: nil)
            case .pause(let slate):
                if let notice = try await sources.pause(showingSlate: slate) { return .done(notice: notice) }
                words = "The share is paused: viewers see \(slate ? "a slate" : "the last frame")."
            case .resume:
                if let notice = try await sources.resume() { return .done(notice: notice) }
                words = "The share is resumed."
            case .source(let specification):
                words = try await change(source: specification, to: opened, number: number)
            case .camera(let specification):
                try await change(camera: specification, to: opened, number: number)
                words = specification.source.map { "Your camera is now \($0)." } ?? "Your camera is off."
            case .light(let isOn):
                let remedy = inviting.media.contains(.camera) ? command("camera camera --light") : cameraRemedy
                try camera.setLight(isOn, content: await sources.content, remedy: remedy)
                words = "The camera's light is \(isOn ? "on" : "off")."
            case .set(let changes):
                try await sources.set(changes)
                let maximum = await maximumBitrate
                for viewer in await room.viewers { viewer.session.connection.setMaximumBitrate(maximum) }
                words = "The quality is now: at most \(await sources.parameters.words)."
            case .mute(let sounds): words = try await sources.mute(sounds, true)
            case .unmute(let sounds): words = try await sources.mute(sounds, false)
            case .destination(let name):
                try await room.changeDestination(to: try ShareDestination(name))
                words = "The share now goes to \(name == Subgroup.mainRoom ? "the main room" : "the subgroup \(name)")."
            case .join(let name):
                await room.join(try Subgroup(name))
                words = "You joined the subgroup \(name)."
            case .leave(let name):
                do {
                    try await room.leave(try Subgroup(name))
                } catch SharingRoomError.notJoined(let subgroup) {
                    throw CommandFailure(
                        .usage, "you are not in the subgroup \(subgroup)",
                        try: "rtcshare status (it lists your subgroups)")
                }
                words = "You left the subgroup \(name)."
            case .invite(let main, let subgroups):
                return try await invite(RoomMembership(main: main, subgroups: subgroups))
            case .admit(let viewer, let text): words = try await admit(viewer, text)
            case .letIn(let viewer):
                let name = viewers.name(of: viewer)
                guard try await letIn(viewer) else { return .done(notice: "\(name) is already admitted.") }
                words = "\(name) is admitted."
            case .kick(let viewer): words = try await kick(viewer)
            case .lock:
                let server = try linkServer()
                guard await !server.isLocked else { return .done(notice: "The link is already locked.") }
                await server.lock()
                words = "The link is locked: new viewers can't join."
            case .unlock:
                let server = try linkServer()
                guard await server.isLocked else { return .done(notice: "The link is already open.") }
                await server.unlock()
                words = "The link is open: new viewers can join."
            case .link(let subgroup): return try await links(subgroup)
            }
            await server?.setPaused(await sources.status.isPaused)
            // The request was typed in another terminal, which prints the same words.
            if let words { Terminal.shared.say(words) }
            return .done(notice: words)
        } catch {
            return ControlAnswer(CommandFailure(explaining: error))
        }
    }

    private func change(
        source specification: SourceSpecification, to opened: Opened, number: Int
    ) async throws -> String? {
        guard case .content(let content) = opened else { return nil }
        guard !turns.isOvertaken(number, for: .content) else {
            discard(opened)
            throw Self.overtaken(specification)
        }
        try await sources.change(to: content)
        turns.finish(number, for: .content)
        return await sources.status.isPaused
            ? "The share will show \(specification) when you resume it." : "The share now shows \(specification)."
    }

    private func change(camera specification: CameraSpecification, to opened: Opened, number: Int) async throws {
        var chosen: ShareCamera.Opened?
        if case .camera(let camera) = opened { chosen = camera }
        guard !turns.isOvertaken(number, for: .camera) else {
            discard(opened)
            throw Self.overtaken(specification)
        }
        try await camera.change(to: chosen)
        turns.finish(number, for: .camera)
    }

    /// Stops what a request opened in vain.
    private func discard(_ opened: Opened) {
        switch opened {
        case .nothing: return
        case .content(let opened): runner.stop(opened.content.source.stop)
        case .camera(let opened): camera.discard(opened)
        }
    }

    private static func overtaken(_ specification: some Specification) -> CommandFailure {
        CommandFailure(.unavailable, "\(specification): another source was chosen while this one was opening")
    }

    /// What a connection may take: the picture of the content, and beside it the rest.
    var maximumBitrate: DataRate {
        get async {
            options.maximumBitrate(for: inviting.media, content: contentBitrate(await sources.parameters))
        }
    }

    func contentBitrate(_ parameters: VideoEncodingParameters) -> DataRate {
        parameters.maxBitrate ?? .kilobitsPerSecond(options.quality.maxBitrate)
    }
}
