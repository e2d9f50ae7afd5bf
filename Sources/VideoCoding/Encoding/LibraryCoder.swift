internal import RTCShareMedia
internal import RTCShareWireFormat

/// Has libvpx code pictures, and chooses what it is told of each: how coarse, which macroblocks, and whether it is blurred
/// first.
struct LibraryCoder {
    /// What libvpx made of a picture; `isChange`: of what changed in it, and not to have what rests sharper.
    typealias Packet = (data: [UInt8], isKeyFrame: Bool, isChange: Bool)

    /// What is made now.
    private(set) var configuration: VP8Encoder.Configuration
    private(set) var context: EncoderContext
    /// What pictures take.
    private var control = QuantizerControl()
    /// What was blurred and is not sharp yet.
    private(set) var sharpening: PictureSharpening?
    /// When libvpx was last given something new.
    private var lastChangeAt: Duration?
    private lazy var converter = VideoConverter()

    /// What a key frame or a page takes at most without a blur, in time at the bitrate.
    private static let longestPage = Duration.milliseconds(500)
    /// The same for one that leaves within ``longestDeparture``.
    private static let longestBurst = Duration.milliseconds(800)
    private static let longestDeparture = Duration.milliseconds(320)
    /// What a blurred one takes at most, in time at the bitrate.
    private static let longestBlurred = Duration.milliseconds(350)
    /// The coarsest quantizer that there is.
    private static let coarsestQuantizer = 63
    /// What changes after so long is a new page; what changes sooner is not blurred again and again.
    private static let pageTime = Duration.milliseconds(500)
    /// By how many steps a picture is finer at most than the one shortly before.
    private static let mostRefinement = 3
    /// How many times more bits than a limit have a key frame made once more.
    private static let largestExcess = 1.5

    init(_ configuration: VP8Encoder.Configuration) throws(VideoCodingError) {
        self.configuration = configuration
        context = try EncoderContext(configuration)
    }

    /// Changes what is made. On an error everything stays as it was. Another size is another encoder of libvpx's.
    mutating func reconfigure(_ new: VP8Encoder.Configuration) throws(VideoCodingError) {
        // libvpx gets the configuration of the same size with the quantizer of the next frame.
        if new.size == configuration.size { try new.validate() } else { context = try EncoderContext(new) }
        configuration = new
    }

    /// What was blurred stays so: a key frame comes.
    mutating func forgetSharpening() {
        sharpening = nil
    }

    /// What was coded goes out.
    mutating func record(byteCount: Int) {
        sharpening?.record(byteCount: byteCount)
    }

    // MARK: Key frames

    /// A key frame that keeps to its limit: as fine as that allows, and where the coarsest quantizer that is wanted would
    /// take far more, blurred. What is blurred is sharpened by the frames that follow.
    mutating func encodeKeyFrame(
        of picture: any PixelPlanes, ledger: BitLedger, timestamp: Duration, time: (ticks: Int, duration: Int),
        flags: Int
    ) throws(VideoCodingError) -> Packet? {
        lastChangeAt = timestamp
        sharpening = nil
        try context.use(nil)
        var attempt = try attemptKeyFrame(of: picture, ledger)
        guard var packet = try encode(attempt, time: time, flags: flags) else { return nil }
        if Double(packet.data.count * 8) > attempt.limit * Self.largestExcess,
            attempt.quantizer < Self.coarsestQuantizer
        {
            // Nobody gets it: it is made once more, by what is known of it now. Presentation times have to grow; one tick is
            // no time.
            attempt = try attemptKeyFrame(of: picture, ledger)
            packet = try encode(attempt, time: (time.ticks + 1, time.duration), flags: flags) ?? packet
        }
        if attempt.isBlurred { sharpening = try PictureSharpening(of: picture, blurred: attempt.picture) }
        return packet
    }

    private mutating func encode(
        _ attempt: Attempt, time: (ticks: Int, duration: Int), flags: Int
    ) throws(VideoCodingError) -> Packet? {
        try encode(attempt.picture, as: attempt.content, quantizer: attempt.quantizer, time: time, flags: flags)
    }

