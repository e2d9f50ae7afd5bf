internal import Glibc
internal import RTCShareCVPX
package import RTCShareMedia
internal import RTCShareWireFormat

/// libvpx's VP8 encoder in real-time mode, set up for screens, with frames of our own between libvpx's. Used from one thread
/// at a time.
///
///                little changed  ┌─────────────────────┐
///              ┌────────────────▶│ PartialUpdateCoder  ├──┐
///              │                 └─────────────────────┘  │
///              │ something moved ┌─────────────────────┐  │          ┌───────────────────────────┐
///     picture ─┼────────────────▶│ ScrollFrame,        ├──┼▶ frame ─▶│ what viewers have by it:  │
///              │                 │ PartialUpdateCoder  │  │          │ DecoderModel, CodedQuality│
///              │ all else        ├─────────────────────┤  │          └───────────────────────────┘
///              └────────────────▶│ LibraryCoder        ├──┘
///                                └─────────────────────┘
///
/// One encoder lives as long as its stream. A new bitrate, frame rate or hint is a setting of the running encoder and costs
/// no key frame. A new size costs the key frame that VP8 needs for it, and a new encoder of libvpx: the old one would use
/// what it learnt of the old size.
package final class VP8Encoder {
    /// What became of a picture.
    package enum Outcome: Sendable {
        /// It is encoded.
        case encoded(EncodedVideoFrame)
        /// The rate control left it out. What follows builds on what came before: nothing is missing to the viewer.
        case dropped
    }

    var library: LibraryCoder
    var partialUpdates = PartialUpdateCoder()
    private var clock = PresentationClock()
    /// How fine each macroblock of what viewers have is.
    var quality: CodedQuality
    /// What viewers have, as we take it.
    private(set) var model: DecoderModel
    /// What it may make, and made.
    var ledger = BitLedger()
    var driftCheck: DriftCheck
    private(set) var keyFrameIsDue = true
    /// Whether what came last was a scroll.
    var followsScroll = false
    var scrollSearch = ScrollSearch()
    var motionSearch = MotionSearch()
    /// Of the picture, the part of what is encoded that differs from what was before; 0 where nothing is looked for.
    var searchedShare = 0.0
    /// Of the picture that was encoded last, the part that was neither there before nor moved, 0 to 1.
    var newShare = 0.0

    /// What it makes now.
    package var configuration: Configuration { library.configuration }

    /// Makes the encoder.
    package convenience init(configuration: Configuration) throws(VideoCodingError) {
        try self.init(configuration: configuration, driftCheck: DriftCheck())
    }

    init(configuration: Configuration, driftCheck: DriftCheck) throws(VideoCodingError) {
        library = try LibraryCoder(configuration)
        quality = CodedQuality(of: MacroblockMap(size: configuration.size))
        model = DecoderModel(size: configuration.size)
        self.driftCheck = driftCheck
    }

    /// Changes what it makes, from the next picture on. On an error everything stays as it was.
    package func reconfigure(_ new: Configuration) throws(VideoCodingError) {
        let old = configuration
        guard new != old else { return }
        try library.reconfigure(new)
        if new.size != old.size {
            model = DecoderModel(size: new.size)
            driftCheck.forget()
            quality = CodedQuality(of: MacroblockMap(size: new.size))
            keyFrameIsDue = true
        }
        if !new.usesPartialUpdates { driftCheck.forget() }
    }

    /// Encodes a picture, which has to be I420 of the configured size.
    ///
    /// The first picture is a key frame, and after it those for which `asKeyFrame` asks, and one where the size
    /// changed: none else. `changed` says where it differs from the one before: that is coded; all else is not looked at and
    /// stays as it is. Where little or nothing changed, what is coarse still is made finer, and where all is fine, next to
    /// nothing is coded. `nil` is everywhere. Key frames code everything.
    package func encode(
        _ picture: any PixelPlanes, timestamp: Duration, rotation: VideoRotation = .upright,
        asKeyFrame: Bool = false, changed: MacroblockMap? = nil
    ) throws(VideoCodingError) -> Outcome {
        ledger.setRates(configuration.bitrate, burst: configuration.burstRate, now: timestamp)
        return try encode(
            picture, timestamp: timestamp, rotation: rotation, asKeyFrame: asKeyFrame, changed: changed, ledger: ledger)
    }

    /// The same by the ledger of who decides when pictures are begun.
    func encode(
        _ picture: any PixelPlanes, timestamp: Duration, rotation: VideoRotation, asKeyFrame: Bool,
        changed: MacroblockMap?, ledger: BitLedger
    ) throws(VideoCodingError) -> Outcome {
        self.ledger = ledger
        guard picture.format == .i420, picture.size == configuration.size else {
            throw .unexpectedPicture(size: picture.size, format: picture.format, expected: configuration.size)
        }
        let wantsKeyFrame = asKeyFrame || keyFrameIsDue
        if wantsKeyFrame { library.forgetSharpening() }
        if !wantsKeyFrame, let changed,
            let frame = try encodePartialUpdate(of: picture, changed: changed, timestamp: timestamp, rotation: rotation)
        {
            return .encoded(frame)
        }
        return try encodeWithLibrary(
            picture, timestamp: timestamp, rotation: rotation, asKeyFrame: wantsKeyFrame, changed: changed)
    }

    /// The same by libvpx, whatever there is to code.
    func encodeWithLibrary(
        _ picture: any PixelPlanes, timestamp: Duration, rotation: VideoRotation, asKeyFrame wantsKeyFrame: Bool,
        changed: MacroblockMap?
    ) throws(VideoCodingError) -> Outcome {
        let time = clock.next(timestamp: timestamp, framesPerSecond: configuration.framesPerSecond)
        try model.giveLastPicture(to: library.context)
        let flags = (wantsKeyFrame ? Int(VPX_EFLAG_FORCE_KF) : 0) | (followsScroll ? Self.onlyLastPicture : 0)
        let packet =
            if wantsKeyFrame {
                try library.encodeKeyFrame(
                    of: picture, ledger: ledger, timestamp: timestamp, time: time, flags: flags)
            } else {
                try library.encodeInterFrame(
                    of: picture, changed: changed, quality: quality, ledger: ledger, timestamp: timestamp, time: time,
                    flags: flags)
            }
        guard let packet else { return .dropped }
        followsScroll = false
        library.record(byteCount: packet.data.count)
        spend(packet.data.count, isChange: packet.isChange)
        let quantizer = try library.context.lastQuantizer()
        quality.didCode(packet.isKeyFrame ? nil : library.context.activeMap, quantizer: quantizer)
        model.advance(packet.data)
        keyFrameIsDue = false
        var frame = EncodedVideoFrame(
            data: packet.data, isKeyFrame: packet.isKeyFrame, size: configuration.size, timestamp: timestamp,
            rotation: rotation, quantizer: quantizer, contentHint: configuration.hint)
        frame.coarsestQuantizer = quality.coarsest
        frame.isUnfinished = library.sharpening != nil
        if configuration.usesPartialUpdates { driftCheck.note(frame) }
        return .encoded(frame)
    }

    /// A frame was made.
    func spend(_ byteCount: Int, isChange: Bool) {
        ledger.spend(byteCount: byteCount, isChange: isChange)
    }

    /// Has the next picture be a key frame: what was made last may not reach anybody.
    func needKeyFrame() {
        keyFrameIsDue = true
    }

    /// Whether viewers have something else than the next frame builds on: then that is a key frame. Takes a decoder's time,
    /// now and then: see ``DriftCheck``.
    func findsDrift() throws(VideoCodingError) -> Bool {
        guard try driftCheck.findsDrift(from: model, of: library.context) else { return false }
        needKeyFrame()
        return true
    }

    /// See ``DecoderModel``.
    func changeReference<Result>(
        _ change: (ReferencePicture) throws(VideoCodingError) -> Result?
    ) throws(VideoCodingError) -> Result? {
        try model.changeLastPicture(of: library.context, change)
    }
}
