internal import RTP
internal import WireFormat

/// One of this side's media: whether it is to be sent, where it stands in the descriptions, and its sender.
struct OutboundMedia {
    /// Whether the owner wants it sent; told in the next description.
    var isWanted = true
    /// The index of its section in the descriptions; nil before an answer was taken.
    var section: Int?
    /// The section was rejected or is used for something else: this media will never be sent.
    var hasEnded = false
    /// The sender; at most one of the two, from the first description on that has it send.
    var video: VideoSender?
    var audio: AudioSender?
    /// What its encoder could use; nil where its owner has not said.
    var demand: BitrateDemand?
    /// What the encoder was told last.
    var target: BitrateTarget?
    /// When it was told.
    var targetTold: Instant?

    /// The source, where there is a sender.
    var stream: OutgoingStream? { video?.stream ?? audio?.stream }

    /// Whether there is a sender, which may send now.
    var isActive: Bool { video?.stream.isActive ?? audio?.stream.isActive ?? false }

    /// When the sender reports next.
    var nextReport: Instant? { video?.stream.nextReport ?? audio?.stream.nextReport }

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
        if stream == nil {
            if isVideo {
                video = VideoSender(parameters: parameters, maximumBitrate: maximumBitrate, random: &random)
            } else {
                audio = AudioSender(parameters: parameters, random: &random)
            }
            return
        }
        let isPaused = !isActive
        video?.update(parameters)
        audio?.stream.parameters = parameters
        guard isPaused else { return }
        video?.resume()
        audio?.stream.resume()
    }
}

extension VideoSender {
    mutating func withStream<Result>(_ body: (inout OutgoingStream) -> Result) -> Result { body(&stream) }
}

extension AudioSender {
    mutating func withStream<Result>(_ body: (inout OutgoingStream) -> Result) -> Result { body(&stream) }
}
