internal import FoundationEssentials
internal import Glibc
internal import RTCShareCapture
internal import RTCShareContentShare
internal import RTCShareMedia
internal import RTCShareNetworkRuntime
internal import RTCSharePeerConnection
internal import RTCShareSDP
internal import RTCShareSignaling
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

    private enum Pause {
        /// Viewers keep the last picture.
        case held
        /// Viewers see a slate.
        case slate(CustomCapturer)
    }

    private let room: SharingRoom
    private let options: SharingOptions
    private let inviting: Inviting
    /// Who lets viewers in that come by a link.
    private let server: ViewerServer?
    /// What is sent is recorded in it.
    private let film: FilmFile?
    /// The servers that the share is published at.
    let places: SharePlaces
    /// The addresses and names that links have.
    private var linkHosts: [String] = []
    private let events: AsyncStream<Share.Occurrence>.Continuation
    /// What the share is called at its socket.
    private var name = ControlSocket.defaultName
    private let begun = ContinuousClock.now
    private var sources: OpenedSources
    private let camera: ShareCamera
    private let sound: (any AudioSource)?
    private var configuration: LocalVideoConfiguration
    private var pause: Pause?
    /// Tells the person at the terminal what happens to the source.
    private var captureReporter: CaptureReporter
    /// What gave the picture that viewers keep, where something else is to be shared after the pause.
    private var keptSource: (any CaptureSource)?
    private var isAudioMuted = false
    private var isMicrophoneMuted = false
    private var isCapturing = false
    private var isEnding = false
    private(set) var viewers: ShareViewers
    private var rates = ShareRates()
    /// The change under way: one comes after the other.
    private var change: Task<ControlAnswer, Never>?
    private var slates = 0

    /// Until a slate is sharp.
    private static let slateTime = Duration.seconds(2)
    /// Offers that wait for their answers at a time.
    private static let mostInvited = 16

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
        self.sources = sources
        self.options = options
        self.inviting = inviting
        self.events = events
        captureReporter = CaptureReporter(sources.content) { events.yield(.sourceFailed($0)) }
        camera = ShareCamera(
            sources.camera, specification: sources.cameraSpecification, in: room, events: events)
        sound = sources.contentSound
        configuration = options.configuration
        configuration.sourceCanWait = sources.contentCanWait
    }

    // MARK: The share's own course

    /// What the share is called.
    func setName(_ name: String) { self.name = name }

    /// Puts everything in place; it is sent from when there is a viewer.
    func begin(for viewer: RoomViewer? = nil) async throws {
        if let viewer { listen(to: viewer, state: .connecting) }
        try await show(sources.content)
        try await camera.begin()
        if let microphone = sources.microphone { try await room.startLocalAudio(source: microphone) }
    }

    /// The addresses and names that links have from now on.
    func setLinkHosts(_ hosts: [String]) { linkHosts = hosts }

    /// Begins to capture, with the first viewer.
    func startCapture() throws {
        guard !isCapturing else { return }
        isCapturing = true
        try sources.start()
        try camera.start()
    }

    /// Ends capture, and whatever is asked from now on.
    func stopCapture() {
        isEnding = true
        if case .slate(let slate)? = pause { slate.stop() }
        dropKeptSource()
        sources.stop()
        camera.stop()
    }

    /// Has what was set since the share began hold for a place, too.
    func limit(_ place: RoomViewer) { place.session.connection.setMaximumBitrate(maximumBitrate) }

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

    /// Whether there is anybody who can see what is shared now.
    var isAnyConnected: Bool {
        get async {
            if viewers.isAnyConnected { return true }
            return await places.publishedCount > 0
        }
    }

    /// Takes note of how it goes with a viewer.
    func viewer(_ id: Int, is state: ShareViewers.State) { viewers[id] = state }

    /// Takes note that a viewer is gone; returns how many of those who answered are still there.
    func viewerDidEnd(_ id: Int) -> Int { viewers.end(id) }

    /// Whether something else than what viewers see is to be shared after the pause.
    var hasOtherSource: Bool { keptSource != nil }

    /// Takes note of what goes out.
    func note(_ rates: ShareRates) { self.rates = rates }

    /// Adds to a viewer's report what its connection does not know: whose it is, what is shared, and whether that stands
    /// still. None of it is of webrtc-stats.
    func complete(_ report: [StatisticsObject], of viewer: Int, named name: String) -> [StatisticsObject] {
        var report = report
        if let transport = report.firstIndex(where: { $0.type == .transport }) {
            report[transport].set("viewer", viewer)
            report[transport].set("viewerName", name)
        }
        // The content is the first of the pictures.
        if let content = report.firstIndex(where: { $0.type == .mediaSource && $0.text("kind") == "video" }) {
            report[content].set("shareSource", sources.contentSpecification)
            report[content].set("sharePaused", pause != nil)
            report[content].set("shareInterruption", captureReporter.interruption?.description)
        }
        return report
    }

    /// Follows how it goes with somebody who came by a link.
    func listen(to viewer: RoomViewer, as served: ServedViewer) {
        let words = [served.browser, served.address].compactMap { $0 }
        listen(to: viewer, name: words.isEmpty ? nil : words.joined(separator: ", "), state: .connecting)
    }

    private func listen(to viewer: RoomViewer, name: String? = nil, state: ShareViewers.State) {
        let listener = ViewerListener(viewer: viewer.id, events)
        viewers.add(viewer, name: name, listener: listener, state: state)
        viewer.session.add(observer: listener)
    }

    /// Shows a source with the share's sound.
    private func show(_ source: any VideoSource) async throws {
        try await room.contentShare.start(
            source: source, audio: sound, configuration: configuration,
            audioConfiguration: LocalAudioConfiguration(
                maxBitrate: options.audioBitrate.map(DataRate.kilobitsPerSecond)))
        await applyMutes()
    }

    private func applyMutes() async {
        let sound = await room.contentShare.audioTrack
        sound?.isMuted = isAudioMuted || pause != nil
        let voice = await room.localAudioTrack
        voice?.isMuted = isMicrophoneMuted
        await server?.setPaused(pause != nil)
    }

    // MARK: What is asked

    /// Does what is asked. Changes come one after the other; how the share stands is said meanwhile too.
    func answer(_ request: ControlRequest) async -> ControlAnswer {
        switch request {
        case .status: return .status(await report())
        case .stop:
            events.yield(.stopRequested)
            return .done(notice: nil)
        default:
            let previous = change
            let next = Task {
                _ = await previous?.value
                return await self.perform(request)
            }
            change = next
            return await next.value
        }
    }

    private func perform(_ request: ControlRequest) async -> ControlAnswer {
        do {
            if isEnding { throw CommandFailure(.unavailable, "the share is about to end") }
            switch request {
            case .status, .stop: return .done(notice: nil)
            case .pause(let slate):
                if let notice = try await pause(showingSlate: slate) { return .done(notice: notice) }
            case .resume: if let notice = try await resume() { return .done(notice: notice) }
            case .source(let spec): try await change(source: spec)
            case .camera(let spec): try await change(camera: spec)
            case .light(let isOn): try camera.setLight(isOn, content: sources.content)
            case .set(let settings): try await set(settings)
            case .mute(let sounds): try await mute(sounds, true)
            case .unmute(let sounds): try await mute(sounds, false)
            case .destination(let name):
                try await room.changeDestination(to: try ShareDestination(name))
            case .join(let name): await room.join(try Subgroup(name))
            case .leave(let name): try await room.leave(try Subgroup(name))
            case .invite(let main, let subgroups):
                return try await invite(RoomMembership(main: main, subgroups: subgroups))
            case .admit(let viewer, let text): try await admit(viewer, text)
            case .letIn(let viewer): try await behindServer("admit N").admit(viewer)
            case .kick(let viewer): try await kick(viewer)
            case .lock: await (try behindServer("lock")).lock()
            case .unlock: await (try behindServer("unlock")).unlock()
            case .link(let subgroup): return try await links(subgroup)
            }
            await server?.refresh()
            tellTerminal(of: request)
            return .done(notice: notice(of: request))
        } catch {
            return ControlAnswer(CommandFailure(explaining: error))
        }
    }

    /// Prints what a request changed at the terminal of the share: it was made in another one.
    private func tellTerminal(of request: ControlRequest) {
        let words: String? =
            switch request {
            case .pause(let slate): "Paused: viewers \(slate ? "see a slate" : "keep the last picture")."
            case .resume: "The share goes on."
            case .source(let spec): "Sharing \(spec)\(pause == nil ? "" : " once the share goes on")."
            case .camera(SourceSelection.none): "No picture of you is sent any more."
            case .camera(let spec): "Your picture is of \(spec) now."
            case .light(let isOn): "The camera's light is \(isOn ? "on" : "off")."
            case .set: "Sending at most \(contentBitrate) of pictures."
            case .mute: "Muted."
            case .unmute: "Not muted any more."
            case .destination(let name): "Sharing to \(name)."
            case .join(let name): "Joined \(name)."
            case .leave(let name): "Left \(name)."
            case .lock: "Nobody else is let in."
            case .unlock: "Viewers are let in again."
            case .status, .stop, .invite, .admit, .letIn, .kick, .link: nil
            }
        if let words { Terminal.shared.say(words) }
    }

    /// What whoever asked might wonder at.
    private func notice(of request: ControlRequest) -> String? {
        switch request {
        case .source where pause != nil: return "The share is paused: viewers see this once it goes on."
        default: return nil
        }
    }

    private func pause(showingSlate: Bool) async throws -> String? {
        guard isCapturing else { throw CommandFailure(.unavailable, "there is no viewer yet; pause once there is one") }
        switch (pause, showingSlate) {
        case (.slate, _), (.held, false): return "The share is paused already."
        case (nil, false):
            pause = .held
            await setPictureMuted(true)
        case (nil, true), (.held, true):
            let slate = try CustomCapturer.slate("Paused", size: sources.content.captureFormat.size)
            try slate.start()
            let before = pause
            pause = .slate(slate)
            do {
                try await show(slate)
            } catch {
                pause = before
                slate.stop()
                throw error
            }
            dropKeptSource()
            showSlate()
        }
        await applyMutes()
        return nil
    }

    private func dropKeptSource() {
        keptSource?.stop()
        keptSource = nil
    }

    /// Has viewers see the slate until it is sharp, and then that the share is paused.
    private func showSlate() {
        slates += 1
        let slate = slates
        Task {
            await setPictureMuted(false)
            try? await Task.sleep(for: Self.slateTime)
            if slate == slates { await setPictureMuted(true) }
        }
    }

    private func setPictureMuted(_ isMuted: Bool) async {
        let track = await room.contentShare.videoTrack
        track?.isMuted = isMuted
    }

    private func resume() async throws -> String? {
        switch pause {
        case nil: return "The share is not paused."
        case .held where keptSource == nil:
            pause = nil
            await setPictureMuted(false)
        case .held, .slate:
            let before = pause
            pause = nil
            slates += 1
            do {
                try await show(sources.content)
            } catch {
                pause = before
                throw error
            }
            dropKeptSource()
            if case .slate(let slate)? = before { slate.stop() }
        }
        await applyMutes()
        return nil
    }

    private func change(source spec: String) async throws {
        let specification = try SourceSpecification(spec)
        guard specification != .standardInput else {
            throw CommandFailure(.usage, "\(spec): a running share can't be given another standard input; name a file")
        }
        let frameRate = configuration.maxFramerate ?? options.maxFramerate
        let opened = try await OpenedSources.openContent(
            specification, maximumFrameRate: frameRate, broadcastTokens: try options.tokens(for: specification))
        let previous = (sources.content, configuration.sourceCanWait)
        configuration.sourceCanWait = opened.canWait
        do {
            if isCapturing { try opened.source.start() }
            if pause == nil { try await show(opened.source) }
        } catch {
            configuration.sourceCanWait = previous.1
            opened.source.stop()
            throw error
        }
        sources.content = opened.source
        captureReporter = CaptureReporter(opened.source) { [events] in events.yield(.sourceFailed($0)) }
        sources.contentSpecification = opened.specification
        if case .held? = pause, keptSource == nil {
            // Its end would be that of what is shared.
            keptSource = previous.0
        } else {
            previous.0.stop()
        }
    }

    private func change(camera spec: String) async throws {
        guard inviting.media.contains(.camera) else {
            throw CommandFailure(
                .usage,
                "the share was begun without a camera, so viewers have no place for your picture; give --camera at its start"
            )
        }
        try await camera.change(to: spec)
    }

    private func set(_ settings: ControlledSettings) async throws {
        var new = configuration
        if let rate = settings.maxBitrate { new.maxBitrate = .kilobitsPerSecond(rate) }
        if let rate = settings.maxFramerate { new.maxFramerate = rate }
        if let width = settings.width, let height = settings.height {
            new.maxSize = PixelSize(width: width, height: height)
        }
        if let hint = settings.hint { new.contentHint = hint.contentHint }
        try await room.contentShare.update(new)
        configuration = new
        for viewer in await room.viewers { viewer.session.connection.setMaximumBitrate(maximumBitrate) }
    }

    /// What a connection may take: the picture of the content, and beside it the rest.
    private var maximumBitrate: DataRate {
        options.maximumBitrate(for: inviting.media, content: contentBitrate)
    }

    private var contentBitrate: DataRate { configuration.maxBitrate ?? .kilobitsPerSecond(options.maxBitrate) }

    private func mute(_ sounds: ControlledSounds, _ isMuted: Bool) async throws {
        let missing =
            switch sounds {
            case .audio where sound == nil: "--audio: the share has no sound of what is shared"
            case .microphone where sources.microphone == nil: "--microphone: the share has no microphone"
            case .all where sound == nil && sources.microphone == nil: "the share has no sound"
            case .all, .audio, .microphone: nil as String?
            }
        if let missing { throw CommandFailure(.usage, missing) }
        if sounds != .microphone { isAudioMuted = isMuted }
        if sounds != .audio { isMicrophoneMuted = isMuted }
        await applyMutes()
    }

    // MARK: More viewers

    private func invite(_ membership: RoomMembership) async throws -> ControlAnswer {
        let waiting = viewers.offers.count
        guard waiting < Self.mostInvited else {
            throw CommandFailure(
                .unavailable, "\(waiting) offers wait for their answers already; admit one of them first")
        }
        var configuration = inviting.configuration
        configuration.maxBitrate = maximumBitrate
        let viewer = try await room.addViewer(
            media: inviting.media, configuration: configuration, membership: membership)
        do {
            let connection = viewer.session.connection
            try await Gathering.run(
                on: connection, servers: configuration.iceServers.count, policy: inviting.policy)
            let offer = try await connection.makeOffer()
            listen(to: viewer, state: .invited(offer))
            Terminal.shared.say("Viewer \(viewer.id) is invited.")
            return .offer(viewer: viewer.id, description: offer.description)
        } catch {
            await viewer.session.leave()
            throw error
        }
    }

    private func admit(_ viewer: Int?, _ text: String) async throws {
        let offers = viewers.offers
        let waiting = offers.keys.sorted()
        guard let id = viewer ?? waiting.first else {
            throw CommandFailure(.unavailable, "nobody was invited who has not answered; run rtcshare invite first")
        }
        let names = waiting.map(String.init).joined(separator: ", ")
        guard viewer != nil || waiting.count == 1 else {
            throw CommandFailure(.usage, "the viewers \(names) were invited; say whose answer this is with --viewer")
        }
        guard let offer = offers[id], let member = await room.viewers.first(where: { $0.id == id }) else {
            throw CommandFailure(
                .usage,
                "--viewer \(id): no answer of this viewer is waited for"
                    + (waiting.isEmpty ? "" : "; those who were invited are \(names)"))
        }
        let answer = try SessionDescription.parse(text)
        _ = try Negotiation.negotiate(offer: offer, answer: answer)
        try await member.session.connection.accept(answer: answer, to: offer)
        // It may have been quicker.
        if case .invited = viewers[id] { viewers[id] = .connecting }
    }

    // MARK: Viewers who come by a link

    private func behindServer(_ command: String) throws(CommandFailure) -> ViewerServer {
        guard let server else {
            throw CommandFailure(.usage, "\(command): this share has no link; rtcshare serve makes one that has")
        }
        return server
    }

    private func kick(_ viewer: Int) async throws {
        if let server, await server.viewers.contains(where: { $0.id == viewer }) {
            Terminal.shared.say("\(viewers.name(of: viewer)) is sent away.")
            return try await server.kick(viewer)
        }
        guard let member = await room.viewers.first(where: { $0.id == viewer }) else {
            throw CommandFailure(.usage, "there is no viewer \(viewer), or no more; rtcshare status lists them")
        }
        await member.session.leave()
    }

    private func links(_ name: String?) async throws -> ControlAnswer {
        let server = try behindServer("link")
        var subgroup: Subgroup?
        if let name {
            let wanted = try Subgroup(name)
            guard await room.subgroups.contains(wanted) else {
                throw CommandFailure(
                    .usage, "you are not in the subgroup \(name); join it first: rtcshare subgroup join \(name)")
            }
            subgroup = wanted
        }
        return .links(server.links(hosts: linkHosts, subgroup: subgroup).map(\.url))
    }

    // MARK: How it stands

    private func report() async -> ControlledShare {
        let present = await room.viewers
        let served = await server?.viewers ?? []
        let isLocked = await server?.isLocked
        let places = await places.report(rates)
        let isPublished = places.contains { $0.state == .published || $0.state == .away }
        let destination = await room.destination
        let subgroups = await room.subgroups
        var isSlateShown = false
        if case .slate? = pause { isSlateShown = true }
        let idle: ControlledShare.State = server != nil && viewers.isEmpty ? .waiting : .connecting
        return ControlledShare(
            name: name, pid: ProcessInfo.processInfo.processIdentifier, attendee: room.owner.rawValue,
            state: pause != nil ? .paused : viewers.hasAnyConnected || isPublished ? .sharing : idle,
            source: sources.contentSpecification, interruption: captureReporter.interruption?.description,
            camera: camera.status, width: rates.size?.width, height: rates.size?.height,
            framesPerSecond: rates.framesPerSecond, bitrate: rates.bitsPerSecond / 1000,
            maxBitrate: Int(contentBitrate.bitsPerSecond / 1000),
            maxFramerate: configuration.maxFramerate ?? options.maxFramerate,
            hint: configuration.contentHint.flatMap { SharingOptions.Hint($0) }, isSlateShown: isSlateShown,
            isAudioMuted: isAudioMuted, isMicrophoneMuted: isMicrophoneMuted, destination: destination.description,
            subgroups: subgroups.map(\.name).sorted(), isLocked: isLocked,
            recording: film.map { .init(file: $0.recorder.path, seconds: $0.duration / .seconds(1)) },
            viewers: present.compactMap { viewer in
                guard let state = viewers[viewer.id]?.told else { return nil }
                return ControlledShare.Viewer(
                    viewer, state: state, served: served.first { $0.id == viewer.id }, rates: rates.viewers[viewer.id])
            }, places: places, uptime: (begun.duration(to: .now) / .seconds(1)).rounded(.down))
    }
}

