/// How loud the sound of a packet is, as its sender measured it (RFC 6464 §3).
package struct AudioLevel: RawRepresentable, Hashable, Sendable {
    /// The byte on the wire: the voice flag above seven bits of level.
    package let rawValue: UInt8

    /// The level with this byte on the wire; every byte has a meaning.
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A level of `level` -dBov, held to 127, and whether the sender takes the sound for speech.
    package init(level: UInt8, isVoice: Bool) {
        self.init(rawValue: min(level, 127) | (isVoice ? 0x80 : 0))
    }

    /// The loudness in -dBov: 0 is the loudest that the system can hold, 127 is silence.
    package var level: UInt8 { rawValue & 0x7F }
    /// Whether the sender takes the sound for speech; a sender that can't tell says yes.
    package var isVoice: Bool { rawValue & 0x80 != 0 }

    /// The loudness from 0 (silence) to 1 (the loudest that the system can hold), as W3C webrtc-stats has `audioLevel`.
    package var amplitude: Double {
        // 127 stands for digital silence, not for -127 dBov alone. A decibel less is a factor of 10^(-1/20).
        level == 127 ? 0 : repeatElement(0.891_250_938_133_745_6, count: Int(level)).reduce(1, *)
    }

    /// Silence that is no speech.
    package static let silence = AudioLevel(level: 127, isVoice: false)
}
