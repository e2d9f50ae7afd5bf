internal import RTCShareRTP

/// The packets that fill gaps in audio: players of WebM play packets back to back, so that everything after a gap would
/// be early.
enum OpusFiller {
    /// The head of an Opus stream that decodes to two channels, from its first sample on (RFC 7845 §5.1).
    static let identificationHeader: [UInt8] =
        Array("OpusHead".utf8) + [
            1, 2,  // version, channels
            0, 0,  // no samples to skip: the recording begins in the middle of the sender's stream
            0x80, 0xBB, 0, 0,  // 48 kHz
            0, 0, 0,  // no gain, and the mapping of one stream
        ]

    /// Returns a packet that starts the decoder's loss concealment (RFC 7845 §4.1): the frame of the previous packet
    /// without any bytes, which means a lost frame (RFC 6716 §3.2.1).
    static func concealment(after contents: UInt8) -> [UInt8] { [contents & 0xFC] }

    /// Returns a packet of silence and its number of samples; nil if even the shortest is too long.
    ///
    /// It is a fullband CELT frame in stereo whose first symbol marks it as silent (RFC 6716 §4.3).
    static func silence(atMost samples: Int) -> (packet: [UInt8], samples: Int)? {
        guard let size = silences.first(where: { $0.samples <= samples }) else { return nil }
        return ([size.contents, 0xFF, 0xFE], size.samples)
    }

    /// The number of samples of the longest silence.
    static let longest = silences[0].samples

    /// Configurations 31 to 28 of RFC 6716 §3.1, of two channels and one frame.
    private static let silences: [(contents: UInt8, samples: Int)] = [
        (0xFC, 960), (0xF4, 480), (0xEC, 240), (0xE4, 120),
    ]
}