extension ControlledShare.Viewer {
    fileprivate init(_ viewer: RoomViewer, state: State, served: ServedViewer?, rates: ViewerRates?) {
        self.init(
            id: viewer.id, state: viewer.membership.isWaiting && state == .connected ? .waiting : state,
            groups: viewer.membership.names, address: served?.address, browser: served?.browser,
            since: served.map { Date(timeIntervalSince1970: $0.since) }, bitrate: rates.map { $0.bitsPerSecond / 1000 },
            fractionLost: rates?.fractionLost, roundTripTime: rates?.roundTripTime, path: rates?.path)
    }
}

extension RoomMembership {
    fileprivate var names: [String] {
        (isInMainRoom ? [Subgroup.mainRoom] : []) + subgroups.map(\.name).sorted()
    }
}

/// Tells the share what a viewer's session tells.
final class ViewerListener: AttendeeSessionObserver {
    private let viewer: Int
    private let events: AsyncStream<Share.Occurrence>.Continuation

    init(viewer: Int, _ events: AsyncStream<Share.Occurrence>.Continuation) {
        self.viewer = viewer
        self.events = events
    }

    func sessionDidConnect() { events.yield(.viewer(viewer, .connected)) }
    func sessionDidDisconnect() { events.yield(.viewer(viewer, .disconnected)) }
    func sessionDidReconnect() { events.yield(.viewer(viewer, .reconnected)) }
    func sessionDidEnd(error: (any Error)?) { events.yield(.viewer(viewer, .ended(error))) }
}
