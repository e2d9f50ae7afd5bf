internal import RTCShareLocks
internal import RTCShareMedia
internal import RTCShareStreams
internal import RTCShareTransport

extension AudioSendStream {
    /// Creates a stream for speech, or for other audio.
    init(isVoice: Bool, home: HomeLoop) throws(ContentShareError) {
        do throws(WorkerThreadError) {
            try self.init(settings: Settings(isVoice: isVoice), home: home)
        } catch {
            throw .encoder("no thread to encode on: \(systemMessage(error.errorNumber))")
        }
    }

    /// Applies a configuration to the running encoder. `isVoice` is the default if the configuration does not set it.
    nonisolated func apply(_ parameters: AudioEncodingParameters, isVoice: Bool) {
        let settings = Settings(isVoice: parameters.isVoice ?? isVoice, bitrate: parameters.maxBitrate)
        update { $0 = settings }
    }
}
