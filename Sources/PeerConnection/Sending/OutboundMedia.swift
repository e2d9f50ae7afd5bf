internal import RTCShareRTP
internal import RTCShareWireFormat

/// One of this side's media: whether it is to be sent, where it stands in the descriptions, and its sender.
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
    /// The sender; at most one of the two, from the first description on that has it send.
    var video: VideoSender?
    var audio: AudioSender?
    // What is asked for with every packet or input stands here: to ask a sender is to copy all of it.

    /// Whether there is a sender, which may send now: the newest descriptions have it send.
    private(set) var isActive = false
    /// The sender's source, which stays; nil without one.
    private(set) var source: SynchronizationSource?
    /// Whether its packets have transport-wide numbers.
    private(set) var isNumbering = false
    /// When a report is due; nil before the first.
    var nextReport: Instant?
    /// What its encoder goes by.
    var target = EncoderTarget()

    /// The sender's stream.
    var stream: OutgoingStream? { video?.stream ?? audio?.stream }

    /// Changes the sender's stream, where there is one.
    @discardableResult
    mutating func withStream<Result>(_ body: (inout OutgoingStream) -> Result) -> Result? {
        if video == nil { audio?.withStream(body) } else { video?.withStream(body) }
    }

    /// The sender report of this instant; nil without a sender.
    func senderReport(at now: Instant, wallclock: NTPTimestamp) -> SenderReport? {
        video?.senderReport(at: now, wallclock: wallclock) ?? audio?.senderReport(at: now, wallclock: wallclock)
    }

    /// Has the media sent as the descriptions say: with a new sender, or with the one there is.
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
                video = VideoSender(parameters: parameters, maximumBitrate: maximumBitrate, random: &random)
            } else {
                audio = AudioSender(parameters: parameters, random: &random)
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

extension VideoSender {
    mutating func withStream<Result>(_ body: (inout OutgoingStream) -> Result) -> Result { body(&stream) }
}

extension AudioSender {
    mutating func withStream<Result>(_ body: (inout OutgoingStream) -> Result) -> Result { body(&stream) }
}
