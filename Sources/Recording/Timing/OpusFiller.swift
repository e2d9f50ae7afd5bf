internal import RTCShareRTP

/// What stands where no sound came: players of WebM play packets one after the other, so that a gap would have all that
/// follows too early.
enum OpusFiller {
    /// The head of an Opus stream that decodes to two channels, from its first sample on (RFC 7845 §5.1).
    static let identificationHeader: [UInt8] =
        Array("OpusHead".utf8) + [
            1, 2,  // version, channels
            0, 0,  // samples to leave out: there are none, for it is somewhere in its sender's stream that this begins
            0x80, 0xBB, 0, 0,  // 48 kHz
            0, 0, 0,  // no gain, and the mapping of one stream
        ]

    /// A packet that has the decoder go on as it thinks best (RFC 7845 §4.1): the frame of the packet before, without a
    /// byte in it, which is one that was lost (RFC 6716 §3.2.1).
    static func concealment(after contents: UInt8) -> [UInt8] { [contents & 0xFC] }

    /// A packet of silence, and how many samples it is; nil where there is room for none.
    ///
    /// It is a fullband frame of the transform in stereo whose first symbol says that it is silent (RFC 6716 §4.3).
    static func silence(atMost samples: Int) -> (packet: [UInt8], samples: Int)? {
        guard let size = silences.first(where: { $0.samples <= samples }) else { return nil }
        return ([size.contents, 0xFF, 0xFE], size.samples)
    }

    /// The longest silence.
    static let longest = silences[0].samples

    /// Configurations 31 to 28 of RFC 6716 §3.1, of two channels and one frame.
    private static let silences: [(contents: UInt8, samples: Int)] = [
        (0xFC, 960), (0xF4, 480), (0xEC, 240), (0xE4, 120),
    ]
}
