internal import RTCShareCOpus
package import RTCShareWireFormat

extension OpusEncoder {
    /// The kind of audio, for which libopus is tuned.
    package enum Application: Sendable, Hashable, CaseIterable {
        /// Speech, which is intelligible at low bitrates and can pause in silence.
        case voice
        /// Any other audio, such as movies, music and games: the whole bandwidth, without pauses.
        case music
    }

    /// The configuration of an encoder. Only the channels and the application require a new encoder.
    package struct Configuration: Sendable, Hashable {
        /// The number of channels, 1 or 2.
        package var channels: Int
        /// The kind of audio.
        package var application: Application
        /// The target bitrate, 6 to 510 kbit/s of Opus data without packet headers.
        package var bitrate: DataRate
        /// Whether each frame is repeated coarsely in the next packet, if the codec's mode allows it and `expectedLoss`
        /// is above 0 (RFC 6716 §2.1.7). With high loss, libopus changes to a speech mode for this, even for music.
        package var usesInbandFEC: Bool
        /// The expected fraction of lost packets, 0 to 1, from receiver reports.
        package var expectedLoss: Double
        /// Whether no packets are sent in silence (RFC 6716 §2.1.9). It has no effect with music.
        package var usesDTX: Bool
        /// The maximum sampling rate in Hz that the receiver plays, 8000 to 48000 (RFC 7587 §6.1, `maxplaybackrate`).
        /// No bits are spent on frequencies above half of it.
        package var maximumPlaybackRate: Int
        /// Whether every packet has the same size (RFC 7587 §6.1, `cbr`).
        package var isConstantBitrate: Bool
        /// The computational complexity, 0 to 10.
        package var complexity: Int

        /// Creates a configuration at 48 kHz with a variable bitrate and forward error correction. The other defaults
        /// depend on the application: 32 kbit/s per channel with DTX for voice, 64 kbit/s per channel without DTX for
        /// music.
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

        /// libopus's values of all parameters that can change in a running encoder.
        var controls: [(name: String, request: Int32, value: Int32)] {
            [
                ("the bit rate", OPUS_SET_BITRATE_REQUEST, Int32(clamping: bitrate.bitsPerSecond)),
                ("the variable rate", OPUS_SET_VBR_REQUEST, isConstantBitrate ? 0 : 1),
                // No packet is much larger than the rate's share, so that one audio frame never delays a video frame.
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

        /// The maximum audio bandwidth for the sampling rate (RFC 7587 §3.1.1).
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
