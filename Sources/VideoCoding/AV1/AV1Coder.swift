internal import RTCShareCAOM
internal import RTCShareCYUV
package import RTCShareMedia
internal import RTCShareRTP

/// libaom's AV1 encoder, with the quantizer of each frame as an argument. One thread at a time can use it.
///
/// Only the caller decides when a frame is worth its time: libaom needs some milliseconds for an unchanged one.
package final class AV1Coder {
    /// The configuration of the encoder. After a change the next frame is a key frame.
    package struct Configuration: Sendable, Hashable {
        /// The size of frames, 1 to 16384 per side.
        package var size: PixelSize
        /// The content hint of the frames. Motion needs no palettes, for which libaom searches otherwise.
        package var hint: ContentHint
        /// The number of threads, 1 to 16. With more than one, a frame consists of two tiles, in half the time.
        package var threads: Int

        /// Creates a configuration for a screen.
        package init(size: PixelSize, hint: ContentHint = .detail, threads: Int = 1) {
            self.size = size
            self.hint = hint
            self.threads = threads
        }
    }

    /// An encoded frame.
    package struct Frame: Sendable {
        /// The OBUs of a temporal unit without its delimiter. A key frame begins with a sequence header.
        package let data: [UInt8]
        /// Whether the frame decodes without other frames.
        package let isKeyFrame: Bool
        /// The quantizer index in the frame's header, 0 to 255.
        package let quantizer: Int
    }

    /// The quantizers of ``encode(_:quantizer:asKeyFrame:)``, from the finest to the coarsest.
    package static let quantizers = 1...63

    /// The reason why the library can't be used, with the Debian package to install; nil if it can.
    package static var unavailability: String? { av1_encoder_library_problem().map { String(cString: $0) } }

    /// The current configuration.
    package private(set) var configuration: Configuration
    /// Nil after a change or an error: the next frame opens another.
    private var encoder: AV1EncoderHandle?
    private var colors = BlockColors()

    /// Creates an encoder.
    package init(_ configuration: Configuration) throws(VideoCodingError) {
        if let reason = Self.unavailability { throw .codecUnavailable(reason: reason) }
        try configuration.validate()
        self.configuration = configuration
        encoder = try AV1EncoderHandle(configuration)
    }

    /// Changes the configuration. An error leaves everything unchanged.
    package func reconfigure(_ new: Configuration) throws(VideoCodingError) {
        guard new != configuration else { return }
        try new.validate()
        encoder = try AV1EncoderHandle(new)
        configuration = new
    }

    /// Encodes an I420 frame of the configured size; nil if libaom drops it.
    ///
    /// - Parameters:
    ///   - quantizer: One of ``quantizers``. 1 becomes 2 in a key frame and the 17 frames after it, since libaom would
    ///     end the process.
    ///   - keepsLast: Whether the last frame can be predicted from for some time, as that before a menu.
    ///   - refines: Whether parts become finer that are almost the same as in the last frame, in more time.
    ///   - isNatural: Whether the changes are natural content, such as a film, which has no palettes.
    ///   - shown: Receives the image that decoders show. It can be that of the picture.
    package func encode(
        _ picture: any PixelPlanes, quantizer: Int, asKeyFrame: Bool = false, keepsLast: Bool = false,
        refines: Bool = false, isNatural: Bool = false, shown: I420Samples? = nil
    ) throws(VideoCodingError) -> Frame? {
        guard picture.size == configuration.size, picture.format == .i420 else {
            throw .unexpectedPicture(size: picture.size, format: picture.format, expected: configuration.size)
        }
        guard Self.quantizers.contains(quantizer) else {
            throw .invalidSetting(name: "quantizer", value: "\(quantizer)", allowed: "1 to 63")
        }
        let encoder = try takeEncoder()
        let frame = try encoder.encode(
            picture, quantizer: quantizer, asKeyFrame: asKeyFrame, keepsLast: keepsLast, refines: refines,
            isNatural: isNatural, shown: shown)
        self.encoder = encoder
        return frame
    }

    /// Returns the approximate bits with which a macroblock of an I420 picture is painted; nil if it has too many colors, or
    /// if libaom codes it as well.
    func paintingBits(of index: Int, in picture: any PixelPlanes) throws(VideoCodingError) -> Double? {
        let columns = (picture.size.width + 15) / 16
        return try picture.withPlanePointers {
            colors.read($0, x: index % columns * 16, y: index / columns * 16, in: picture.size)
            return colors.paintingBits
        }
    }

    /// Moves parts of the image that decoders show, and copies macroblocks of few colors, by frames before the next one,
    /// unless that is a key frame. Returns nil, without a change, if there are none.
    func update(
        _ shown: I420Picture, by scrolls: [Scroll], painting macroblocks: MacroblockMap, of picture: any PixelPlanes,
        keepsLast: Bool
    ) throws(VideoCodingError) -> FrameUpdate? {
        guard let encoder, shown.size == configuration.size, picture.size == shown.size else { return nil }
        self.encoder = nil
        let update = try encoder.update(shown, by: scrolls, painting: macroblocks, of: picture, keepsLast: keepsLast)
        self.encoder = encoder
        return update
    }

    /// Returns a frame that shows the image as it is; nil before the first key frame.
    func repetition(of shown: I420Picture) throws(VideoCodingError) -> CodedFrame? {
        guard let encoder, shown.size == configuration.size else { return nil }
        return try encoder.repetition(of: shown)
    }

    /// Tells the library the image that decoders show.
    func synchronize(with shown: I420Picture) throws(VideoCodingError) {
        guard let encoder else { return }
        self.encoder = nil
        try encoder.synchronize(with: shown)
        self.encoder = encoder
    }

    /// Returns the encoder, which is used again only if it succeeds.
    private func takeEncoder() throws(VideoCodingError) -> AV1EncoderHandle {
        defer { encoder = nil }
        if let encoder { return encoder }
        return try AV1EncoderHandle(configuration)
    }
}

