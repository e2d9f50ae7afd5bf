internal import CVPX
internal import Glibc
public import Media

/// libvpx's VP8 encoder in real-time mode, set up for screens. Used from one thread at a time.
///
/// One encoder lives as long as its stream. A new bitrate, frame rate, hint or number of layers is a setting of the
/// running encoder and costs no key frame. A new size costs the key frame that VP8 needs for it, and libvpx's part of the
/// encoder is made anew: it would go on by what it learnt of the old size.
public final class VP8Encoder {
    /// What became of a picture.
    public enum Outcome: Sendable {
        /// It is encoded.
        case encoded(EncodedVideoFrame)
        /// The rate control left it out. What follows builds on what came before: nothing is missing to the viewer.
        case dropped
    }

    /// What it makes now.
    public private(set) var configuration: Configuration
    private(set) var context: EncoderContext
    private var pattern: TemporalPattern
    private var clock = PresentationClock()
    /// The index before the first frame of the base layer, which is 0.
    var baseLayerIndex = UInt8.max
    private(set) var keyFrameIsDue = true
    /// What libvpx was last told to code; nil is all.
    private var activeMap: MacroblockMap?
    var quality: CodedQuality
    /// What libvpx was last told.
    private var applied: Configuration
    private(set) var sharpening: PictureSharpening?
    /// What libvpx's last frame became beside the last picture: in its memory it is one with that, and changes with it.
    private(set) var lastUpdates: ReferenceUpdates?
    /// What both sides go by; nil where a frame's header was not followed, until the next key frame.
    private(set) var probabilities: CoefficientProbabilities?
    private var reference: (picture: ReferencePicture, state: ReferenceState)?
    lazy var patchWriter = PatchWriter()
    /// Whether what came last was a scroll.
    var followsScroll = false
    /// Where more of the picture is to be coded, all is: libvpx has little to gain from being told what not to look at.
    private static let largestShare = 0.5
    private lazy var converter = VideoConverter()

    /// How the picture that frames of our own change stands to the one that libvpx builds on.
    private enum ReferenceState {
        case outdated, equal, newer
    }

    /// Makes the encoder.
    public init(configuration: Configuration) throws(VideoCodingError) {
        context = try EncoderContext(configuration)
        pattern = TemporalPattern(layerCount: configuration.temporalLayers)
        quality = CodedQuality(of: MacroblockMap(size: configuration.size))
        self.configuration = configuration
        applied = configuration
    }

    /// Changes what it makes, from the next picture on. On an error everything stays as it was.
    ///
    /// `threads` is not looked at: libvpx can't change it in a running encoder.
    public func reconfigure(_ new: Configuration) throws(VideoCodingError) {
        var new = new
        new.threads = configuration.threads
        guard new != configuration else { return }
        if new.size == configuration.size {
            do throws(VideoCodingError) {
                try context.apply(new)
            } catch {
                // Half of it may have been taken.
                try context.apply(configuration)
                throw error
            }
        } else {
            context = try EncoderContext(new)
            activeMap = nil
            reference = nil
            quality = CodedQuality(of: MacroblockMap(size: new.size))
            keyFrameIsDue = true
        }
        applied = new
        if new.temporalLayers != configuration.temporalLayers {
            pattern = TemporalPattern(layerCount: new.temporalLayers)
            lastUpdates = nil
        }
        configuration = new
    }

    /// Encodes a picture, which has to be I420 of the configured size.
    ///
    /// The first picture is a key frame, and after it those for which `asKeyFrame` asks, and one where the size
    /// changed: none else. `changed` says where it differs from the one before: that is coded; all else is not looked at and
    /// stays as it is. Where little or nothing changed, what is coarse still is made finer, and where all is fine, next to
    /// nothing is coded. `nil` is everywhere. Key frames, and streams of several temporal layers, code everything. `wait`
    /// is how long the picture was held to pay for what was made before.
    public func encode(
        _ picture: any VideoFrameBuffer, timestamp: Duration, rotation: VideoRotation = .upright,
        asKeyFrame: Bool = false, changed: MacroblockMap? = nil, wait: Duration = .zero
    ) throws(VideoCodingError) -> Outcome {
        guard picture.format == .i420, picture.size == configuration.size else {
            throw .unexpectedPicture(size: picture.size, format: picture.format, expected: configuration.size)
        }
        let wantsKeyFrame = asKeyFrame || keyFrameIsDue
        if wantsKeyFrame { sharpening = nil }
        if !wantsKeyFrame, let changed,
            let frame = try encodePatch(of: picture, changed: changed, timestamp: timestamp, rotation: rotation)
        {
            return .encoded(frame)
        }
        return try encodeWithLibrary(
            picture, timestamp: timestamp, rotation: rotation, asKeyFrame: wantsKeyFrame, changed: changed, wait: wait)
    }

