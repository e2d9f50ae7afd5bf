internal import RTCShareRTP
internal import RTCShareWireFormat

/// One of this side's media: its state, its section in the descriptions, and its RTP stream.
struct OutboundMedia {
    /// Whether the owner wants to send it, as the next description announces.
    var isWanted = true
    /// Whether it is held back for now, although the descriptions allow it.
    var isHeldBack = false
    /// The codecs of video in the next description, in order; empty for all of the configuration.
    var codecPreferences: [any VideoPayloadFormat] = []
    /// The subgroup to which it is shared, which the peer learns; nil for all participants.
    var subgroup: String?
    /// The index of its section in the descriptions; nil before an answer was applied.
    var section: Int?
    /// Whether the section was rejected or has other media now, so that this media is never sent.
    var hasEnded = false
    /// The RTP stream: at most one of the two, from the first description that sends it.
    var video: VideoRTPStream?
    var audio: AudioRTPStream?
    // The properties below are read with every packet or input. They are not in a stream, because each read would copy
    // it.

    /// Whether there is an RTP stream, and the latest descriptions send it.
    private(set) var isActive = false
    /// The stream's source, which does not change; nil without a stream.
    private(set) var source: SynchronizationSource?
    /// Whether its packets have transport-wide sequence numbers.
    private(set) var isNumbering = false
    /// The time of the next report; nil before the first.
    var nextReport: Instant?
    /// The target of its encoder.
    var target = EncoderTarget()
    /// The limit that the peer has requested (RFC 5104 §4.2), with the source that has requested it; nil for none.
    var requestedLimit: TemporaryMaximumBitrate.Entry?
    /// Whether the peer is yet to be notified of the limit.
    var owesNotification = false

    /// The common part of both kinds of stream.
    var stream: OutgoingStream? { video?.stream ?? audio?.stream }

    /// Changes the common part of both kinds of stream, if there is a stream.
    @discardableResult
    mutating func withStream<Result>(_ body: (inout OutgoingStream) -> Result) -> Result? {
        if video == nil { audio?.withStream(body) } else { video?.withStream(body) }
    }

    /// Returns the current sender report; nil without a stream.
    func senderReport(at now: Instant, wallclock: NTPTimestamp) -> SenderReport? {
        video?.senderReport(at: now, wallclock: wallclock) ?? audio?.senderReport(at: now, wallclock: wallclock)
    }

    /// Starts to send the media with these parameters, with a new RTP stream or with the existing one.
    mutating func start(
        _ parameters: OutgoingStream.Parameters, isVideo: Bool, maximumBitrate: DataRate,
        random: inout some RandomNumberGenerator
    ) {
        let isPaused = !isActive
        isActive = true
        isNumbering = parameters.extensions[.transportSequenceNumber] != nil
        if source == nil {
            source = parameters.source
            if isVideo {
                video = VideoRTPStream(parameters: parameters, maximumBitrate: maximumBitrate, random: &random)
            } else {
                audio = AudioRTPStream(parameters: parameters, random: &random)
            }
            return
        }
        video?.update(parameters)
        audio?.stream.parameters = parameters
        guard isPaused else { return }
        nextReport = nil
        video?.resume()
        audio?.stream.resume()
    }

    /// Stops sending the media until it is started again. The peer, which gets a goodbye, forgets its limit.
    mutating func pause() {
        isActive = false
        video?.layerQueue = nil
        requestedLimit = nil
        owesNotification = false
    }
}

extension VideoRTPStream {
    mutating func withStream<Result>(_ body: (inout OutgoingStream) -> Result) -> Result { body(&stream) }
}

extension AudioRTPStream {
    mutating func withStream<Result>(_ body: (inout OutgoingStream) -> Result) -> Result { body(&stream) }
}
