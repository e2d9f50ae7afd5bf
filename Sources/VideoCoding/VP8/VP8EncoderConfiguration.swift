internal import RTCShareCVPX
package import RTCShareMedia
package import RTCShareWireFormat

extension VP8Encoder {
    /// The configuration of the encoder. All of it can change while the encoder runs.
    package struct Configuration: Sendable, Hashable {
        /// The size of frames, 1 to 16383 per side (RFC 6386 §9.1).
        package var size: PixelSize
        /// The bitrate of the whole stream.
        package var bitrate: DataRate
        /// The rate at which a large frame is sent; zero if unknown.
        package var burstRate = DataRate.zero
        /// The maximum frame rate, 0.01 to 240, which determines a frame's share of the bitrate.
        package var framesPerSecond: Double
        /// The content hint of the frames.
        package var hint: ContentHint
        /// libvpx's cpu-used, -16 to -1: a lower value is faster and coarser.
        package var speed: Int
        /// The finest quantizer, 0 to 63.
        package var minimumQuantizer: Int
        /// The coarsest quantizer, 0 to 63.
        package var maximumQuantizer: Int
        /// Whether our own frames code small changes and scrolls. Otherwise libvpx codes everything.
        package var usesPartialUpdates = true
        /// The heuristics that are used.
        package var heuristics = EncoderHeuristics.all
        /// The tuning of libvpx for the content.
        package var tuning = Tuning.screen

        /// Creates a configuration for a screen.
        package init(
            size: PixelSize, bitrate: DataRate, framesPerSecond: Double = 30, hint: ContentHint = .detail,
            speed: Int = -8, minimumQuantizer: Int = 4, maximumQuantizer: Int = 56
        ) {
            self.size = size
            self.bitrate = bitrate
            self.framesPerSecond = framesPerSecond
            self.hint = hint
            self.speed = speed
            self.minimumQuantizer = minimumQuantizer
            self.maximumQuantizer = maximumQuantizer
        }
    }
}

extension VP8Encoder {
    /// The tuning of libvpx for a camera's frames or for rendered ones. `rtcbench camera` measures the effect of each
    /// parameter.
    package struct Tuning: Sendable, Hashable {
        /// Whether libvpx uses its mode for screen content (VP8E_SET_SCREEN_CONTENT_MODE).
        package var isScreenContent: Bool
        /// The maximum change of a block that counts as still (VP8E_SET_STATIC_THRESHOLD); nil for a value according to
        /// the hint.
        package var staticThreshold: Int?
        /// The value of VP8E_SET_NOISE_SENSITIVITY, 0 to 6. It removes detail from content with little noise, and takes
        /// a third more time, so that it is only useful in poor light.
        package var noiseSensitivity = 0

        /// The tuning for rendered content, including videos.
        package static let screen = Tuning(isScreenContent: true)
        /// The tuning for a camera.
        package static let camera = Tuning(isScreenContent: false, staticThreshold: 0)

        /// Creates a tuning without denoising.
        package init(isScreenContent: Bool, staticThreshold: Int? = nil) {
            self.isScreenContent = isScreenContent
            self.staticThreshold = staticThreshold
        }
    }
}

extension VP8Encoder.Configuration {
    /// The maximum side in VP8's key frame header: 14 bits.
    static let largestSide = 16_383
    /// The maximum bitrate: libvpx uses kilobits and 32-bit integers of bits.
    static let largestBitrate = DataRate.kilobitsPerSecond(1_000_000)
    /// The maximum frame rate that is useful for a screen.
    static let largestFramesPerSecond = 240.0

    func validate() throws(VideoCodingError) {
        func check(
            _ name: String, _ value: Int, _ allowed: ClosedRange<Int>
        ) throws(VideoCodingError) {
            guard allowed.contains(value) else {
                throw .invalidSetting(
                    name: name, value: "\(value)", allowed: "\(allowed.lowerBound) to \(allowed.upperBound)")
            }
        }
        try check("width", size.width, 1...Self.largestSide)
        try check("height", size.height, 1...Self.largestSide)
        guard bitrate > .zero, bitrate <= Self.largestBitrate else {
            throw .invalidSetting(name: "bitrate", value: "\(bitrate)", allowed: "1 bit/s to \(Self.largestBitrate)")
        }
        try check("speed", speed, -16...(-1))
        try check("minimum quantizer", minimumQuantizer, 0...63)
        try check("maximum quantizer", maximumQuantizer, minimumQuantizer...63)
        guard framesPerSecond >= VideoEncoder.Settings.leastFramesPerSecond,
            framesPerSecond <= Self.largestFramesPerSecond
        else {
            throw .invalidSetting(
                name: "frames per second", value: "\(framesPerSecond)",
                allowed: "\(VideoEncoder.Settings.leastFramesPerSecond) to \(Int(Self.largestFramesPerSecond))")
        }
    }

