internal import RTCShareRTP
internal import RTCShareWireFormat

/// One of this side's media: whether it is to be sent, where it stands in the descriptions, and its RTP stream.
struct OutboundMedia {
    /// Whether the owner wants it sent; told in the next description.
    var isWanted = true
    /// Whether it is not sent for now, though the descriptions have a place for it.
    var isHeldBack = false
    /// The subgroup that it is shared to, which the peer is told; nil for everybody.
    var subgroup: String?
    /// The index of its section in the descriptions; nil before an answer was taken.
    var section: Int?
    /// The section was rejected or is used for something else: this media will never be sent.
    var hasEnded = false
    /// The RTP stream. At most one of the two, from the first description that has it send.
    var video: VideoRTPStream?
    var audio: AudioRTPStream?
    // The members below are read with every packet or input. They are here because reading one of a stream copies all of it.

    /// Whether there is an RTP stream, and the newest descriptions have it send.
    private(set) var isActive = false
    /// The stream's source, which stays. Nil without a stream.
    private(set) var source: SynchronizationSource?
    /// Whether its packets have transport-wide numbers.
    private(set) var isNumbering = false
    /// When a report is due; nil before the first.
    var nextReport: Instant?
    /// What its encoder goes by.
    var target = EncoderTarget()

    /// What both kinds of stream have.
    var stream: OutgoingStream? { video?.stream ?? audio?.stream }

    /// Changes what both kinds of stream have, if there is one.
    @discardableResult
    mutating func withStream<Result>(_ body: (inout OutgoingStream) -> Result) -> Result? {
        if video == nil { audio?.withStream(body) } else { video?.withStream(body) }
    }

    /// The sender report of this instant; nil without a stream.
    func senderReport(at now: Instant, wallclock: NTPTimestamp) -> SenderReport? {
        video?.senderReport(at: now, wallclock: wallclock) ?? audio?.senderReport(at: now, wallclock: wallclock)
    }

    /// Has the media sent as the descriptions say: with a new RTP stream, or with the present one.
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

    /// Ceases to have it sent, until it is started again.
    mutating func pause() {
        isActive = false
    }
}

extension VideoRTPStream {
    mutating func withStream<Result>(_ body: (inout OutgoingStream) -> Result) -> Result { body(&stream) }
}

extension AudioRTPStream {
    mutating func withStream<Result>(_ body: (inout OutgoingStream) -> Result) -> Result { body(&stream) }
}
