internal import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareStreams
internal import RTCShareTransport

/// An attendee's own picture and voice, each encoded once for all the connections that it is sent over.
///
///     camera ──▶ one encoder ──▶ a sender for each connection
///     voice ───▶ one encoder ──▶ a sender for each connection
///
/// Its owner is an actor, and nobody else has it.
@SharingActor final class OwnMedia {
    private let attendee: AttendeeID
    /// Who in a room is sent it. Nil for a session's, whose peer is.
    private let audience: RoomAudience?
    private var hasEnded = false
    private var camera: VideoSendStream?
    private var voice: AudioSendStream?
    private var starts = 0
    /// What records both.
    private var recording: RecordingSource?
    /// Called when picture or voice begins or ends, and when the picture is held back or given again.
    private let onChange: @SharingActor () -> Void
    /// Where what is sent lives.
    private let home: HomeLoop

    /// Neither picture nor voice, yet.
    nonisolated init(
        of attendee: AttendeeID, to audience: RoomAudience? = nil, home: HomeLoop,
        onChange: @escaping @SharingActor () -> Void = {}
    ) {
        self.attendee = attendee
        self.audience = audience
        self.home = home
        self.onChange = onChange
    }

    // MARK: What is sent

    /// Sends what `source` shows over these connections, but for those that have ended; replaces the source where one is sent
    /// already.
    func startVideo(
        _ source: any VideoSource, _ configuration: LocalVideoConfiguration, over connections: [Connection]
    ) async throws(ContentShareError) {
        if let problem = configuration.problem { throw .configuration(problem) }
        let camera = try madeCamera(configuration)
        try await open(camera.opening(.camera, of: attendee, isActive: audience == nil), over: connections)
        camera.apply(configuration, defaults: .camera)
        starts += 1
        camera.replaceTrack(with: VideoTrack(id: "camera-\(starts)", source: source))
        audienceChanged()
        onChange()
    }

    /// Sends the sound of `source` over these connections, as ``startVideo(_:_:over:)`` does pictures.
    func startAudio(
        _ source: any AudioSource, _ configuration: LocalAudioConfiguration, over connections: [Connection]
    ) async throws(ContentShareError) {
        if let problem = configuration.problem { throw .configuration(problem) }
        let voice = try madeVoice()
        try await open(voice.opening(.microphone, of: attendee, isActive: audience == nil), over: connections)
        voice.apply(configuration, isVoice: true)
        starts += 1
        voice.replaceTrack(with: AudioTrack(id: "voice-\(starts)", source: source))
        audienceChanged()
        onChange()
    }

    private func madeCamera(_ configuration: LocalVideoConfiguration) throws(ContentShareError) -> VideoSendStream {
        if let camera { return camera }
        let made = try VideoSendStream(configuration, defaults: .camera, home: home)
        camera = made
        if let recording { record(made, to: recording) }
        // The events end with the stream.
        Task { [onChange, events = made.events] in
            for await event in events { if case .muteChanged = event { onChange() } }
        }
        return made
    }

    private func madeVoice() throws(ContentShareError) -> AudioSendStream {
        if let voice { return voice }
        let made = try AudioSendStream(isVoice: true, home: home)
        voice = made
        if let recording { record(made, to: recording) }
        return made
    }

    /// Sends no picture any more.
    func stopVideo() {
        camera?.replaceTrack(with: nil)
        onChange()
    }

    /// Sends no voice any more.
    func stopAudio() {
        voice?.replaceTrack(with: nil)
        onChange()
    }

    /// Nothing is sent any more, nor will be.
    func end() {
        hasEnded = true
        camera?.stop()
        voice?.stop()
    }

    /// The picture that is sent; nil where none is.
    var videoTrack: VideoTrack? { camera?.track }
    /// The voice that is sent; nil where none is.
    var audioTrack: AudioTrack? { voice?.track }

    /// Records what is sent from now on.
    func record(to source: RecordingSource) {
        recording = source
        if let camera { record(camera, to: source) }
        if let voice { record(voice, to: source) }
    }

    private func record(_ stream: some SendingStream, to source: RecordingSource) {
        stream.record(to: source, name: attendee.label, isMain: false)
    }

    // MARK: Who is sent it

    /// How the present streams of `media` are opened over one more connection. ``activate(_:)`` has them sent.
    func openings(taking media: Set<SharedMedia>) -> [StreamOpening] {
        var openings: [StreamOpening] = []
        if let camera, media.contains(.camera) {
            openings.append(camera.opening(.camera, of: attendee, isActive: audience == nil))
        }
        if let voice, media.contains(.microphone) {
            openings.append(voice.opening(.microphone, of: attendee, isActive: audience == nil))
        }
        return openings
    }

    /// Sends it to those who are in the audience now, and to no others.
    func audienceChanged() {
        guard let audience else { return }
        camera?.setActive(audience.connections(sent: .camera), adding: true)
        voice?.setActive(audience.connections(sent: .microphone), adding: true)
    }

    /// Sends the viewer at a connection what the audience says, once the streams are open there.
    func activate(_ connection: Connection) {
        guard let audience else { return }
        camera?.setActive(audience.isActive(.camera, on: connection) == true, on: connection)
        voice?.setActive(audience.isActive(.microphone, on: connection) == true, on: connection)
    }

    /// Sends nothing more over a connection.
    func remove(_ connection: Connection) {
        camera?.remove(connection)
        voice?.remove(connection)
    }

    /// What of it the newest description of a connection declines.
    func refusedMedia(on connection: Connection) async -> Set<SharedMedia> {
        var refused: Set<SharedMedia> = []
        if await camera?.isRefused(on: connection) == true { refused.insert(.camera) }
        if await voice?.isRefused(on: connection) == true { refused.insert(.microphone) }
        return refused
    }

    /// The counts of the camera's video that a connection is sent.
    func videoStatistics(of connection: Connection) async -> PipelineStatistics? {
        await camera?.statistics(of: connection)
    }

    private func open(
        _ opening: @escaping StreamOpening, over connections: [Connection]
    ) async throws(ContentShareError) {
        for connection in connections {
            do throws(ContentShareError) {
                try await connection.open([opening])
            } catch {
                // A connection that ends takes nothing from the others.
                guard case .ended = error else { throw error }
            }
        }
        if hasEnded { throw .ended }
    }
}
