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
    private(set) var activeMap: MacroblockMap?
    var quality: CodedQuality
    /// What libvpx was last told.
    private var applied: Configuration
    var sharpening: PictureSharpening?
    var control = QuantizerControl()
    /// When libvpx was last given something new.
    var lastChangeAt: Duration?
    /// What viewers have, as we take it.
    private(set) var model: DecoderModel
    var driftCheck: DriftCheck
    lazy var patchWriter = PatchWriter()
    var patchRate = PatchRate()
    /// Whether what came last was a scroll.
    var followsScroll = false
    /// Where more of the picture is to be coded, all is: libvpx has little to gain from being told what not to look at.
    private static let largestShare = 0.5
    lazy var converter = VideoConverter()

    /// Makes the encoder.
    public convenience init(configuration: Configuration) throws(VideoCodingError) {
        try self.init(configuration: configuration, driftCheck: DriftCheck())
    }

    init(configuration: Configuration, driftCheck: DriftCheck) throws(VideoCodingError) {
        context = try EncoderContext(configuration)
        model = DecoderModel(size: configuration.size)
        self.driftCheck = driftCheck
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
            model = DecoderModel(size: new.size)
            driftCheck.forget()
            quality = CodedQuality(of: MacroblockMap(size: new.size))
            keyFrameIsDue = true
        }
        applied = new
        if new.temporalLayers != configuration.temporalLayers {
            pattern = TemporalPattern(layerCount: new.temporalLayers)
            model.forgetUpdates()
        }
        configuration = new
        if !canHavePartialUpdates { driftCheck.forget() }
    }

    /// Encodes a picture, which has to be I420 of the configured size.
    ///
    /// The first picture is a key frame, and after it those for which `asKeyFrame` asks, and one where the size
    /// changed: none else. `changed` says where it differs from the one before: that is coded; all else is not looked at and
    /// stays as it is. Where little or nothing changed, what is coarse still is made finer, and where all is fine, next to
    /// nothing is coded. `nil` is everywhere. Key frames, and streams of several temporal layers, code everything. `wait`
    /// is how long the picture was held to pay for what was made before.
    public func encode(
        _ picture: any PixelPlanes, timestamp: Duration, rotation: VideoRotation = .upright,
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
        _ picture: any PixelPlanes, timestamp: Duration, rotation: VideoRotation, asKeyFrame wantsKeyFrame: Bool,
        changed: MacroblockMap?, wait: Duration
    ) throws(VideoCodingError) -> Outcome {
        control.pass(
            to: timestamp, wait: wait, bitsPerSecond: configuration.bitsPerSecond,
            burst: configuration.burstBitsPerSecond)
        let step = pattern.next(isKeyFrame: wantsKeyFrame)
        if configuration.temporalLayers > 1 {
            try context.control("temporal layer", VP8E_SET_TEMPORAL_LAYER_ID, Int32(step.layer))
        }
        let time = clock.next(timestamp: timestamp, framesPerSecond: configuration.framesPerSecond)
        try model.giveLastPicture(to: context)
        let flags = step.flags | (followsScroll ? Self.onlyLastPicture : 0)
        let packet: Packet?
        if wantsKeyFrame {
            lastChangeAt = timestamp
            packet = try encodeKeyFrame(of: picture, time: time, flags: flags)
        } else {
            packet = try encodeInterFrame(
                of: picture, changed: changed, weight: pattern.weight(ofLayer: step.layer), timestamp: timestamp,
                time: time, flags: flags)
        }
        guard let packet else { return .dropped }
        followsScroll = false
        sharpening?.took(byteCount: packet.data.count)
        patchRate.spend(
            byteCount: packet.data.count, bytesPerSecond: Double(configuration.bitsPerSecond) / 8, timestamp: timestamp)
        let quantizer = try context.lastQuantizer()
        quality.didCode(packet.isKeyFrame ? nil : activeMap, quantizer: quantizer)
        model.follow(configuration.temporalLayers == 1 ? packet.data : nil)
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
        if canHavePartialUpdates { driftCheck.note(frame) }
        return .encoded(frame)
    }

    /// Has the next picture be a key frame: what was made last may not reach anybody.
    func needKeyFrame() {
        keyFrameIsDue = true
    }

    /// Whether what was sent may have been ours in part.
    private var canHavePartialUpdates: Bool { configuration.usesPartialUpdates && configuration.temporalLayers == 1 }

    /// Whether viewers have something else than the next frame builds on: then that is a key frame. Takes a decoder's time,
    /// now and then: see ``DriftCheck``.
    func findsDrift() throws(VideoCodingError) -> Bool {
        guard try driftCheck.findsDrift(from: model, of: context) else { return false }
        needKeyFrame()
        return true
    }

    /// See ``DecoderModel``.
    func changeReference<Result>(
        _ change: (ReferencePicture) throws(VideoCodingError) -> Result?
    ) throws(VideoCodingError) -> Result? {
        try model.changeLastPicture(of: context, change)
    }

    /// Has libvpx use this quantizer, 0 to 63, from the next frame on.
    func use(quantizer: Int, speed: Int? = nil) throws(VideoCodingError) {
        var wanted = configuration
        wanted.speed = speed ?? configuration.speed
        wanted.minimumQuantizer = quantizer
        wanted.maximumQuantizer = quantizer
        guard wanted != applied else { return }
        try context.apply(wanted)
        applied = wanted
    }

    /// Has libvpx code these macroblocks alone from the next frame on; nil is all.
    func setActiveMap(_ map: MacroblockMap?) throws(VideoCodingError) {
        let map = map.flatMap { $0.share <= Self.largestShare ? $0 : nil }
        guard map != activeMap else { return }
        try context.setActiveMap(map)
        activeMap = map
    }
}
