internal import RTCShareMedia

extension VP8Encoder: PictureEncoder {
    func encode(
        _ input: inout PictureInput, timestamp: Duration, asKeyFrame: Bool, order: EncodingOrder
    ) throws(VideoCodingError) -> (preceding: [EncodedVideoFrame], outcome: EncodingOutcome) {
        guard let picture = input.picture else { throw .emptyPicture }
        let moved = order.hint == .motion ? nil : try input.findScrolls(by: &scrollSearch, order.settings.heuristics)
        newShare = input.newShare(after: moved)
        searchedShare = 0
        library.changeDuration = order.changeDuration
        if !asKeyFrame, let moved {
            try apply(order, size: picture.size, timestamp: timestamp)
            let encoded: (preceding: [EncodedVideoFrame], outcome: EncodingOutcome)?
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
                case .dropped, .unchanged: input.didMove(leaving: moved.remaining)
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

    func record(_ effort: Duration?, _ outcome: EncodingOutcome) {
        guard case .encoded(let frame) = outcome else { return }
        motionSearch.record(
            effort, speed: configuration.speed, change: searchedShare, of: configuration.size,
            byteCount: frame.data.count, quantizer: frame.quantizer)
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
        new.tuning = fixed.tuning ?? (order.isCamera ? .camera : .screen)
        let usual = fixed.speed ?? (order.isCamera ? Self.cameraSpeed : Self.screenSpeed)
        let speed = order.isHurried ? min(usual, Self.hurriedSpeed) : usual
        new.speed =
            order.searchInterval.map {
                motionSearch.speed(
                    change: searchedShare, of: size, interval: $0, fastest: speed, timestamp: timestamp)
            } ?? speed
        new.maximumQuantizer = QuantizerControl.Scale.quantizer(ofIndex: order.maximumCoarseness)
        try reconfigure(new)
    }

    /// A camera's content is worth a somewhat farther motion search (`rtcbench camera`).
    private static let cameraSpeed = -5
    private static let screenSpeed = -8

    /// libvpx's fastest speed.
    private static let hurriedSpeed = -16
}
