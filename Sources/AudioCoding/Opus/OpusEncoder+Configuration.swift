internal import RTCShareCOpus
package import RTCShareWireFormat

extension OpusEncoder {
    /// What the sound is, and so what libopus is tuned for.
    package enum Application: Sendable, Hashable, CaseIterable {
        /// Somebody speaks: intelligible at low rates, can pause in silence.
        case voice
        /// Anything else: film, music, a game. The whole band, never paused.
        case music
    }

    /// How to encode. All but the channels and the application change without a new encoder.
    package struct Configuration: Sendable, Hashable {
        /// 1 or 2.
        package var channels: Int
        /// What the sound is.
        package var application: Application
        /// The target rate, 6 to 510 kbit/s of Opus data alone, without packet headers.
        package var bitrate: DataRate
        /// Repeats each frame coarsely in the next packet, if the codec's mode allows and `expectedLoss` is above 0
        /// (RFC 6716 §2.1.7). libopus takes to a speech mode for that when much is lost, with music too.
        package var usesInbandFEC: Bool
        /// The part of the packets that will be lost, 0 to 1: what receiver reports say.
        package var expectedLoss: Double
        /// Sends nothing while nobody speaks (RFC 6716 §2.1.9). Of no effect with music.
        package var usesDTX: Bool
        /// The highest rate in Hz that the receiver plays, 8000 to 48000 (RFC 7587 §6.1, `maxplaybackrate`): no bits go
        /// into what lies above half of it.
        package var maximumPlaybackRate: Int
        /// Every packet has the same size (RFC 7587 §6.1, `cbr`).
        package var isConstantBitrate: Bool
        /// How much computing goes into quality, 0 to 10.
        package var complexity: Int

        /// 48 kHz, with variable rate, forward error correction, and the rest as the application wants it: voice at
        /// 32 kbit/s a channel with DTX, music at 64 kbit/s a channel without.
        package init(
            channels: Int, application: Application, bitrate: DataRate? = nil, usesInbandFEC: Bool = true,
            expectedLoss: Double = 0, usesDTX: Bool? = nil, maximumPlaybackRate: Int = 48_000,
            isConstantBitrate: Bool = false, complexity: Int = 9
        ) {
            self.channels = channels
            self.application = application
            self.bitrate = bitrate ?? .kilobitsPerSecond((application == .voice ? 32 : 64) * min(max(channels, 1), 2))
            self.usesInbandFEC = usesInbandFEC
            self.expectedLoss = expectedLoss
            self.usesDTX = usesDTX ?? (application == .voice)
            self.maximumPlaybackRate = maximumPlaybackRate
            self.isConstantBitrate = isConstantBitrate
            self.complexity = complexity
        }

        func validate() throws(AudioCodingError) {
            try Self.check("the number of channels", channels, within: 1...2)
            try Self.check("the bitrate", bitrate, within: OpusEncoder.bitrates)
            try Self.check("the complexity", complexity, within: 0...10)
            try Self.check("the maximum playback rate", maximumPlaybackRate, within: 8000...48_000)
            guard expectedLoss >= 0, expectedLoss <= 1 else {
                throw .invalidSetting(name: "the expected loss", value: "\(expectedLoss)", allowed: "0 to 1")
            }
        }

        private static func check<Value: Comparable>(
            _ name: String, _ value: Value, within range: ClosedRange<Value>
        ) throws(AudioCodingError) {
            guard range.contains(value) else {
                throw .invalidSetting(
                    name: name, value: "\(value)", allowed: "\(range.lowerBound) to \(range.upperBound)")
            }
        }

        /// libopus's numbers for all that can change in a running encoder.
        var controls: [(name: String, request: Int32, value: Int32)] {
            [
                ("the bit rate", OPUS_SET_BITRATE_REQUEST, Int32(clamping: bitrate.bitsPerSecond)),
                ("the variable rate", OPUS_SET_VBR_REQUEST, isConstantBitrate ? 0 : 1),
                // No packet is far larger than the rate's share, so that one frame never delays a picture.
                ("the rate's constraint", OPUS_SET_VBR_CONSTRAINT_REQUEST, 1),
                ("the complexity", OPUS_SET_COMPLEXITY_REQUEST, Int32(clamping: complexity)),
                ("the signal", OPUS_SET_SIGNAL_REQUEST, application == .voice ? OPUS_SIGNAL_VOICE : OPUS_SIGNAL_MUSIC),
                ("in-band FEC", OPUS_SET_INBAND_FEC_REQUEST, usesInbandFEC ? 1 : 0),
                ("the expected loss", OPUS_SET_PACKET_LOSS_PERC_REQUEST, Int32((expectedLoss * 100).rounded())),
                ("DTX", OPUS_SET_DTX_REQUEST, pausesInSilence ? 1 : 0),
                ("the bandwidth", OPUS_SET_MAX_BANDWIDTH_REQUEST, maximumBandwidth),
            ]
        }

        var pausesInSilence: Bool { usesDTX && application == .voice }

        /// RFC 7587 §3.1.1: the audio bandwidths and the sampling rates that hold them.
        private var maximumBandwidth: Int32 {
            switch maximumPlaybackRate {
            case ..<12_000: OPUS_BANDWIDTH_NARROWBAND
            case ..<16_000: OPUS_BANDWIDTH_MEDIUMBAND
            case ..<24_000: OPUS_BANDWIDTH_WIDEBAND
            case ..<48_000: OPUS_BANDWIDTH_SUPERWIDEBAND
            default: OPUS_BANDWIDTH_FULLBAND
            }
        }
    }
}