extension AV1Coder.Configuration {
    /// The maximum side at any level of AV1 (Annex A).
    static let largestSide = 16_384

    func validate() throws(VideoCodingError) {
        let sides = 1...Self.largestSide
        guard sides.contains(size.width), sides.contains(size.height) else {
            throw .invalidSetting(name: "size", value: "\(size)", allowed: "1 to \(Self.largestSide) per side")
        }
        guard (1...16).contains(threads) else {
            throw .invalidSetting(name: "threads", value: "\(threads)", allowed: "1 to 16")
        }
    }
}

/// The owner of a libaom encoder.
private final class AV1EncoderHandle {
    private let encoder: OpaquePointer
    /// The sequence header of the last key frame; nil before the first.
    private var sequence: AV1SequenceHeader?
    /// The frames before the next frame of the library.
    private var partialFrames: [UInt8] = []
    /// Whether they changed the image since the library's last frame.
    private var isAhead = false
    private var mover = PictureMover()
    /// The blocks of 64 by 64 pixels that partial frames changed since the library's last frame.
    private var changedBlocks: Set<Int> = []

    init(_ configuration: AV1Coder.Configuration) throws(VideoCodingError) {
        var settings = av1_encoder_settings(
            width: UInt32(configuration.size.width), height: UInt32(configuration.size.height),
            threads: UInt32(configuration.threads), is_screen: configuration.hint != .motion)
        var words = [CChar](repeating: 0, count: 256)
        guard let encoder = av1_encoder_open(&settings, &words, words.count) else {
            throw .codecFailed(
                library: "libaom", operation: "making an encoder of \(configuration.size)",
                reason: words.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" })
        }
        self.encoder = encoder
    }

    deinit {
        av1_encoder_close(encoder)
    }

    func encode(
        _ picture: any PixelPlanes, quantizer: Int, asKeyFrame: Bool, keepsLast: Bool, refines: Bool, isNatural: Bool,
        shown: I420Samples?
    ) throws(VideoCodingError) -> AV1Coder.Frame? {
        if isAhead, !asKeyFrame {
            throw .codecFailed(library: "libaom", operation: "encoding", reason: "it lacks the last frame")
        }
        if let shown { distinguish(shown, of: picture.size) }
        var frame = av1_encoder_frame()
        let failure = try picture.withPlanePointers { (planes) throws(VideoCodingError) -> String? in
            var source = av1_encoder_source(
                luma: planes.first.first, blue: planes.second.first, red: planes.third.first,
                luma_stride: planes.first.stride, blue_stride: planes.second.stride, red_stride: planes.third.stride)
            return av1_encoder_encode(
                encoder, &source, UInt32(quantizer), asKeyFrame, keepsLast, refines, isNatural, &frame
            )
            .map { String(cString: $0) }
        }
        if let failure { throw .codecFailed(library: "libaom", operation: "encoding", reason: failure) }
        guard let bytes = frame.bytes else { return nil }
        if let shown { try copy(frame.shown, of: picture.size, to: shown) }
        let unit = try withoutDelimiter(UnsafeBufferPointer(start: bytes, count: frame.count))
        if frame.is_key {
            sequence = try unit.span.header { bytes throws(RTPError) in
                try OpenBitstreamUnit.next(in: bytes, at: 0).map { (unit) throws(RTPError) in
                    try AV1SequenceHeader(bytes, unit)
                }
            }
            partialFrames = []
            isAhead = false
        }
        defer { partialFrames = [] }
        return AV1Coder.Frame(
            data: partialFrames + unit, isKeyFrame: frame.is_key, quantizer: Int(frame.quantizer_index))
    }

    func update(
        _ shown: I420Picture, by scrolls: [Scroll], painting macroblocks: MacroblockMap, of picture: any PixelPlanes,
        keepsLast: Bool
    ) throws(VideoCodingError) -> FrameUpdate? {
        // Just after a key frame, all slots share their memory.
        let keepsLast = keepsLast && av1_encoder_last_reference(encoder, true).slots != 0
        guard let sequence, !scrolls.isEmpty || !macroblocks.isEmpty,
            AV1PartialFrame.canExpress(nil, size: shown.size, in: sequence),
            scrolls.allSatisfy({ AV1PartialFrame.canExpress($0, size: shown.size, in: sequence) })
        else { return nil }
        // The library has not seen the frame that it keeps.
        if keepsLast { try synchronize(with: shown) }
        let first = partialFrames.count
        for (index, scroll) in scrolls.dropLast().enumerated() {
            mover.move(shown.samples, by: scroll)
            try append(AV1PartialFrame(image: shown, scroll: scroll), keepsLast: keepsLast && index == 0)
        }
        if let scroll = scrolls.last { mover.move(shown.samples, by: scroll) }
        try shown.copy(macroblocks, of: picture)
        try append(
            AV1PartialFrame(image: shown, scroll: scrolls.last, painted: macroblocks),
            keepsLast: keepsLast && scrolls.count < 2)
        isAhead = true
        for cells in scrolls.map(\.moved) + [macroblocks.cells] {
            for index in cells.indices where cells[index] != 0 {
                let (row, column) = (index / macroblocks.columns, index % macroblocks.columns)
                changedBlocks.insert(row / 4 * macroblocks.columns + column / 4)
            }
        }
        return FrameUpdate(byteCount: partialFrames.count - first, keepsLast: keepsLast)
    }

    /// Changes a pixel of each block that partial frames changed, as little as possible. libaom only tries another
    /// prediction than the last frame for a block whose source differs from the source of libaom's last frame, which it
    /// takes for that.
    private func distinguish(_ shown: I420Samples, of size: PixelSize) {
        let columns = (size.width + 15) / 16
        for block in changedBlocks {
            shown.luma[block / columns * 64 * shown.lumaStride + block % columns * 64] ^= 1
        }
        changedBlocks = []
    }

    private func append(_ frame: AV1PartialFrame, keepsLast: Bool) throws(VideoCodingError) {
        let last = av1_encoder_last_reference(encoder, keepsLast)
        let reference = AV1PartialFrame.Reference(slot: Int(last.slot), slots: last.slots)
        guard let sequence, let data = try frame.data(of: reference, in: sequence) else { return }
        partialFrames += data
        av1_encoder_did_replace(encoder, last.target)
    }

    func repetition(of shown: I420Picture) throws(VideoCodingError) -> CodedFrame? {
        if partialFrames.isEmpty { try append(AV1PartialFrame(image: shown), keepsLast: false) }
        guard !partialFrames.isEmpty else { return nil }
        defer { partialFrames = [] }
        let slot = Int(av1_encoder_last_reference(encoder, false).slot)
        return CodedFrame(
            data: partialFrames + AV1PartialFrame.show(slot), isKeyFrame: false, quantizer: AV1PartialFrame.quantizer)
    }

    func synchronize(with shown: I420Picture) throws(VideoCodingError) {
        guard isAhead else { return }
        isAhead = false
        let image = shown.samples
        var source = av1_encoder_source(
            luma: image.luma, blue: image.blue, red: image.red, luma_stride: Int32(clamping: image.lumaStride),
            blue_stride: Int32(clamping: image.chromaStride), red_stride: Int32(clamping: image.chromaStride))
        if let failure = av1_encoder_replace_reference(encoder, &source) {
            throw .codecFailed(library: "libaom", operation: "replacing a frame", reason: String(cString: failure))
        }
    }

    private func copy(
        _ image: av1_encoder_source, of size: PixelSize, to shown: I420Samples
    ) throws(VideoCodingError) {
        let chromaStride = Int32(clamping: shown.chromaStride)
        try checkYUV(
            "I420Copy",
            I420Copy(
                image.luma, image.luma_stride, image.blue, image.blue_stride, image.red, image.red_stride, shown.luma,
                Int32(clamping: shown.lumaStride), shown.blue, chromaStride, shown.red, chromaStride,
                Int32(clamping: size.width), Int32(clamping: size.height)))
    }

    /// Returns the temporal unit without the delimiter at its beginning, which neither RTP nor Matroska has.
    private func withoutDelimiter(_ unit: UnsafeBufferPointer<UInt8>) throws(VideoCodingError) -> [UInt8] {
        let first = try unit.span.header { bytes throws(RTPError) in try OpenBitstreamUnit.next(in: bytes, at: 0) }
        return Array(unit[(first?.kind == .temporalDelimiter ? first?.bytes.upperBound ?? 0 : 0)...])
    }
}
