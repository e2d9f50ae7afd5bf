internal import RTCShareCOpenH264
package import RTCShareMedia

/// OpenH264's encoder (constrained baseline), with the quantizer of each frame as an argument. One thread at a time can
/// use it.
package final class H264Coder {
    /// The configuration of the encoder. After a change the next frame is a key frame.
    package struct Configuration: Sendable, Hashable {
        /// The size of frames, up to the largest frame of level 5.2.
        package var size: PixelSize
        /// The content hint of the frames. OpenH264 searches for moved content unless it is motion.
        package var hint: ContentHint

        /// Creates a configuration for a screen.
        package init(size: PixelSize, hint: ContentHint = .detail) {
            self.size = size
            self.hint = hint
        }
    }

    /// An encoded frame.
    package struct Frame: Sendable {
        /// NAL units with start codes. A key frame begins with its parameter sets.
        package let data: [UInt8]
        /// Whether the frame decodes without other frames.
        package let isKeyFrame: Bool
        /// The quantizer, 0 to 51.
        package let quantizer: Int
        /// The size that decoders show: see ``H264Coder/Configuration/codedSize``.
        package let size: PixelSize
    }

    /// The quantizers of ``encode(_:quantizer:asKeyFrame:)``, from the finest to the coarsest.
    package static let quantizers = 0...51

    /// The reason why the library can't be used, with the Debian package to install; nil if it can.
    package static var unavailability: String? { h264_library_problem().map { String(cString: $0) } }

    /// The current configuration.
    package private(set) var configuration: Configuration
    /// Nil after an error: the next frame opens another.
    private var encoder: H264EncoderHandle?
    /// The frame with even sides, if the configured ones are not.
    private var padded: I420Picture?

    /// Creates an encoder.
    package init(_ configuration: Configuration) throws(VideoCodingError) {
        if let reason = Self.unavailability { throw .codecUnavailable(reason: reason) }
        try configuration.validate()
        self.configuration = configuration
        encoder = try H264EncoderHandle(configuration)
    }

    /// Changes the configuration. An error leaves everything unchanged.
    package func reconfigure(_ new: Configuration) throws(VideoCodingError) {
        guard new != configuration else { return }
        try new.validate()
        encoder = try H264EncoderHandle(new)
        configuration = new
        padded = nil
    }

    /// Encodes an I420 frame of the configured size; nil if OpenH264 drops it.
    ///
    /// OpenH264 has memory for about a byte per pixel, and noise with a fine quantizer needs more: such a frame becomes a
    /// key frame with the finest quantizer that fits, in steps of 6.
    ///
    /// - Parameter quantizer: One of ``quantizers``.
    package func encode(
        _ picture: any PixelPlanes, quantizer: Int, asKeyFrame: Bool = false
    ) throws(VideoCodingError) -> Frame? {
        guard picture.size == configuration.size, picture.format == .i420 else {
            throw .unexpectedPicture(size: picture.size, format: picture.format, expected: configuration.size)
        }
        guard Self.quantizers.contains(quantizer) else {
            throw .invalidSetting(name: "quantizer", value: "\(quantizer)", allowed: "0 to 51")
        }
        let source = configuration.codedSize == configuration.size ? picture : try pad(picture)
        var quantizer = quantizer
        while true {
            let encoder = try takeEncoder()
            do throws(VideoCodingError) {
                let frame = try encoder.encode(source, quantizer: quantizer, asKeyFrame: asKeyFrame)
                self.encoder = encoder
                return frame
            } catch {
                guard case .codecFailed = error, quantizer < Self.quantizers.upperBound else { throw error }
                quantizer = min(quantizer + 6, Self.quantizers.upperBound)
            }
        }
    }

    /// Returns the encoder, which is used again only if it succeeds.
    private func takeEncoder() throws(VideoCodingError) -> H264EncoderHandle {
        defer { encoder = nil }
        if let encoder { return encoder }
        return try H264EncoderHandle(configuration)
    }

    /// Returns the frame with its last column and row repeated.
    private func pad(_ picture: any PixelPlanes) throws(VideoCodingError) -> I420Picture {
        let (size, coded) = (configuration.size, configuration.codedSize)
        let target: I420Picture
        if let padded { target = padded } else { target = try I420Picture(size: coded) }
        padded = target
        let samples = target.samples
        try picture.withPlanePointers { (planes) throws(VideoCodingError) in
            try planes.convert(PixelRectangle(x: 0, y: 0, size: size), .i420, to: samples)
        }
        Self.pad(samples.luma, stride: samples.lumaStride, from: size, to: coded)
        let half = { (size: PixelSize) in PixelSize(width: (size.width + 1) / 2, height: (size.height + 1) / 2) }
        for plane in [samples.blue, samples.red] {
            Self.pad(plane, stride: samples.chromaStride, from: half(size), to: half(coded))
        }
        return target
    }

    private static func pad(
        _ plane: UnsafeMutablePointer<UInt8>, stride: Int, from size: PixelSize, to coded: PixelSize
    ) {
        if coded.width > size.width {
            for row in 0..<size.height {
                let end = plane + row * stride + size.width
                end.update(repeating: end[-1], count: coded.width - size.width)
            }
        }
        let last = plane + (size.height - 1) * stride
        for row in size.height..<max(coded.height, size.height) {
            (plane + row * stride).update(from: last, count: coded.width)
        }
    }
}