    /// Has libvpx encode a picture with this quantizer, and learns from it.
    private mutating func encode(
        _ picture: any PixelPlanes, as content: QuantizerControl.Picture, quantizer: Int,
        time: (ticks: Int, duration: Int), flags: Int
    ) throws(VideoCodingError) -> Packet? {
        try context.use(configuration, quantizer: quantizer)
        guard let packet = try context.encode(picture, time: time, flags: flags) else { return nil }
        control.record(packet.data.count * 8, for: content, quantizer: try lastQuantizer())
        return (packet.data, packet.isKeyFrame, true)
    }

    /// Has libvpx code what rests a little finer.
    private func sharpen(
        _ picture: any PixelPlanes, time: (ticks: Int, duration: Int), flags: Int
    ) throws(VideoCodingError) -> Packet? {
        guard let packet = try context.encode(picture, time: time, flags: flags) else { return nil }
        return (packet.data, packet.isKeyFrame, false)
    }

    /// 0 to 63.
    private func lastQuantizer() throws(VideoCodingError) -> Int {
        QuantizerControl.quantizer(ofIndex: try context.lastQuantizer())
    }

    /// Whether pictures may be blurred: motion is sharp again with the next movement.
    private var canBlur: Bool { configuration.hint != .motion && configuration.heuristics.contains(.pictureSharpening) }

    private struct Attempt {
        let picture: any PixelPlanes
        let content: QuantizerControl.Picture
        let quantizer: Int
        /// Bits that it should take at most.
        let limit: Double
        let isBlurred: Bool
    }

    private mutating func attemptKeyFrame(
        of picture: any PixelPlanes, _ ledger: BitLedger
    ) throws(VideoCodingError) -> Attempt {
        let content = QuantizerControl.Picture(kind: .keyFrame, activity: try PictureActivity.sum(of: picture))
        let range = configuration.minimumQuantizer...configuration.maximumQuantizer
        let limit = ledger.bits(in: configuration.keyFrameLimit)
        let most = Self.mostPageBits(ledger)
        let quantizer = control.quantizer(for: content, bits: limit, in: range)
        if control.bits(content, at: quantizer) <= most {
            return Attempt(picture: picture, content: content, quantizer: quantizer, limit: most, isBlurred: false)
        }
        guard canBlur else {
            return Attempt(
                picture: picture, content: content, quantizer: Self.coarsestQuantizer, limit: limit, isBlurred: false)
        }
        let blurred = try blurred(picture, ledger)
        return Attempt(
            picture: blurred.picture, content: blurred.content, quantizer: Self.coarsestQuantizer,
            limit: ledger.bits(in: Self.longestBlurred), isBlurred: true)
    }

    /// The picture, blurred until it takes little enough at the coarsest quantizer.
    private mutating func blurred(
        _ picture: any PixelPlanes, _ ledger: BitLedger
    ) throws(VideoCodingError) -> (picture: any PixelPlanes, content: QuantizerControl.Picture) {
        var result = picture
        var content = QuantizerControl.Picture(kind: .blurred, activity: 0)
        for factor in [4, 8, 16] {
            let size = PixelSize(width: picture.size.width / factor, height: picture.size.height / factor)
            guard size.width >= 2, size.height >= 2 else { break }
            result = try converter.convert(try converter.convert(picture, to: size), to: picture.size)
            content = QuantizerControl.Picture(kind: .blurred, activity: try PictureActivity.sum(of: result))
            let bits = control.bits(content, at: Self.coarsestQuantizer)
            guard bits > ledger.bits(in: Self.longestBlurred) else { break }
        }
        return (result, content)
    }

    // MARK: Frames between them

