internal import RTCShareMedia
internal import RTCShareWireFormat

/// Chooses the quantizer of a partial update, and writes it.
struct PartialUpdateCoder {
    /// The quantizer indices of partial updates: unchanged content becomes readable, then fine, then as fine as changes
    /// are immediately, and at rest as fine as VP8 can be.
    private static let quantizers = [60, 24, finestOfChanges, 0].map(Quantizer.init(index:))
    private static let finestOfChanges = 8
    /// The time without a change after which the content rests. What changes again soon, such as a film of few frames a
    /// second, would lose the last pass with each change.
    private static let restTime = Duration.milliseconds(300)
    /// The coarsest quantizer index of new content after a scroll. At the other one only the lowest coefficients are
    /// coded.
    private static let coarsest = 127
    private static let blurred = Quantizer(index: 110)
    /// The maximum number of changed macroblocks. libvpx codes larger changes, since it finds motion.
    static let largestUpdate = 400
    /// The maximum number of changed macroblocks after a scroll, which libvpx would not find.
    static let largestScrolledUpdate = 6000
    /// The minimum share in bytes, however low the bitrate is: a letter.
    static let smallestShare = 600
    /// The maximum size of a partial update, as time at the bitrate. libvpx codes larger changes, more coarsely.
    static let longestUpdate = Duration.milliseconds(50)

    /// An own frame, and the macroblocks that have its quantizer index after it.
    struct PartialUpdate {
        let data: [UInt8]
        let coded: MacroblockMap
        let quantizer: Int
    }

    /// The state that a partial update depends on.
    struct Basis {
        let updates: ReferenceUpdates
        let probabilities: CoefficientProbabilities
        let bytesPerSecond: Double
        let framesPerSecond: Double

        /// Creates the basis; nil if the decoders' state is unknown.
        init?(_ model: DecoderModel, _ configuration: VP8Encoder.Configuration) {
            guard let updates = model.lastUpdates, let probabilities = model.probabilities else { return nil }
            self.updates = updates
            self.probabilities = probabilities
            bytesPerSecond = Double(configuration.bitrate.bitsPerSecond) / 8
            framesPerSecond = configuration.framesPerSecond
        }
    }

    private lazy var writer = PartialUpdateWriter()
    private var rate = PartialUpdateRate()
    /// The time of the last change.
    private var lastChangeAt = Duration.zero

    /// Records a frame with a change.
    mutating func contentDidChange(timestamp: Duration) { lastChangeAt = timestamp }

    /// Whether unchanged content can become finer. A clock that was set back counts as rest.
    func canRefine(_ quality: CodedQuality, timestamp: Duration) -> Bool {
        quality.coarsest > (isAtRest(timestamp) ? 0 : Self.finestOfChanges)
    }

    private func isAtRest(_ timestamp: Duration) -> Bool {
        !(.zero..<Self.restTime).contains(timestamp - lastChangeAt)
    }

    /// Returns the finest partial update that the bitrate allows; nil, with the reference frame unchanged, if it is too
    /// large at the coarsest.
    mutating func code(
        _ picture: any PixelPlanes, over reference: ReferencePicture, changed: MacroblockMap, quality: CodedQuality,
        _ basis: Basis, ledger: BitLedger, timestamp: Duration
    ) throws(VideoCodingError) -> PartialUpdate? {
        let bytesPerSecond = basis.bytesPerSecond
        let share = max(Int(bytesPerSecond / basis.framesPerSecond), Self.smallestShare)
        // The limit exceeds the share if unused bits exist: with more in each frame, fewer could follow.
        let limit = min(max(Int(ledger.credit / 8), share), share * 3 / 2)
        let most = Int(bytesPerSecond * (Self.longestUpdate / .seconds(1)))
        // Unchanged content is made readable before it is made finer, together with changes. Otherwise changes are
        // coded fine, or by libvpx, which has better ways to be coarse.
        let quantizers = Self.quantizers.dropLast(changed.isEmpty && isAtRest(timestamp) ? 0 : 1)
        let finest = quantizers.firstIndex { quality.coarsest > $0.index } ?? quantizers.count - 1
        for index in ((changed.isEmpty ? finest : min(finest, 1))...finest).reversed() {
            let quantizer = quantizers[index]
            let order = PartialUpdateWriter.Order(
                scroll: nil, changed: changed, coarse: quality.coarser(than: quantizer.index),
                quantizer: quantizer, detail: 16, room: changed.isEmpty ? most : ledger.isInDebt ? share / 2 : share,
                limit: changed.isEmpty ? most * 2 : limit)
            let partial = try writer.write(
                order, of: picture, over: reference, probabilities: basis.probabilities, updates: basis.updates)
            if let partial {
                return PartialUpdate(data: partial.data, coded: partial.coded, quantizer: quantizer.index)
            }
        }
        return nil
    }

    /// Returns the partial update with the new content after a scroll, as fine as its share of the bitrate allows. If
    /// it is much larger than predicted, it is written again.
    mutating func code(
        _ picture: any PixelPlanes, over reference: ReferencePicture, after scroll: Scroll, changed: MacroblockMap,
        quality: CodedQuality, _ basis: Basis, ledger: BitLedger, timestamp: Duration
    ) throws(VideoCodingError) -> PartialUpdate? {
        let novelty = try writer.novelty(of: changed, in: picture, over: reference).sum
        let allowance = rate.allowance(novelty: novelty, from: ledger, timestamp: timestamp)
        // The quantizer can be coarse, and blurred if that does not suffice: late content has moved farther, and costs
        // more.
        let indices = Self.finestOfChanges...Self.coarsest
        let coarsest = rate.byteCount(novelty: novelty, quantizer: Quantizer(index: Self.coarsest))
        var detail = coarsest <= allowance * 3 / 2 ? 16 : coarsest <= allowance * 4 ? 3 : 1
        for limit in [max(allowance, Self.smallestShare) * 2, Int.max / 8] {
            let quantizer =
                detail == 16
                ? rate.quantizer(novelty: novelty, byteCount: allowance, within: indices) : Self.blurred
            // The remaining bits are for coarse content.
            let isFine = rate.byteCount(novelty: novelty, quantizer: quantizer) < allowance / 2
            let order = PartialUpdateWriter.Order(
                scroll: scroll, changed: changed,
                coarse: isFine ? quality.coarser(than: quantizer.index) : MacroblockMap(size: picture.size),
                quantizer: quantizer, detail: detail, room: allowance * 3 / 4, limit: limit)
            let partial = try writer.write(
                order, of: picture, over: reference, probabilities: basis.probabilities, updates: basis.updates)
            guard let partial else {
                if detail == 16 { rate.record(byteCount: limit * 2, novelty: novelty, quantizer: quantizer) }
                detail = detail == 16 ? 3 : 1
                continue
            }
            if !isFine, detail == 16 {
                rate.record(byteCount: partial.data.count, novelty: novelty, quantizer: quantizer)
            }
            return PartialUpdate(data: partial.data, coded: partial.coded, quantizer: quantizer.index)
        }
        return nil
    }
}