    /// Returns the configuration in libvpx's format.
    func makeLibraryConfiguration() throws(VideoCodingError) -> vpx_codec_enc_cfg_t {
        var config = vpx_codec_enc_cfg_t()
        let code = vpx_codec_enc_config_default(vpx_codec_vp8_cx(), &config, 0)
        guard code == VPX_CODEC_OK else {
            throw .codecFailed(library: "libvpx", operation: "default configuration", reason: reason(code))
        }
        config.g_w = UInt32(size.width)
        config.g_h = UInt32(size.height)
        config.g_timebase = vpx_rational(num: 1, den: Int32(PresentationClock.timebase))
        // libvpx's threads wait for each other by spinning. On busy processors, or fewer processors than threads, two
        // threads take seven times the processor time of one, and eleven times as long.
        config.g_threads = 1
        config.g_pass = VPX_RC_ONE_PASS
        config.g_lag_in_frames = 0
        config.g_error_resilient = 0
        // CBR is not used: it refines by at most 12 of 128 steps per frame, and refines some macroblocks more than
        // others in turn.
        config.rc_end_usage = VPX_VBR
        config.rc_target_bitrate = UInt32(max(bitrate.bitsPerSecond / 1000, 1))
        config.rc_min_quantizer = UInt32(minimumQuantizer)
        config.rc_max_quantizer = UInt32(maximumQuantizer)
        config.rc_resize_allowed = 0
        // An excess is saved by delaying the next frames before they are encoded (``BitLedger``). If both dropped
        // frames for the same bits, twice as many would be dropped.
        config.rc_dropframe_thresh = 0
        config.rc_undershoot_pct = 100
        config.rc_overshoot_pct = 15
        // The buffer sizes are in milliseconds at the bitrate. ``QuantizerControl`` sets each frame's quantizer. With
        // these sizes libvpx only decides how many small coefficients it omits at the coarsest one.
        config.rc_buf_initial_sz = 100
        config.rc_buf_optimal_sz = 120
        config.rc_buf_sz = 150
        // Key frames are encoded only on request.
        config.kf_mode = VPX_KF_DISABLED
        return config
    }

    /// The maximum size of a key frame, as time at the bitrate: a quarter of a second, so that it neither causes a
    /// burst nor is so coarse that repairs cost as much again; less if the next frames show other content; three frames
    /// if these are rare.
    var keyFrameLimit: Duration {
        max(.milliseconds(hint == .motion ? 100 : 250), .seconds(3 / framesPerSecond))
    }

    private var staticThreshold: Int32 { Int32(tuning.staticThreshold ?? (hint == .motion ? 1 : 100)) }

    /// The encoder's controls in addition to its configuration.
    var controls: [(name: String, control: vp8e_enc_control_id, value: Int32)] {
        [
            ("speed", VP8E_SET_CPUUSED, Int32(speed)),
            // 1 instead of 2: no encoded frame is dropped, since ``QuantizerControl`` chooses its size.
            ("screen content mode", VP8E_SET_SCREEN_CONTENT_MODE, tuning.isScreenContent ? 1 : 0),
            ("static threshold", VP8E_SET_STATIC_THRESHOLD, staticThreshold),
            ("noise sensitivity", VP8E_SET_NOISE_SENSITIVITY, Int32(tuning.noiseSensitivity)),
            ("token partitions", VP8E_SET_TOKEN_PARTITIONS, 0),
        ]
    }
}

/// Returns libvpx's text for a code.
func reason(_ code: vpx_codec_err_t) -> String {
    String(cString: vpx_codec_err_to_string(code))
}
