internal import RTCShareContentShare
internal import RTCShareMedia

/// The part of a room that a share's sources use. Tests replace it to record the calls.
@SharingActor protocol ShareOutput: Sendable {
    /// Whether a viewer or a server is sent the content's video.
    var isContentSent: Bool { get }
    /// Shares `source` with the audio of `audio`, on new tracks that are not muted.
    func showContent(
        _ source: any VideoSource, canWait: Bool, audio: (any AudioSource)?, configuration: VideoEncodingParameters,
        audioConfiguration: AudioEncodingParameters
    ) async throws
    func updateContent(_ configuration: VideoEncodingParameters) throws
    func startMicrophone(_ source: any AudioSource) async throws
    func startCamera(_ source: any VideoSource) async throws
    func stopCamera()
    /// Mutes or unmutes the content's video, if its source is `source` at that time.
    func setVideoMuted(_ isMuted: Bool, of source: any VideoSource)
    func setAudioMuted(_ isMuted: Bool)
    func setMicrophoneMuted(_ isMuted: Bool)
}

extension SharingRoom: ShareOutput {
    var isContentSent: Bool { contentShare.hasViewer }

    func showContent(
        _ source: any VideoSource, canWait: Bool, audio: (any AudioSource)?, configuration: VideoEncodingParameters,
        audioConfiguration: AudioEncodingParameters
    ) async throws {
        try await contentShare.start(
            source: source, audio: audio, sourceCanWait: canWait, parameters: configuration,
            audioParameters: audioConfiguration)
    }

    func updateContent(_ configuration: VideoEncodingParameters) throws { try contentShare.update(configuration) }
    func startMicrophone(_ source: any AudioSource) async throws { try await startMicrophone(source: source) }
    func startCamera(_ source: any VideoSource) async throws { try await startCamera(source: source) }

    func setVideoMuted(_ isMuted: Bool, of source: any VideoSource) {
        guard let track = contentShare.videoTrack, track.source === source else { return }
        track.isPaused = isMuted
    }

    func setAudioMuted(_ isMuted: Bool) { contentShare.audioTrack?.isPaused = isMuted }
    func setMicrophoneMuted(_ isMuted: Bool) { microphoneTrack?.isPaused = isMuted }
}