    /// The same by libvpx, whatever there is to code.
    func encodeWithLibrary(
        _ picture: any VideoFrameBuffer, timestamp: Duration, rotation: VideoRotation, asKeyFrame wantsKeyFrame: Bool,
        changed: MacroblockMap?, wait: Duration
    ) throws(VideoCodingError) -> Outcome {
        if let part = try sharpening?.next(picture, changed: changed, bitsPerSecond: configuration.bitsPerSecond) {
            try use(quantizers: part.quantizer...part.quantizer, speed: PictureSharpening.speed)
            try setActiveMap(part.map)
        } else {
            sharpening = nil
            try use(quantizers: configuration.minimumQuantizer...configuration.maximumQuantizer)
            let isWhole = wantsKeyFrame || configuration.temporalLayers > 1
            try setActiveMap(isWhole || changed?.isEmpty == true ? nil : changed.map { quality.withSomeCoarse($0) })
        }
        let step = pattern.next(isKeyFrame: wantsKeyFrame)
        if configuration.temporalLayers > 1 {
            try context.control("temporal layer", VP8E_SET_TEMPORAL_LAYER_ID, Int32(step.layer))
        }
        let time = clock.next(timestamp: timestamp, framesPerSecond: configuration.framesPerSecond, wait: wait)
        if let reference, reference.state == .newer { try context.setLastFrame(to: reference.picture) }
        reference?.state = .outdated
        let flags = step.flags | (followsScroll ? Self.onlyLastPicture : 0)
        guard var packet = try context.encode(picture, time: time, flags: flags) else { return .dropped }
        followsScroll = false
        if packet.isKeyFrame { packet = try limited(packet, of: picture, time: time, flags: step.flags) }
        sharpening?.took(byteCount: packet.data.count)
        let quantizer = try context.lastQuantizer()
        quality.didCode(packet.isKeyFrame ? nil : activeMap, quantizer: quantizer)
        // With layers a frame may leave the last picture as it was.
        let header = configuration.temporalLayers == 1 ? FrameHeader(frame: packet.data) : nil
        lastUpdates = header?.updates
        if header?.isKeyFrame ?? false { probabilities = CoefficientProbabilities() }
        if let header { probabilities?.follow(header) } else { probabilities = nil }
        pattern.advance()
        keyFrameIsDue = false
        if step.layer == 0 { baseLayerIndex &+= 1 }
        var frame = EncodedVideoFrame(
            data: packet.data, isKeyFrame: packet.isKeyFrame, size: configuration.size, timestamp: timestamp,
            rotation: rotation,
            temporalLayer: TemporalLayer(
                id: step.layer, isSync: step.isSync, baseLayerIndex: baseLayerIndex,
                count: configuration.temporalLayers),
            isReference: step.isReference, quantizer: quantizer, contentHint: configuration.hint)
        frame.coarsestQuantizer = quality.coarsest
        frame.isUnfinished = sharpening != nil
        return .encoded(frame)
    }

    /// Has the next picture be a key frame: what was made last may not reach anybody.
    func needKeyFrame() {
        keyFrameIsDue = true
    }

    /// Gives the picture that the next frame builds on to a frame that is not libvpx's. What `change` gives is what became of
    /// it; nil where the picture stayed as it was.
    func changeReference<Result>(
        _ change: (ReferencePicture) throws(VideoCodingError) -> Result?
    ) throws(VideoCodingError) -> Result? {
        let picture = reference?.picture ?? ReferencePicture(size: configuration.size)
        if reference?.state ?? .outdated == .outdated {
            try context.copyLastFrame(to: picture)
            reference = (picture, .equal)
        }
        let result = try change(picture)
        if result != nil { reference?.state = .newer }
        return result
    }

