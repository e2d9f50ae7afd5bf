internal import RTCShareMedia

/// From a source's frame to what is sent of it: size, turn, what changed, and how libvpx is to go about it.
///
///     frame ─▶ scaled and turned, where that is asked for ─▶ standing picture ─▶ what changed is encoded
///
/// It decides nothing about time: what and when is its owner's (``FrameCadence``, ``EncodingOrder``).
struct FrameEncoder {
    private(set) var encoder: VP8Encoder?
    /// The frame last taken, kept so that it can be encoded again, at another size too.
    private(set) var source: VideoFrame?
    private var picture: StandingPicture?
    /// What the source gives as it is to be, where that is not as it comes.
    private var scaled: ScaledPicture?
    /// The turn that is done to `picture` already.
    private var turn = VideoRotation.upright
    /// Where the picture differs from what was encoded last.
    private var changed = MacroblockMap(size: PixelSize(width: 0, height: 0))
    /// Of the picture, the part of what is encoded that differs from what was before; 0 where nothing is looked for.
    private var share = 0.0
    /// Of the picture that was encoded last, the part that was neither there before nor moved, 0 to 1.
    private(set) var newShare = 0.0
    private var search = MotionSearch()
    private var scrolls = ScrollSearch()

    /// The frame is what is encoded from now on, as the order says; nil is the one before.
    mutating func take(_ frame: VideoFrame?, order: EncodingOrder) throws(VideoCodingError) {
        guard let source = frame ?? source else { throw .emptyPicture }
        let size = order.sizes(for: source).now
        let rotation = order.settings.turnsPictures ? source.rotation : .upright
        let standing = picture.flatMap { $0.size == size && turn == rotation ? $0 : nil }
        guard frame != nil || standing == nil else { return }
        // What changed in a picture of another size is not known.
        let damage = self.source?.size == source.size ? source.damage : nil
        let ready = scaled.flatMap { $0.makes(size, of: source.size, turnedBy: rotation) ? $0 : nil }
        // Kept before anything can fail, so that it can be tried again; what was begun and failed is made anew.
        self.source = source
        scaled = nil
        picture = nil
        turn = rotation
        let current: StandingPicture
        if let standing {
            current = standing
        } else {
            current = try StandingPicture(size: size)
            changed = MacroblockMap(size: size)
        }
        if source.size == size, rotation == .upright {
            try current.update(from: source.buffer, parts: damage, changed: &changed)
        } else {
            let made: ScaledPicture
            if let ready { made = ready } else { made = try ScaledPicture(size, of: source.size, turnedBy: rotation) }
            let parts = try made.update(from: source.buffer, damage: damage)
            try current.update(from: made.picture, parts: parts, changed: &changed)
            scaled = made
        }
        picture = current
    }

    /// Encodes what was taken. `preceding` are frames that go before the one of the outcome: what moved.
    mutating func encode(
        timestamp: Duration, asKeyFrame: Bool, order: EncodingOrder
    ) throws(VideoCodingError) -> (preceding: [EncodedVideoFrame], outcome: VP8Encoder.Outcome) {
        guard let picture, let source else { throw .emptyPicture }
        let rotation = order.settings.turnsPictures ? VideoRotation.upright : source.rotation
        let moved = order.hint == .motion ? nil : try findScrolls(in: picture)
        share = 0
        newShare = moved.map { MacroblockMap(size: picture.size, cells: $0.remaining).share } ?? changed.share
        if !asKeyFrame, let moved {
            let encoder = try prepare(order, size: picture.size, timestamp: timestamp)
            let encoded: (preceding: [EncodedVideoFrame], outcome: VP8Encoder.Outcome)?
            do throws(VideoCodingError) {
                encoded = try encoder.encode(
                    picture, after: moved, timestamp: timestamp, rotation: rotation, ledger: order.ledger)
            } catch {
                // What goes before the frame that failed is lost with it.
                encoder.needKeyFrame()
                throw error
            }
            if let encoded {
                changed.replace(with: moved.remaining)
                // What moved has moved, though the rate control left the rest out: it is not to be found again.
                if case .dropped = encoded.outcome { picture.signature.forget() }
                note(encoded.outcome)
                return encoded
            }
        }
        // A key frame finds nothing in what was before.
        if !asKeyFrame { share = changed.share }
        let outcome = try prepare(order, size: picture.size, timestamp: timestamp).encode(
            picture, timestamp: timestamp, rotation: rotation, asKeyFrame: asKeyFrame, changed: changed,
            ledger: order.ledger)
        note(outcome)
        return ([], outcome)
    }

    /// What moved since the picture that was encoded last; nil where nothing did.
    private mutating func findScrolls(in picture: StandingPicture) throws(VideoCodingError) -> ScrollSearch.Finding? {
        let signature = picture.signature
        guard signature.hasBefore else {
            try signature.update(picture)
            return nil
        }
        guard changed.count >= ScrollSearch.leastMacroblocks else { return nil }
        signature.settle()
        return try scrolls.find(in: signature, of: picture)
    }

    private mutating func note(_ outcome: VP8Encoder.Outcome) {
        guard case .encoded = outcome else { return }
        changed.removeAll()
        picture?.signature.commit()
    }

    /// What the last order's ledger came to.
    var ledger: BitLedger { encoder?.ledger ?? BitLedger() }

    /// Whether viewers have something else than the next frame builds on: see ``VP8Encoder/findsDrift()``.
    func findsDrift() throws(VideoCodingError) -> Bool { try encoder?.findsDrift() ?? false }

    /// What was encoded last took this machine so long; nil is as long as is usual.
    mutating func took(_ effort: Duration?, _ outcome: VP8Encoder.Outcome) {
        guard let encoder, let picture, case .encoded(let frame) = outcome else { return }
        search.took(
            effort, speed: encoder.configuration.speed, change: share, of: picture.size,
            byteCount: frame.data.count, quantizer: frame.quantizer)
    }

    /// Brings the encoder to what the order says.
    private mutating func prepare(
        _ order: EncodingOrder, size: PixelSize, timestamp: Duration
    ) throws(VideoCodingError) -> VP8Encoder {
        let settings = order.settings
        var configuration =
            encoder?.configuration ?? VP8Encoder.Configuration(size: size, bitrate: settings.bitrate)
        configuration.size = size
        configuration.bitrate = settings.bitrate
        configuration.burstRate = settings.burstRate
        configuration.framesPerSecond = order.framesPerSecond
        configuration.hint = order.hint
        configuration.usesPartialUpdates = settings.usesPartialUpdates
        configuration.tuning = order.tuning
        configuration.speed =
            order.searchInterval.map {
                search.speed(change: share, of: size, interval: $0, fastest: order.speed, timestamp: timestamp)
            } ?? order.speed
        configuration.maximumQuantizer = order.maximumQuantizer
        if let encoder {
            try encoder.reconfigure(configuration)
            return encoder
        }
        let new = try VP8Encoder(configuration: configuration)
        encoder = new
        return new
    }
}