    /// A frame that builds on those before it: a part of a picture that is being sharpened, or what changed, as fine as
    /// the ledger has bits for it, or, where nothing did, all of it a little finer.
    mutating func encodeInterFrame(
        of picture: any PixelPlanes, changed: MacroblockMap?, quality: CodedQuality, ledger: BitLedger,
        timestamp: Duration, time: (ticks: Int, duration: Int), flags: Int
    ) throws(VideoCodingError) -> Packet? {
        let rests = changed?.isEmpty == true
        let isNewPage = !rests && lastChangeAt.map { timestamp - $0 >= Self.pageTime } ?? false
        if !rests { lastChangeAt = timestamp }
        // Beside what changes a part is as large as one more picture; half as large while debts are paid.
        let most = PictureSharpening.share
        let part = rests ? most : min(.seconds(1 / configuration.framesPerSecond), most)
        if let part = try sharpening?.next(
            picture, changed: changed, bitsPerSecond: Int(configuration.bitrate.bitsPerSecond),
            share: ledger.isInDebt ? part / 2 : part)
        {
            try context.use(
                configuration, quantizer: part.quantizer,
                speed: PictureSharpening.speed(bitsPerSecond: Int(configuration.bitrate.bitsPerSecond)))
            try context.use(part.map)
            return try sharpen(picture, time: time, flags: flags)
        }
        sharpening = nil
        let map = changed.map { quality.withSomeCoarse($0) }
        try context.use(rests ? nil : map)
        let range = configuration.minimumQuantizer...configuration.maximumQuantizer
        let last = try lastQuantizer()
        guard !rests else {
            try context.use(configuration, quantizer: QuantizerControl.finer(than: last, in: range))
            return try sharpen(picture, time: time, flags: flags)
        }
        let content = QuantizerControl.Picture(
            kind: isNewPage ? .page : .following, activity: try PictureActivity.sum(of: picture, in: map))
        let share = ledger.bits(in: .seconds(1 / configuration.framesPerSecond))
        let allowance = control.allowance(share: share, for: content.kind, from: ledger)
        if isNewPage, canBlur, let map,
            control.bits(content, at: range.upperBound) > max(Self.mostPageBits(ledger), allowance)
        {
            return try encodeBlurred(picture, in: map, ledger, time: time, flags: flags)
        }
        // Of pictures that follow each other, one that happens to be simple is no reason for a far finer one.
        let finest =
            isNewPage ? range.lowerBound : min(max(last - Self.mostRefinement, range.lowerBound), range.upperBound)
        let quantizer = control.quantizer(for: content, bits: allowance, in: finest...range.upperBound)
        return try encode(picture, as: content, quantizer: quantizer, time: time, flags: flags)
    }

    /// A page that is new and would take long at the coarsest quantizer is seen at once, blurred, and then sharpened.
    private mutating func encodeBlurred(
        _ picture: any PixelPlanes, in map: MacroblockMap, _ ledger: BitLedger, time: (ticks: Int, duration: Int),
        flags: Int
    ) throws(VideoCodingError) -> Packet? {
        let blurred = try blurred(picture, ledger).picture
        // What did not change is not blurred.
        let mixed = try StandingPicture(size: picture.size)
        var drawn = MacroblockMap(size: picture.size)
        try mixed.update(from: blurred, parts: nil, changed: &drawn)
        try mixed.update(from: picture, parts: map.rest, changed: &drawn)
        let content = QuantizerControl.Picture(kind: .blurred, activity: try PictureActivity.sum(of: mixed, in: map))
        let packet = try encode(mixed, as: content, quantizer: Self.coarsestQuantizer, time: time, flags: flags)
        guard let packet else { return nil }
        sharpening = try PictureSharpening(of: picture, blurred: mixed, in: map)
        return packet
    }

    /// The most bits of a key frame or a page without a blur: it arrives later than a blurred one, and long before that is
    /// sharp.
    private static func mostPageBits(_ ledger: BitLedger) -> Double {
        let atOnce = min(ledger.burstBits(in: longestDeparture), ledger.bits(in: longestBurst))
        return max(ledger.bits(in: longestPage), atOnce)
    }
}
