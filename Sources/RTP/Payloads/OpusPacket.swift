import RTCShareWireFormat

/// What an Opus packet says of itself without decoding it (RFC 6716 §3).
///
/// A value stands for a packet that keeps the rules R1 to R7 of §3.4: a decoder takes it apart without an error.
package struct OpusPacket: Hashable, Sendable {
    /// What made the frames (RFC 6716 §2.1).
    package enum Mode: Hashable, Sendable {
        /// Linear prediction, for speech.
        case silk
        /// Linear prediction below 8 kHz and the transform above it.
        case hybrid
        /// The transform, for music and low delay.
        case celt
    }

    /// Up to which frequency the sound reaches (RFC 6716 §2.1.3).
    package enum Bandwidth: Int, Hashable, Sendable, Comparable {
        /// 4 kHz.
        case narrowband = 4000
        /// 6 kHz.
        case mediumband = 6000
        /// 8 kHz.
        case wideband = 8000
        /// 12 kHz.
        case superWideband = 12_000
        /// 20 kHz.
        case fullband = 20_000

        /// Whether `left` is the narrower one.
        package static func < (left: Bandwidth, right: Bandwidth) -> Bool { left.rawValue < right.rawValue }
    }

    /// What made the frames.
    package let mode: Mode
    /// Up to which frequency the sound reaches.
    package let bandwidth: Bandwidth
    /// Whether the frames have two channels. A decoder mixes or doubles them into as many as its user wants.
    package let isStereo: Bool
    /// How many frames the packet holds, 1 to 48.
    package let frameCount: Int
    /// Samples in each channel of each frame, at 48 kHz.
    package let samplesPerFrame: Int
    /// Bytes of padding at the end, those that say how much there is not counted.
    package let paddingByteCount: Int

    /// Samples in each channel of the whole packet, at 48 kHz; at most ``maximumSampleCount``.
    package var sampleCount: Int { frameCount * samplesPerFrame }

    /// The longest packet: 120 ms (RFC 6716 §3.4, R5).
    package static let maximumSampleCount = 5760
    /// The most bytes of one frame (RFC 6716 §3.4, R2).
    package static let maximumFrameByteCount = 1275

    /// Reads the table of contents of `packet`, a whole RTP payload, and checks that its frames fill it.
    package init(parsing packet: RawSpan) throws(RTPError) {
        var reader = FieldReader(packet)
        let contents = try reader.uint8(.opusTableOfContents)
        (mode, bandwidth, samplesPerFrame) = Self.configuration(contents >> 3)
        isStereo = contents & 4 != 0
        switch contents & 3 {
        case 0:
            frameCount = 1
            paddingByteCount = 0
            try Self.checkFrame(reader.remaining, at: reader.offset)
        case 1:
            frameCount = 2
            paddingByteCount = 0
            guard reader.remaining.isMultiple(of: 2) else { throw .invalid(.opusFrameLength, offset: reader.offset) }
            try Self.checkFrame(reader.remaining / 2, at: reader.offset)
        case 2:
            frameCount = 2
            paddingByteCount = 0
            let first = try Self.frameLength(&reader)
            guard first <= reader.remaining else { throw .truncated(.opusFrameLength, offset: 1) }
            try Self.checkFrame(reader.remaining - first, at: reader.offset + first)
        default:
            (frameCount, paddingByteCount) = try Self.checkSeveralFrames(&reader, samplesPerFrame: samplesPerFrame)
        }
    }

    /// What a packet of code 3 holds: any number of frames, and padding (RFC 6716 §3.2.5).
    @_lifetime(reader: copy reader)
    private static func checkSeveralFrames(
        _ reader: inout FieldReader, samplesPerFrame: Int
    ) throws(RTPError) -> (frames: Int, padding: Int) {
        let countOffset = reader.offset
        let head = try reader.uint8(.opusFrameCount)
        let frames = Int(head & 0x3F)
        guard frames > 0, frames * samplesPerFrame <= maximumSampleCount else {
            throw .invalid(.opusFrameCount, offset: countOffset)
        }
        let paddingOffset = reader.offset
        let padding = head & 0x40 == 0 ? 0 : try paddingLength(&reader)
        guard padding <= reader.remaining else { throw .truncated(.opusPadding, offset: paddingOffset) }
        let lengthsOffset = reader.offset
        if head & 0x80 == 0 {
            let bytes = reader.remaining - padding
            guard bytes.isMultiple(of: frames) else { throw .invalid(.opusFrameLength, offset: lengthsOffset) }
            try checkFrame(bytes / frames, at: lengthsOffset)
        } else {
            var said = 0
            for _ in 1..<frames { said += try frameLength(&reader) }
            let last = reader.remaining - padding - said
            guard last >= 0 else { throw .truncated(.opusFrameLength, offset: lengthsOffset) }
            try checkFrame(last, at: reader.offset + said)
        }
        return (frames, padding)
    }

    /// The bytes of padding: each 255 stands for 254 of them and another byte of length (RFC 6716 §3.2.5).
    @_lifetime(reader: copy reader)
    private static func paddingLength(_ reader: inout FieldReader) throws(RTPError) -> Int {
        var length = 0
        while true {
            let byte = try reader.uint8(.opusPadding)
            guard byte == 255 else { return length + Int(byte) }
            length += 254
        }
    }

    /// The length of a frame, in one byte or two (RFC 6716 §3.2.1).
    @_lifetime(reader: copy reader)
    private static func frameLength(_ reader: inout FieldReader) throws(RTPError) -> Int {
        let first = Int(try reader.uint8(.opusFrameLength))
        guard first >= 252 else { return first }
        return Int(try reader.uint8(.opusFrameLength)) * 4 + first
    }

    /// Holds a length that no field says to the same limit as those that one says.
    private static func checkFrame(_ byteCount: Int, at offset: Int) throws(RTPError) {
        guard byteCount <= maximumFrameByteCount else { throw .invalid(.opusFrameLength, offset: offset) }
    }

    /// Table 2 of RFC 6716 §3.1, by the upper five bits of the TOC byte.
    private static func configuration(_ number: UInt8) -> (Mode, Bandwidth, samplesPerFrame: Int) {
        let place = Int(number & 3)
        switch number {
        case 0...11:
            let bandwidth: Bandwidth = number < 4 ? .narrowband : number < 8 ? .mediumband : .wideband
            return (.silk, bandwidth, [480, 960, 1920, 2880][place])
        case 12...15:
            return (.hybrid, number < 14 ? .superWideband : .fullband, place & 1 == 0 ? 480 : 960)
        default:
            let bandwidth: Bandwidth =
                number < 20 ? .narrowband : number < 24 ? .wideband : number < 28 ? .superWideband : .fullband
            return (.celt, bandwidth, 120 << place)
        }
    }
}
