internal import RTCShareLocks
internal import RTCShareMedia
internal import RTCShareStreams
internal import RTCShareTransport

extension AudioSendStream {
    /// A stream for a voice, or for other audio.
    init(isVoice: Bool, home: HomeLoop) throws(ContentShareError) {
        do throws(WorkerThreadError) {
            try self.init(settings: Settings(isVoice: isVoice), home: home)
        } catch {
            throw .encoder("no thread to encode on: \(systemMessage(error.errorNumber))")
        }
    }

    /// Brings the running encoder to what a configuration says; `isVoice` holds where it does not say what the sound is.
    nonisolated func apply(_ configuration: LocalAudioConfiguration, isVoice: Bool) {
        let settings = Settings(isVoice: configuration.isVoice ?? isVoice, bitrate: configuration.maxBitrate)
        update { $0 = settings }
    }
}
