internal import Glibc
internal import RTCShareCVPX
package import RTCShareMedia
internal import RTCShareRTP
internal import RTCShareWireFormat

/// A VP8 encoder for screens: libvpx's in real-time mode, with our own frames between libvpx's. One thread at a time
/// can use it.
///
///                little changed  ┌─────────────────────┐
///              ┌────────────────▶│ PartialUpdateCoder  ├──┐
///              │                 └─────────────────────┘  │
///              │ something moved ┌─────────────────────┐  │          ┌───────────────────────────┐
///     frame ───┼────────────────▶│ ScrollFrame,        ├──┼▶ frame ─▶│ the state of viewers:     │
///              │                 │ PartialUpdateCoder  │  │          │ DecoderModel, CodedQuality│
///              │ everything else ├─────────────────────┤  │          └───────────────────────────┘
///              └────────────────▶│ LibraryCoder        ├──┘
///                                └─────────────────────┘
///
/// An encoder lives as long as its stream. A new bitrate, frame rate or hint is a setting of the running encoder,
/// without a key frame. A new size costs a key frame, as VP8 requires, and a new libvpx encoder, since the old one
/// would use its knowledge of the old size.
package final class VP8Encoder {
    var library: LibraryCoder
    var partialUpdates = PartialUpdateCoder()
    private var clock = PresentationClock()
    /// The quality of each macroblock that viewers have.
    var quality: CodedQuality
    /// The model of the viewers' decoders.
    private(set) var model: DecoderModel
    /// The accounting of bits.
    var ledger = BitLedger()
    var driftCheck: DriftCheck
    private(set) var keyFrameIsDue = true
    /// Whether the last frame was a scroll.
    var followsScroll = false
    var scrollSearch = ScrollSearch()
    var motionSearch = MotionSearch()
    /// The fraction of the frame that differs from the previous one; 0 without a search.
    var searchedShare = 0.0
    /// The fraction of the last frame, 0 to 1, that was neither visible before nor moved.
    var newShare = 0.0

    /// The speed and the tuning that replace those that suit the content; nil for these.
    var fixed: (speed: Int?, tuning: Tuning?)

    /// The current configuration.
    package var configuration: Configuration { library.configuration }

    /// Creates an encoder.
    package convenience init(configuration: Configuration) throws(VideoCodingError) {
        try self.init(configuration: configuration, driftCheck: DriftCheck())
    }

    init(configuration: Configuration, driftCheck: DriftCheck) throws(VideoCodingError) {
        library = try LibraryCoder(configuration)
        quality = CodedQuality(of: MacroblockMap(size: configuration.size))
        model = DecoderModel(size: configuration.size)
        self.driftCheck = driftCheck
    }

    /// Changes the configuration from the next frame on. An error leaves everything unchanged.
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

    /// Encodes a frame, which must be I420 of the configured size.
    ///
    /// Key frames are the first frame, frames with `asKeyFrame`, and the first frame after a change of the size, and no
    /// others. `changed` has the differences from the previous frame: they are coded, and everything else is left
    /// unchanged without being read. If little or nothing changed, coarse parts are improved, and if everything is
    /// fine, almost nothing is coded. With nil the whole frame can differ. Key frames code everything.
    package func encode(
        _ picture: any PixelPlanes, timestamp: Duration, rotation: VideoRotation = .upright,
        asKeyFrame: Bool = false, changed: MacroblockMap? = nil
    ) throws(VideoCodingError) -> EncodingOutcome {
        ledger.setRates(configuration.bitrate, burst: configuration.burstRate, now: timestamp)
        return try encode(
            picture, timestamp: timestamp, rotation: rotation, asKeyFrame: asKeyFrame, changed: changed, ledger: ledger)
    }

    /// Encodes a frame with the ledger of the caller, which schedules frames.
    func encode(
        _ picture: any PixelPlanes, timestamp: Duration, rotation: VideoRotation, asKeyFrame: Bool,
        changed: MacroblockMap?, ledger: BitLedger
    ) throws(VideoCodingError) -> EncodingOutcome {
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

    /// Encodes a frame with libvpx, whatever has changed.
    func encodeWithLibrary(
        _ picture: any PixelPlanes, timestamp: Duration, rotation: VideoRotation, asKeyFrame wantsKeyFrame: Bool,
        changed: MacroblockMap?
    ) throws(VideoCodingError) -> EncodingOutcome {
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
        if packet.isChange { partialUpdates.contentDidChange(timestamp: timestamp) }
        let quantizer = try library.context.lastQuantizer()
        quality.didCode(packet.isKeyFrame ? nil : library.context.activeMap, coarseness: quantizer)
        model.advance(packet.data)
        keyFrameIsDue = false
        var frame = EncodedVideoFrame(
            data: packet.data, format: .vp8, isKeyFrame: packet.isKeyFrame, size: configuration.size,
            timestamp: timestamp,
            rotation: rotation, quantizer: quantizer, contentHint: configuration.hint)
        frame.coarsest = quality.coarsest
        frame.isUnfinished = library.sharpening != nil
        if configuration.usesPartialUpdates { driftCheck.note(frame) }
        return .encoded(frame)
    }

    /// Charges an encoded frame to the ledger.
    func spend(_ byteCount: Int, isChange: Bool) {
        ledger.spend(byteCount: byteCount, isChange: isChange)
    }

    /// Makes the next frame a key frame, because the last one may not reach anyone.
    func needKeyFrame() {
        keyFrameIsDue = true
    }

    /// Whether viewers have another image than the next frame refers to, which is then a key frame. It sometimes takes
    /// the time of a decoder: see ``DriftCheck``.
    func findsDrift() throws(VideoCodingError) -> Bool {
        guard try driftCheck.findsDrift(from: model, of: library.context) else { return false }
        needKeyFrame()
        return true
    }

    /// Passes the last frame to `change`; see ``DecoderModel``.
    func changeReference<Result>(
        _ change: (ReferencePicture) throws(VideoCodingError) -> Result?
    ) throws(VideoCodingError) -> Result? {
        try model.changeLastPicture(of: library.context, change)
    }
}
