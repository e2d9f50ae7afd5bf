internal import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareStreams
internal import RTCShareTransport

/// An attendee's camera and microphone, each encoded once for all connections.
///
///     camera ──────▶ one encoder ──▶ a sender for each connection
///     microphone ──▶ one encoder ──▶ a sender for each connection
@SharingActor final class OwnMedia {
    private let attendee: AttendeeID
    /// The audience of the room. Nil for a session, which sends to its peer.
    private let audience: RoomAudience?
    private var hasEnded = false
    private var camera: VideoSendStream?
    private var voice: AudioSendStream?
    private var starts = 0
    /// The recording of both media.
    private var recording: RecordingSource?
    /// A closure that is called when a medium starts or ends, and when the video is muted or unmuted.
    private let onChange: @SharingActor () -> Void
    /// The event loop of the streams.
    private let home: HomeLoop

    nonisolated init(
        of attendee: AttendeeID, to audience: RoomAudience? = nil, home: HomeLoop,
        onChange: @escaping @SharingActor () -> Void = {}
    ) {
        self.attendee = attendee
        self.audience = audience
        self.home = home
        self.onChange = onChange
    }

    // MARK: Sources

    /// Sends video from `source` over connections that have not ended, instead of the source that is sent now.
    func startVideo(
        _ source: any VideoSource, _ parameters: VideoEncodingParameters, over connections: [Connection]
    ) async throws(ContentShareError) {
        if let problem = parameters.problem { throw .configuration(problem) }
        let codecs = try VideoSendStream.codecs(parameters)
        let camera = try madeCamera(parameters)
        try await open(camera.opening(.camera, of: attendee, isActive: audience == nil), over: connections)
        camera.apply(parameters, codecs: codecs, defaults: .camera)
        starts += 1
        camera.replaceTrack(with: VideoTrack(id: "camera-\(starts)", source: source))
        audienceChanged()
        onChange()
    }

    /// Sends audio from `source` over connections that have not ended, instead of the source that is sent now.
    func startAudio(
        _ source: any AudioSource, _ parameters: AudioEncodingParameters, over connections: [Connection]
    ) async throws(ContentShareError) {
        if let problem = parameters.problem { throw .configuration(problem) }
        let voice = try madeVoice()
        try await open(voice.opening(.microphone, of: attendee, isActive: audience == nil), over: connections)
        voice.apply(parameters, isVoice: true)
        starts += 1
        voice.replaceTrack(with: AudioTrack(id: "voice-\(starts)", source: source))
        audienceChanged()
        onChange()
    }

    private func madeCamera(_ parameters: VideoEncodingParameters) throws(ContentShareError) -> VideoSendStream {
        if let camera { return camera }
        let made = try VideoSendStream(parameters, defaults: .camera, home: home)
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

    func stopVideo() {
        camera?.replaceTrack(with: nil)
        onChange()
    }

    func stopAudio() {
        voice?.replaceTrack(with: nil)
        onChange()
    }

    /// Ends both streams permanently.
    func end() {
        hasEnded = true
        camera?.stop()
        voice?.stop()
    }

    /// The track of the camera. Nil if it is not sent.
    var videoTrack: VideoTrack? { camera?.track }
    /// The track of the microphone. Nil if it is not sent.
    var audioTrack: AudioTrack? { voice?.track }

    /// Records both media from now on.
    func record(to source: RecordingSource) {
        recording = source
        if let camera { record(camera, to: source) }
        if let voice { record(voice, to: source) }
    }

    private func record(_ stream: some SendingStream, to source: RecordingSource) {
        stream.record(to: source, name: attendee.label, isMain: false)
    }

    // MARK: Viewers

    /// Returns the closures that open the current streams of `media` on a new connection. ``activate(_:)`` activates
    /// them.
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

    /// Sends the media to the viewers that are in the audience now, and to no others.
    func audienceChanged() {
        guard let audience else { return }
        camera?.setActive(audience.connections(sent: .camera), adding: true)
        voice?.setActive(audience.connections(sent: .microphone), adding: true)
    }

    /// Sends the viewer at a connection the media that the audience allows, after the streams were opened.
    func activate(_ connection: Connection) {
        guard let audience else { return }
        camera?.setActive(audience.isActive(.camera, on: connection) == true, on: connection)
        voice?.setActive(audience.isActive(.microphone, on: connection) == true, on: connection)
    }

    /// Stops sending over a connection.
    func remove(_ connection: Connection) {
        camera?.remove(connection)
        voice?.remove(connection)
    }

    /// Returns the media that the newest description of a connection declines.
    func refusedMedia(on connection: Connection) async -> Set<SharedMedia> {
        var refused: Set<SharedMedia> = []
        if await camera?.isRefused(on: connection) == true { refused.insert(.camera) }
        if await voice?.isRefused(on: connection) == true { refused.insert(.microphone) }
        return refused
    }

    /// Returns the statistics of the camera's video that a connection is sent.
    func videoStatistics(of connection: Connection) async -> [EncodingStatistics] {
        await camera?.statistics(of: connection) ?? []
    }

    private func open(
        _ opening: @escaping StreamOpening, over connections: [Connection]
    ) async throws(ContentShareError) {
        for connection in connections {
            do throws(ContentShareError) {
                try await connection.open([opening])
            } catch {
                // The end of one connection does not affect the others.
                guard case .ended = error else { throw error }
            }
        }
        if hasEnded { throw .ended }
    }
}