    /// Has libvpx code these macroblocks alone from the next frame on; nil is all.
    private func setActiveMap(_ map: MacroblockMap?) throws(VideoCodingError) {
        let map = map.flatMap { $0.share < Self.largestShare ? $0 : nil }
        guard map != activeMap else { return }
        try context.setActiveMap(map)
        activeMap = map
    }
}

extension VP8Encoder {
    private typealias Packet = (data: [UInt8], isKeyFrame: Bool)

    /// What a key frame may take at most, in time at the bitrate, and a blurred one.
    private static let longestKeyFrame = Duration.milliseconds(500)
    private static let longestBlurred = Duration.milliseconds(350)
    /// The coarsest quantizer that there is.
    private static let coarsestQuantizer = 63

    /// A key frame that keeps to its limit, in place of one that came out far larger: coarser, and where that is too large
    /// still or could not be read, blurred. What is blurred is sharpened by the frames that follow.
    private func limited(
        _ packet: Packet, of picture: any VideoFrameBuffer, time: (ticks: Int, duration: Int), flags: Int
    ) throws(VideoCodingError) -> Packet {
        var packet = packet
        // Presentation times have to grow; one tick is no time.
        var time = time
        func again(
            _ picture: any VideoFrameBuffer, quantizer: Int
        ) throws(VideoCodingError) -> Packet? {
            time.ticks += 1
            try use(quantizers: quantizer...max(quantizer, configuration.maximumQuantizer))
            return try context.encode(picture, time: time, flags: flags)
        }
        if let coarser = try coarserQuantizer(forKeyFrame: packet.data.count) {
            packet = try again(picture, quantizer: max(coarser, configuration.minimumQuantizer)) ?? packet
        }
        guard isLonger(packet, than: Self.longestKeyFrame) else { return packet }
        // Motion is sharp again with what moves next; layers would miss what the one above them sharpened.
        guard configuration.hint != .motion, configuration.temporalLayers == 1 else {
            return try again(picture, quantizer: Self.coarsestQuantizer) ?? packet
        }
        for factor in [4, 8, 16] {
            let size = PixelSize(width: picture.size.width / factor, height: picture.size.height / factor)
            guard size.width >= 2, size.height >= 2 else { break }
            let blurred = try converter.convert(try converter.convert(picture, to: size), to: picture.size)
            guard let smaller = try again(blurred, quantizer: Self.coarsestQuantizer) else { break }
            packet = smaller
            sharpening = try PictureSharpening(of: picture, blurred: blurred)
            guard isLonger(packet, than: Self.longestBlurred) else { break }
        }
        return packet
    }

    private func isLonger(_ packet: Packet, than limit: Duration) -> Bool {
        Double(packet.data.count) * 8 > Double(configuration.bitsPerSecond) * (limit / .seconds(1))
    }

    /// The quantizer, 0 to 63, at which a key frame keeps to its limit, where it came out far larger: libvpx guesses from
    /// the key frame before, which was of another picture, at another size.
    private func coarserQuantizer(forKeyFrame byteCount: Int) throws(VideoCodingError) -> Int? {
        let limit = Double(configuration.bitsPerSecond) / 8 * (configuration.keyFrameLimit / .seconds(1))
        let excess = Double(byteCount) / max(limit, 1)
        let last = try context.lastQuantizer()
        guard excess > 1.5, last < 106 else { return nil }
        // Half of the steps that 63 has make a picture about a quarter of its size.
        let used = Double(last) / 2
        return min(Int(used + 16 * log2(excess)), configuration.maximumQuantizer)
    }

    /// Has libvpx use these quantizers from the next frame on.
    private func use(quantizers: ClosedRange<Int>, speed: Int? = nil) throws(VideoCodingError) {
        var wanted = configuration
        wanted.speed = speed ?? configuration.speed
        wanted.minimumQuantizer = quantizers.lowerBound
        wanted.maximumQuantizer = quantizers.upperBound
        guard wanted != applied else { return }
        try context.apply(wanted)
        applied = wanted
    }
}
