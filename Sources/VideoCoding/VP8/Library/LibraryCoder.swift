internal import RTCShareMedia
internal import RTCShareWireFormat

/// Encodes frames with libvpx, and chooses the quantizer and the macroblocks of each, and whether it is blurred first.
struct LibraryCoder {
    /// The result of libvpx. `isChange` means that it codes changes, instead of only sharpening unchanged content.
    typealias Packet = (data: [UInt8], isKeyFrame: Bool, isChange: Bool)

    /// The current configuration.
    private(set) var configuration: VP8Encoder.Configuration
    private(set) var context: EncoderContext
    /// The predicted sizes of frames.
    private var control = QuantizerControl(.vp8)
    /// The sharpening of blurred content; nil if there is none.
    private(set) var sharpening: PictureSharpening?
    /// The time of the last change that libvpx encoded.
    private var lastChangeAt: Duration?
    /// The time from the first change that the next frame shows to the frame itself.
    var changeDuration = Duration.zero
    private lazy var converter = VideoConverter()

    /// The maximum size of a blurred frame, as time at the bitrate.
    private static let longestBlurred = Duration.milliseconds(350)
    /// The coarsest quantizer.
    private static let coarsestQuantizer = 63
    /// The time without changes after which a change is a new page. Earlier changes are not blurred repeatedly.
    private static let pageTime = Duration.milliseconds(500)
    /// The maximum number of steps by which a frame is finer than the one shortly before it.
    private static let mostRefinement = 3
    /// The ratio of a key frame's bits to its limit above which it is encoded again.
    private static let largestExcess = 1.5

    init(_ configuration: VP8Encoder.Configuration) throws(VideoCodingError) {
        self.configuration = configuration
        context = try EncoderContext(configuration)
    }

    /// Changes the configuration. An error leaves everything unchanged. Another size requires another libvpx encoder.
    mutating func reconfigure(_ new: VP8Encoder.Configuration) throws(VideoCodingError) {
        // libvpx gets the configuration of the same size with the quantizer of the next frame.
        if new.size == configuration.size { try new.validate() } else { context = try EncoderContext(new) }
        configuration = new
    }

    /// Stops sharpening, because a key frame follows.
    mutating func forgetSharpening() {
        sharpening = nil
    }

    /// Records the size of a sent frame.
    mutating func record(byteCount: Int) {
        sharpening?.record(byteCount: byteCount)
    }

    // MARK: Key frames

    /// Returns a key frame within its limit: as fine as the limit allows, or blurred if the coarsest acceptable
    /// quantizer would exceed it by far. Later frames sharpen a blurred one.
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
            // The frame is discarded and encoded again, with the knowledge from the first attempt. Presentation times
            // must increase, and one tick is negligible.
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

    /// Encodes a frame with this quantizer, and learns from the result.
    private mutating func encode(
        _ picture: any PixelPlanes, as content: QuantizerControl.Picture, quantizer: Int,
        time: (ticks: Int, duration: Int), flags: Int
    ) throws(VideoCodingError) -> Packet? {
        try context.use(configuration, quantizer: quantizer)
        guard let packet = try context.encode(picture, time: time, flags: flags) else { return nil }
        control.record(packet.data.count * 8, for: content, quantizer: try lastQuantizer())
        return (packet.data, packet.isKeyFrame, true)
    }

    /// Sharpens unchanged content.
    private func sharpen(
        _ picture: any PixelPlanes, time: (ticks: Int, duration: Int), flags: Int
    ) throws(VideoCodingError) -> Packet? {
        guard let packet = try context.encode(picture, time: time, flags: flags) else { return nil }
        return (packet.data, packet.isKeyFrame, false)
    }

    /// Returns the last quantizer, 0 to 63.
    private func lastQuantizer() throws(VideoCodingError) -> Int {
        QuantizerControl.Scale.quantizer(ofIndex: try context.lastQuantizer())
    }

    /// Whether frames can be blurred. Motion becomes sharp with the next movement anyway.
    private var canBlur: Bool { configuration.hint != .motion && configuration.heuristics.contains(.pictureSharpening) }

    private struct Attempt {
        let picture: any PixelPlanes
        let content: QuantizerControl.Picture
        let quantizer: Int
        /// The maximum number of bits.
        let limit: Double
        let isBlurred: Bool
    }

    private mutating func attemptKeyFrame(
        of picture: any PixelPlanes, _ ledger: BitLedger
    ) throws(VideoCodingError) -> Attempt {
        let content = QuantizerControl.Picture(kind: .keyFrame, activity: try PictureActivity.sum(of: picture))
        let range = configuration.minimumQuantizer...configuration.maximumQuantizer
        let limit = ledger.bits(in: configuration.keyFrameLimit)
        let most = ledger.pageBits
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

    /// Returns the frame, blurred until it is small enough at the coarsest quantizer.
    private mutating func blurred(
        _ picture: any PixelPlanes, _ ledger: BitLedger
    ) throws(VideoCodingError) -> (picture: any PixelPlanes, content: QuantizerControl.Picture) {
        var result = picture
        var content = QuantizerControl.Picture(kind: .blurred, activity: PictureActivity())
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

    // MARK: Inter frames

    /// Returns an inter frame: a part of a frame that is being sharpened, or the changes, as fine as the ledger allows,
    /// or, without changes, a slightly sharper frame.
    mutating func encodeInterFrame(
        of picture: any PixelPlanes, changed: MacroblockMap?, quality: CodedQuality, ledger: BitLedger,
        timestamp: Duration, time: (ticks: Int, duration: Int), flags: Int
    ) throws(VideoCodingError) -> Packet? {
        let rests = changed?.isEmpty == true
        // While an encoder waits, the content can change all the time.
        let isNewPage = !rests && lastChangeAt.map { timestamp - changeDuration - $0 >= Self.pageTime } ?? false
        if !rests { lastChangeAt = timestamp }
        // In addition to changes, a part is as large as one more frame; half as large while debts are paid.
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
            control.bits(content, at: range.upperBound) > max(ledger.pageBits, allowance)
        {
            return try encodeBlurred(picture, in: map, ledger, time: time, flags: flags)
        }
        // In a sequence of frames, a single simple one should not be much finer.
        let finest =
            isNewPage ? range.lowerBound : min(max(last - Self.mostRefinement, range.lowerBound), range.upperBound)
        let quantizer = control.quantizer(for: content, bits: allowance, in: finest...range.upperBound)
        return try encode(picture, as: content, quantizer: quantizer, time: time, flags: flags)
    }

    /// Returns a blurred frame for a new page that would take long at the coarsest quantizer, so that it is visible
    /// immediately. Later frames sharpen it.
    private mutating func encodeBlurred(
        _ picture: any PixelPlanes, in map: MacroblockMap, _ ledger: BitLedger, time: (ticks: Int, duration: Int),
        flags: Int
    ) throws(VideoCodingError) -> Packet? {
        let blurred = try blurred(picture, ledger).picture
        // Unchanged parts are not blurred.
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
}
