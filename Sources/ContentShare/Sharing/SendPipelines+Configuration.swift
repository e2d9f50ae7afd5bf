internal import RTCShareLocks
internal import RTCShareMedia
internal import RTCSharePeerConnection
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

extension SendingStream {
    /// Sends one kind of an attendee's media over a connection too, as far as its descriptions have a place for that. `isActive`
    /// is called once the place is taken, and returns whether the peer is sent anything for now, or nil if it is gone.
    func open(
        _ kind: SharedMedia, of attendee: AttendeeID, on connection: Connection,
        isolation: isolated (any Actor)? = #isolation, isActive: () -> Bool?
    ) async throws(ContentShareError) {
        let isContent = kind == .content || kind == .contentAudio
        let sender: Sender
        do {
            guard let media = try SharedMedia.kinds([kind], of: attendee).first else { throw ContentShareError.ended }
            let limit = isContent ? ContentShareController.maximumShares : 1
            sender = try await connection.sender(of: media, for: self, atMost: limit)
        } catch let error as SenderError {
            switch error {
            case .taken: throw .alreadyShared(by: isContent ? (try? attendee.content) ?? attendee : attendee)
            case .limit(let limit): throw .tooManyShares(limit: limit)
            case .closed: throw .ended
            }
        } catch {
            throw .configuration("\(error)")
        }
        guard let isActive = isActive() else { throw .ended }
        // Another call may have been first.
        guard self.sender(on: connection) !== sender else { return }
        add(sender, isActive: isActive)
        await connection.report(to: sender)
    }
}
