import RTCShareWireFormat

/// The properties of an Opus packet that are known without decoding it (RFC 6716 §3).
///
/// The packet complies with the rules R1 to R7 of §3.4, so that a decoder can parse it without an error.
package struct OpusPacket: Hashable, Sendable {
    /// The mode of the encoder (RFC 6716 §2.1).
    package enum Mode: Hashable, Sendable {
        /// Linear prediction (LP), for speech.
        case silk
        /// Linear prediction below 8 kHz and the transform (MDCT) above it.
        case hybrid
        /// The transform (MDCT), for music and low delay.
        case celt
    }

    /// The audio bandwidth (RFC 6716 §2.1.3).
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

        /// Whether `left` is the narrower bandwidth.
        package static func < (left: Bandwidth, right: Bandwidth) -> Bool { left.rawValue < right.rawValue }
    }

    /// The mode of the encoder.
    package let mode: Mode
    /// The audio bandwidth.
    package let bandwidth: Bandwidth
    /// Whether the frames have two channels. A decoder converts them to the number of channels that its user chooses.
    package let isStereo: Bool
    /// The number of frames in the packet, 1 to 48.
    package let frameCount: Int
    /// The number of samples in each channel of each frame, at 48 kHz.
    package let samplesPerFrame: Int
    /// The number of padding bytes at the end, without the bytes of the padding length.
    package let paddingByteCount: Int

    /// The number of samples in each channel of the whole packet, at 48 kHz; at most ``maximumSampleCount``.
    package var sampleCount: Int { frameCount * samplesPerFrame }

    /// The number of samples in the longest packet: 120 ms (RFC 6716 §3.4, R5).
    package static let maximumSampleCount = 5760
    /// The maximum number of bytes in one frame (RFC 6716 §3.4, R2).
    package static let maximumFrameByteCount = 1275

    /// Parses `packet`, a whole RTP payload, and checks that its frames fill it.
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

    /// Checks a packet of code 3: any number of frames, and padding (RFC 6716 §3.2.5).
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

    /// Reads the number of padding bytes: each byte of 255 represents 254 of them and is followed by another byte (RFC
    /// 6716 §3.2.5).
    @_lifetime(reader: copy reader)
    private static func paddingLength(_ reader: inout FieldReader) throws(RTPError) -> Int {
        var length = 0
        while true {
            let byte = try reader.uint8(.opusPadding)
            guard byte == 255 else { return length + Int(byte) }
            length += 254
        }
    }

    /// Reads the length of a frame, in one or two bytes (RFC 6716 §3.2.1).
    @_lifetime(reader: copy reader)
    private static func frameLength(_ reader: inout FieldReader) throws(RTPError) -> Int {
        let first = Int(try reader.uint8(.opusFrameLength))
        guard first >= 252 else { return first }
        return Int(try reader.uint8(.opusFrameLength)) * 4 + first
    }

    /// Checks a length that has no field against the same limit as lengths in fields.
    private static func checkFrame(_ byteCount: Int, at offset: Int) throws(RTPError) {
        guard byteCount <= maximumFrameByteCount else { throw .invalid(.opusFrameLength, offset: offset) }
    }

    /// Returns the row of table 2 of RFC 6716 §3.1 for the upper five bits of the TOC byte.
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
