internal import RTCShareMedia

extension VP8Encoder {
    /// Encodes the picture of an input as an order says, and tells the input what viewers have of it. `preceding` are frames
    /// that go before the one of the outcome: what moved.
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
                // What goes before the frame that failed is lost with it.
                needKeyFrame()
                throw error
            }
            if let encoded {
                switch encoded.outcome {
                case .encoded: input.didEncode()
                // What moved has moved, though the rate control left the rest out.
                case .dropped: input.didMove(leaving: moved.remaining)
                }
                return encoded
            }
        }
        // A key frame finds nothing in what was before.
        if !asKeyFrame { searchedShare = input.changed.share }
        try apply(order, size: picture.size, timestamp: timestamp)
        let outcome = try encode(
            picture, timestamp: timestamp, rotation: input.rotation, asKeyFrame: asKeyFrame, changed: input.changed,
            ledger: order.ledger)
        if case .encoded = outcome { input.didEncode() }
        return ([], outcome)
    }

    /// What was encoded last took this machine so long; nil is as long as is usual.
    func record(_ effort: Duration?, _ outcome: Outcome) {
        guard case .encoded(let frame) = outcome else { return }
        motionSearch.record(
            effort, speed: configuration.speed, change: searchedShare, of: configuration.size,
            byteCount: frame.data.count, quantizer: frame.quantizer)
    }

    /// What moved since the picture that was encoded last; nil where nothing did.
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

    /// Makes what the order says from now on.
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
