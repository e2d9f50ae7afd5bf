/// The audio level of a packet, as its sender measured it (RFC 6464 §3).
package struct AudioLevel: RawRepresentable, Hashable, Sendable {
    /// The byte on the wire: the voice flag above a seven-bit level.
    package let rawValue: UInt8

    /// Creates the level with this byte on the wire. Every byte is valid.
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Creates a level of `level` -dBov, limited to 127, with a flag for audio that the sender classifies as speech.
    package init(level: UInt8, isVoice: Bool) {
        self.init(rawValue: min(level, 127) | (isVoice ? 0x80 : 0))
    }

    /// The level in -dBov: 0 is the loudest that the system can represent, 127 is silence.
    package var level: UInt8 { rawValue & 0x7F }
    /// Whether the sender classifies the audio as speech. A sender without voice detection sets this.
    package var isVoice: Bool { rawValue & 0x80 != 0 }

    /// The level from 0 (silence) to 1 (the loudest that the system can represent), as in `audioLevel` of W3C
    /// webrtc-stats.
    package var amplitude: Double {
        // 127 means digital silence, not only -127 dBov. A decibel less is a factor of 10^(-1/20).
        level == 127 ? 0 : repeatElement(0.891_250_938_133_745_6, count: Int(level)).reduce(1, *)
    }

    /// A level of silence without speech.
    package static let silence = AudioLevel(level: 127, isVoice: false)
}
