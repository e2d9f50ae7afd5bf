internal import RTCShareMedia

extension VP8Encoder {
    /// Encodes the frame of an input according to an order, and updates the input with the frame that viewers have.
    /// `preceding` are frames before the one in the outcome, which code motion.
    func encode(
        _ input: inout PictureInput, timestamp: Duration, asKeyFrame: Bool, order: EncodingOrder
    ) throws(VideoCodingError) -> (preceding: [EncodedVideoFrame], outcome: Outcome) {
        guard let picture = input.picture else { throw .emptyPicture }
        let moved = order.hint == .motion ? nil : try findScrolls(in: input, of: picture)
        newShare = moved.map { MacroblockMap(size: picture.size, cells: $0.remaining).share } ?? input.changed.share
        searchedShare = 0
        if !asKeyFrame, let moved {
            try apply(order, size: picture.size, timestamp: timestamp)
            let encoded: (preceding: [EncodedVideoFrame], outcome: Outcome)?
            do throws(VideoCodingError) {
                encoded = try encode(
                    picture, after: moved, timestamp: timestamp, rotation: input.rotation, ledger: order.ledger)
            } catch {
                // The frames before the failed one are lost with it.
                needKeyFrame()
                throw error
            }
            if let encoded {
                switch encoded.outcome {
                case .encoded: input.didEncode()
                // The scroll was encoded, even if the rate control dropped the rest.
                case .dropped: input.didMove(leaving: moved.remaining)
                }
                return encoded
            }
        }
        // A key frame does not refer to earlier frames.
        if !asKeyFrame { searchedShare = input.changed.share }
        try apply(order, size: picture.size, timestamp: timestamp)
        let outcome = try encode(
            picture, timestamp: timestamp, rotation: input.rotation, asKeyFrame: asKeyFrame, changed: input.changed,
            ledger: order.ledger)
        if case .encoded = outcome { input.didEncode() }
        return ([], outcome)
    }

    /// Records the time that the last encoding took; nil for the usual time.
    func record(_ effort: Duration?, _ outcome: Outcome) {
        guard case .encoded(let frame) = outcome else { return }
        motionSearch.record(
            effort, speed: configuration.speed, change: searchedShare, of: configuration.size,
            byteCount: frame.data.count, quantizer: frame.quantizer)
    }

    /// Returns the scrolls since the last encoded frame; nil if nothing moved.
    private func findScrolls(
        in input: PictureInput, of picture: StandingPicture
    ) throws(VideoCodingError) -> ScrollSearch.Finding? {
        let signature = picture.signature
        guard signature.hasBefore else {
            try signature.update(picture)
            return nil
        }
        guard input.changed.count >= ScrollSearch.leastMacroblocks else { return nil }
        signature.settle()
        guard configuration.heuristics.contains(.sidewaysSearch) else { return scrollSearch.find(in: signature) }
        return try scrollSearch.find(in: signature, of: picture)
    }

    /// Applies an order.
    private func apply(_ order: EncodingOrder, size: PixelSize, timestamp: Duration) throws(VideoCodingError) {
        var new = configuration
        new.size = size
        new.bitrate = order.settings.bitrate
        new.burstRate = order.settings.burstRate
        new.framesPerSecond = order.framesPerSecond
        new.hint = order.hint
        new.usesPartialUpdates = order.settings.usesPartialUpdates
        new.heuristics = order.settings.heuristics
        new.tuning = order.tuning
        new.speed =
            order.searchInterval.map {
                motionSearch.speed(
                    change: searchedShare, of: size, interval: $0, fastest: order.speed, timestamp: timestamp)
            } ?? order.speed
        new.maximumQuantizer = order.maximumQuantizer
        try reconfigure(new)
    }
}