extension H264Coder.Configuration {
    /// The size of encoded frames: the sides are even, since cropping has two pixels as its unit (H.264 §7.4.2.1.1), and
    /// have at least 16 pixels, since OpenH264 encodes nothing of smaller frames.
    package var codedSize: PixelSize {
        PixelSize(width: max((size.width + 1) & ~1, 16), height: max((size.height + 1) & ~1, 16))
    }

    /// The maximum number of macroblocks at level 5.2 (H.264 Table A-1), and of those in a row or column, the root of
    /// eight times as many (§A.3.1).
    static let mostMacroblocks = 36_864
    static let longestSide = 543 * 16

    func validate() throws(VideoCodingError) {
        let sides = 1...Self.longestSide
        guard sides.contains(size.width), sides.contains(size.height), size.macroblocks <= Self.mostMacroblocks
        else {
            throw .invalidSetting(
                name: "size", value: "\(size)",
                allowed: "\(sides.lowerBound) to \(sides.upperBound) per side, and at most \(Self.mostMacroblocks) "
                    + "macroblocks (level 5.2)")
        }
    }
}

/// The owner of an OpenH264 encoder.
private final class H264EncoderHandle {
    private let encoder: OpaquePointer

    init(_ configuration: H264Coder.Configuration) throws(VideoCodingError) {
        let size = configuration.codedSize
        var settings = h264_encoder_settings(
            width: UInt32(size.width), height: UInt32(size.height), is_screen: configuration.hint != .motion)
        var words = [CChar](repeating: 0, count: 256)
        guard let encoder = h264_encoder_open(&settings, &words, words.count) else {
            throw .codecFailed(
                library: "OpenH264", operation: "making an encoder of \(size)",
                reason: words.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" })
        }
        self.encoder = encoder
    }

    deinit {
        h264_encoder_close(encoder)
    }

    func encode(
        _ picture: any PixelPlanes, quantizer: Int, asKeyFrame: Bool
    ) throws(VideoCodingError) -> H264Coder.Frame? {
        var frame = h264_encoder_frame()
        let failure = try picture.withPlanePointers { (planes) throws(VideoCodingError) -> String? in
            var source = h264_encoder_source(
                luma: planes.first.first, blue: planes.second.first, red: planes.third.first,
                luma_stride: planes.first.stride, blue_stride: planes.second.stride, red_stride: planes.third.stride)
            return h264_encoder_encode(encoder, &source, UInt32(quantizer), asKeyFrame, &frame).map {
                String(cString: $0)
            }
        }
        if let failure { throw .codecFailed(library: "OpenH264", operation: "encoding", reason: failure) }
        guard let bytes = frame.bytes else { return nil }
        return H264Coder.Frame(
            data: Array(UnsafeBufferPointer(start: bytes, count: frame.count)), isKeyFrame: frame.is_key,
            quantizer: quantizer, size: picture.size)
    }
}
