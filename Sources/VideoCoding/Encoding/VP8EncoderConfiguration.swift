internal import RTCShareCVPX
package import RTCShareMedia
package import RTCShareWireFormat

extension VP8Encoder {
    /// What the encoder makes. All of it can be changed while it runs.
    package struct Configuration: Sendable, Hashable {
        /// Columns and rows of the pictures, 1 to 16383 each (RFC 6386 §9.1).
        package var size: PixelSize
        /// What the whole stream may take.
        package var bitrate: DataRate
        /// How fast one large picture leaves; zero where that is not known.
        package var burstRate = DataRate.zero
        /// How many frames a second come at most, 0.01 to 240: a frame's fair share of the bitrate is by this.
        package var framesPerSecond: Double
        /// The content hint of the frames.
        package var hint: ContentHint
        /// libvpx's cpu-used, -16 to -1: the lower, the faster and the coarser.
        package var speed: Int
        /// The finest quantizer, 0 to 63.
        package var minimumQuantizer: Int
        /// The coarsest quantizer, 0 to 63.
        package var maximumQuantizer: Int
        /// Whether what changed little, or moved as a whole, is coded by frames of our own. Otherwise libvpx codes everything.
        package var usesPartialUpdates = true
        /// The heuristics that are used.
        package var heuristics = EncoderHeuristics.all
        /// How libvpx goes about these pictures.
        package var tuning = Tuning.screen

        /// What suits a screen.
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
    /// How libvpx goes about pictures that a camera takes, and about those that a machine draws. `rtcbench camera` measures
    /// what each of these is worth.
    package struct Tuning: Sendable, Hashable {
        /// VP8E_SET_SCREEN_CONTENT_MODE.
        package var isScreenContent: Bool
        /// What may change in a block that is taken for still: VP8E_SET_STATIC_THRESHOLD; nil follows the hint.
        package var staticThreshold: Int?
        /// VP8E_SET_NOISE_SENSITIVITY, 0 to 6. Of what has little noise it takes detail, for a third more time; it is only
        /// worth that in poor light.
        package var noiseSensitivity = 0

        /// What a machine draws, films among it.
        package static let screen = Tuning(isScreenContent: true)
        /// What a camera takes.
        package static let camera = Tuning(isScreenContent: false, staticThreshold: 0)

        /// Without what takes noise out.
        package init(isScreenContent: Bool, staticThreshold: Int? = nil) {
            self.isScreenContent = isScreenContent
            self.staticThreshold = staticThreshold
        }
    }
}

extension VP8Encoder.Configuration {
    /// The sides that VP8's key frame header can say: 14 bits.
    static let largestSide = 16_383
    /// libvpx counts in kilobits and in 32-bit integers of bits.
    static let largestBitrate = DataRate.kilobitsPerSecond(1_000_000)
    /// What is slower is no stream, and the time between its frames no number of ticks.
    static let smallestFramesPerSecond = 0.01
    /// More are no use to a screen.
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
        guard framesPerSecond >= Self.smallestFramesPerSecond, framesPerSecond <= Self.largestFramesPerSecond else {
            throw .invalidSetting(
                name: "frames per second", value: "\(framesPerSecond)",
                allowed: "\(Self.smallestFramesPerSecond) to \(Int(Self.largestFramesPerSecond))")
        }
    }

    /// The same in libvpx's words.
    func makeLibraryConfiguration() throws(VideoCodingError) -> vpx_codec_enc_cfg_t {
        var config = vpx_codec_enc_cfg_t()
        let code = vpx_codec_enc_config_default(vpx_codec_vp8_cx(), &config, 0)
        guard code == VPX_CODEC_OK else { throw .codecFailed(operation: "default configuration", reason: reason(code)) }
        config.g_w = UInt32(size.width)
        config.g_h = UInt32(size.height)
        config.g_timebase = vpx_rational(num: 1, den: Int32(PresentationClock.timebase))
        // libvpx's threads wait for each other by spinning: on processors that are busy with something else, or fewer than
        // threads, two take seven times the processor time of one and eleven times as long.
        config.g_threads = 1
        config.g_pass = VPX_RC_ONE_PASS
        config.g_lag_in_frames = 0
        config.g_error_resilient = 0
        // Not CBR: it becomes finer by 12 of 128 steps a frame at most, and codes macroblocks finer by turns that are to be as
        // fine as the others.
        config.rc_end_usage = VPX_VBR
        config.rc_target_bitrate = UInt32(max(bitrate.bitsPerSecond / 1000, 1))
        config.rc_min_quantizer = UInt32(minimumQuantizer)
        config.rc_max_quantizer = UInt32(maximumQuantizer)
        config.rc_resize_allowed = 0
        // What is too much is saved by holding the pictures that follow, before they are encoded (``BitLedger``): two that
        // leave pictures out for the same bits leave out twice as many.
        config.rc_dropframe_thresh = 0
        config.rc_undershoot_pct = 100
        config.rc_overshoot_pct = 15
        // Milliseconds of the bitrate. Each picture's quantizer is given (``QuantizerControl``): by these libvpx only decides
        // how many small coefficients it leaves out at the coarsest one.
        config.rc_buf_initial_sz = 100
        config.rc_buf_optimal_sz = 120
        config.rc_buf_sz = 150
        // Key frames come on request only.
        config.kf_mode = VPX_KF_DISABLED
        return config
    }

    /// What a key frame may take, in time at the bitrate: a quarter of a second, so that it neither bursts nor, being too
    /// coarse, costs as much again in repairs; less where the next pictures show something else; three frames where these
    /// are few.
    var keyFrameLimit: Duration {
        max(.milliseconds(hint == .motion ? 100 : 250), .seconds(3 / framesPerSecond))
    }

    private var staticThreshold: Int32 { Int32(tuning.staticThreshold ?? (hint == .motion ? 1 : 100)) }

    /// The encoder's controls that stand beside its configuration.
    var controls: [(name: String, control: vp8e_enc_control_id, value: Int32)] {
        [
            ("speed", VP8E_SET_CPUUSED, Int32(speed)),
            // 1, not 2: nothing is dropped after it was encoded, for how coarse it becomes is our choice
            // (``QuantizerControl``).
            ("screen content mode", VP8E_SET_SCREEN_CONTENT_MODE, tuning.isScreenContent ? 1 : 0),
            ("static threshold", VP8E_SET_STATIC_THRESHOLD, staticThreshold),
            ("noise sensitivity", VP8E_SET_NOISE_SENSITIVITY, Int32(tuning.noiseSensitivity)),
            ("token partitions", VP8E_SET_TOKEN_PARTITIONS, 0),
        ]
    }
}

/// libvpx's words for a code.
func reason(_ code: vpx_codec_err_t) -> String {
    String(cString: vpx_codec_err_to_string(code))
}
