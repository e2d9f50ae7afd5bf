internal import RTCShareMedia
internal import RTCShareWireFormat

/// Chooses how fine a partial update is, and has it written.
struct PartialUpdateCoder {
    /// The quantizer indices of partial updates: what rests becomes readable, then fine, then as fine as is of use;
    /// what changes is that at once.
    static let quantizers = [Quantizer(index: 60), Quantizer(index: 24), finest]
    private static let finest = Quantizer(index: 8)
    /// What is new after a scroll may be as coarse as this, or have only the lowest coefficients at the other.
    private static let coarsest = 127
    private static let blurred = Quantizer(index: 110)
    /// What changed beyond this is for libvpx to code: it finds what moved.
    static let largestUpdate = 400
    /// The same after a scroll, which libvpx would not find.
    static let largestScrolledUpdate = 6000
    /// However low the bitrate is: a letter.
    static let smallestShare = 600
    /// What a partial update may take, in time at the bitrate: what takes more is for libvpx to code, more coarsely.
    static let longestUpdate = Duration.milliseconds(50)

    /// A frame of our own, and which macroblocks are as fine as its quantizer index says by it.
    struct PartialUpdate {
        let data: [UInt8]
        let coded: MacroblockMap
        let quantizer: Int
    }

    /// What a partial update goes by.
    struct Basis {
        let updates: ReferenceUpdates
        let probabilities: CoefficientProbabilities
        let bytesPerSecond: Double
        let framesPerSecond: Double

        /// Nil where it is not known what decoders have.
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

    /// The finest partial update that the bitrate allows; nil where it is too large at the coarsest, with the reference
    /// as it was.
    mutating func code(
        _ picture: any PixelPlanes, over reference: ReferencePicture, changed: MacroblockMap, quality: CodedQuality,
        _ basis: Basis, ledger: BitLedger
    ) throws(VideoCodingError) -> PartialUpdate? {
        let bytesPerSecond = basis.bytesPerSecond
        let share = max(Int(bytesPerSecond / basis.framesPerSecond), Self.smallestShare)
        // More than its share, where nobody used what is there: with more in each, fewer could follow.
        let limit = min(max(Int(ledger.credit / 8), share), share * 3 / 2)
        let most = Int(bytesPerSecond * (Self.longestUpdate / .seconds(1)))
        // What rests is made readable before it is made finer, and what changes beside it comes along; else that is coded fine,
        // or by libvpx, which finds better ways to be coarse.
        let quantizers = Self.quantizers
        let resting = quantizers.firstIndex { quality.coarsest > $0.index } ?? quantizers.count - 1
        for index in (changed.isEmpty ? resting...resting : min(resting, 1)...resting).reversed() {
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

    /// The partial update that has what is new after a scroll, as fine as its share of the bitrate allows. What would
    /// take far more than was foreseen is written once more.
    mutating func code(
        _ picture: any PixelPlanes, over reference: ReferencePicture, after scroll: Scroll, changed: MacroblockMap,
        quality: CodedQuality, _ basis: Basis, ledger: BitLedger, timestamp: Duration
    ) throws(VideoCodingError) -> PartialUpdate? {
        let novelty = try writer.novelty(of: changed, in: picture, over: reference).sum
        let allowance = rate.allowance(novelty: novelty, from: ledger, timestamp: timestamp)
        // As coarse as need be, and blurred where that is not enough: what comes late has moved farther, and costs more.
        let indices = Self.finest.index...Self.coarsest
        let coarsest = rate.byteCount(novelty: novelty, quantizer: Quantizer(index: Self.coarsest))
        var detail = coarsest <= allowance * 3 / 2 ? 16 : coarsest <= allowance * 4 ? 3 : 1
        for limit in [max(allowance, Self.smallestShare) * 2, Int.max / 8] {
            let quantizer =
                detail == 16
                ? rate.quantizer(novelty: novelty, byteCount: allowance, within: indices) : Self.blurred
            // What is left over is for what is coarse.
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
