internal import RTCShareContentShare
internal import RTCShareMedia

/// The part of a room that shared sources need. Tests record what they do to it.
protocol ShareOutput: Sendable {
    /// Shares `source` with the sound of `audio`, on new tracks that are not muted.
    func showContent(
        _ source: any VideoSource, canWait: Bool, audio: (any AudioSource)?, configuration: VideoEncodingParameters,
        audioConfiguration: LocalAudioConfiguration
    ) async throws
    func updateContent(_ configuration: VideoEncodingParameters) async throws
    func startMicrophone(_ source: any AudioSource) async throws
    /// Mutes or unmutes the content's video, if viewers see `source` at that time.
    func setVideoMuted(_ isMuted: Bool, of source: any VideoSource) async
    func setAudioMuted(_ isMuted: Bool) async
    func setMicrophoneMuted(_ isMuted: Bool) async
}

extension SharingRoom: ShareOutput {
    func showContent(
        _ source: any VideoSource, canWait: Bool, audio: (any AudioSource)?, configuration: VideoEncodingParameters,
        audioConfiguration: LocalAudioConfiguration
    ) async throws {
        try await contentShare.start(
            source: source, audio: audio, sourceCanWait: canWait, configuration: configuration,
            audioConfiguration: audioConfiguration)
    }

    func updateContent(_ configuration: VideoEncodingParameters) async throws {
        try await contentShare.update(configuration)
    }

    func startMicrophone(_ source: any AudioSource) async throws { try await startLocalAudio(source: source) }

    func setVideoMuted(_ isMuted: Bool, of source: any VideoSource) async {
        guard let track = await contentShare.videoTrack, track.source === source else { return }
        track.isMuted = isMuted
    }

    func setAudioMuted(_ isMuted: Bool) async {
        let track = await contentShare.audioTrack
        track?.isMuted = isMuted
    }

    func setMicrophoneMuted(_ isMuted: Bool) async {
        let track = await localAudioTrack
        track?.isMuted = isMuted
    }
}
