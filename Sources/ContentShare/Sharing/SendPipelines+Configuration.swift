internal import RTCShareLocks
internal import RTCShareMedia
internal import RTCShareNetworkRuntime
internal import RTCSharePeerConnection
internal import RTCShareVideoCoding
internal import RTCShareWireFormat

/// What is sent of a picture where a configuration says nothing.
struct VideoDefaults {
    let bitrate: DataRate
    let framesPerSecond: Double
    let size: PixelSize
    let priority: BitratePriority
    /// What it is where nobody says so.
    var assumedHint: ContentHint?

    /// A whole screen, at a rate at which its text is sharp.
    static let content = VideoDefaults(
        bitrate: .kilobitsPerSecond(2500), framesPerSecond: 30, size: LocalVideoConfiguration.usualSize,
        priority: .medium)
    /// A face.
    static let camera = VideoDefaults(
        bitrate: .kilobitsPerSecond(800), framesPerSecond: 30, size: PixelSize(width: 1280, height: 720),
        priority: .low,
        assumedHint: .motion)
}

extension VideoSendStream {
    /// A stream for what is configured so.
    init(
        _ configuration: LocalVideoConfiguration, defaults: VideoDefaults, home: HomeLoop
    ) throws(ContentShareError) {
        do {
            try self.init(
                settings: VideoEncoder.Settings(bitrate: defaults.bitrate), priority: defaults.priority, home: home)
        } catch {
            throw .encoder("\(error)")
        }
        apply(configuration, defaults: defaults)
    }

    /// Brings the running encoder to what a configuration says.
    nonisolated func apply(_ configuration: LocalVideoConfiguration, defaults: VideoDefaults) {
        update { settings in
            settings.bitrate = configuration.maxBitrate ?? defaults.bitrate
            settings.framesPerSecond = configuration.maxFramerate ?? defaults.framesPerSecond
            settings.maximumSize = configuration.maxSize ?? defaults.size
            settings.hint = configuration.contentHint
            settings.assumedHint = defaults.assumedHint
            settings.usesPartialUpdates = configuration.usesPartialUpdates
        }
    }
}

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
