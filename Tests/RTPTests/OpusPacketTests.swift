import RTCShareRTP
import RTCShareWireFormat
import Testing

struct OpusPacketTests {
    private func parse(_ bytes: [UInt8]) throws(RTPError) -> OpusPacket { try OpusPacket(parsing: bytes.span.bytes) }

    private func error(_ bytes: [UInt8]) -> RTPError? {
        do throws(RTPError) {
            _ = try parse(bytes)
            return nil
        } catch {
            return error
        }
    }

    private func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

    struct Row: Sendable {
        let configurations: ClosedRange<UInt8>
        let mode: OpusPacket.Mode
        let bandwidth: OpusPacket.Bandwidth
        let samples: [Int]

        init(
            _ configurations: ClosedRange<UInt8>, _ mode: OpusPacket.Mode, _ bandwidth: OpusPacket.Bandwidth,
            _ samples: [Int]
        ) {
            self.configurations = configurations
            self.mode = mode
            self.bandwidth = bandwidth
            self.samples = samples
        }
    }

    /// Table 2 of RFC 6716 §3.1, in samples at 48 kHz.
    @Test(
        "Every configuration is recognized",
        arguments: [
            Row(0...3, .silk, .narrowband, [480, 960, 1920, 2880]),
            Row(4...7, .silk, .mediumband, [480, 960, 1920, 2880]),
            Row(8...11, .silk, .wideband, [480, 960, 1920, 2880]),
            Row(12...13, .hybrid, .superWideband, [480, 960]),
            Row(14...15, .hybrid, .fullband, [480, 960]),
            Row(16...19, .celt, .narrowband, [120, 240, 480, 960]),
            Row(20...23, .celt, .wideband, [120, 240, 480, 960]),
            Row(24...27, .celt, .superWideband, [120, 240, 480, 960]),
            Row(28...31, .celt, .fullband, [120, 240, 480, 960]),
        ])
    func everyConfigurationIsKnown(_ row: Row) throws {
        for (number, samples) in zip(row.configurations, row.samples) {
            for channels: UInt8 in [0, 1] {
                for (code, frames) in [(UInt8(0), 1), (1, 2), (2, 2)] {
                    let packet = try parse([number << 3 | channels << 2 | code, 0, 0])
                    #expect(packet.mode == row.mode)
                    #expect(packet.bandwidth == row.bandwidth)
                    #expect(packet.isStereo == (channels == 1))
                    #expect(packet.frameCount == frames)
                    #expect(packet.samplesPerFrame == samples)
                    #expect(packet.sampleCount == frames * samples)
                }
                for frames in 1...63 {
                    let bytes = [number << 3 | channels << 2 | 3, UInt8(frames)] + zeros(frames * 2)
                    let isWithinLimit = frames * samples <= 5760
                    #expect((try? parse(bytes))?.sampleCount == (isWithinLimit ? frames * samples : nil))
                }
            }
        }
        #expect(row.configurations.count == row.samples.count)
    }

    @Test("A packet of twenty milliseconds has that duration")
    func twentyMilliseconds() throws {
        // Configuration 31, stereo, one frame: what a browser sends for music.
        let packet = try parse([0xFC, 1, 2, 3])
        #expect(packet.sampleCount == 960)
        #expect(packet.bandwidth == .fullband)
        #expect(OpusPacket.Bandwidth.narrowband < .fullband)
    }

    @Test("A frame without bytes is allowed")
    func aFrameWithoutBytesIsAllowed() throws {
        // A packet of one byte is how an encoder says that there is nothing to hear (RFC 6716 §3.2.1, DTX).
        #expect(try parse([0x08]).sampleCount == 960)
        #expect(try parse([0x09]).frameCount == 2)
        #expect(try parse([0x0A, 0]).frameCount == 2)
        #expect(try parse([0x0B, 3]).frameCount == 3)
        #expect(try parse([0x0B, 0x83, 0, 0]).frameCount == 3)
    }

    @Test("Rule 1: a packet has at least one byte")
    func emptyPacket() {
        #expect(error([]) == .truncated(.opusTableOfContents, offset: 0))
    }

    @Test("Rule 2: no implied length is above 1275")
    func impliedLength() throws {
        _ = try parse([0x08] + zeros(1275))
        #expect(error([0x08] + zeros(1276)) == .invalid(.opusFrameLength, offset: 1))
        _ = try parse([0x09] + zeros(2550))
        #expect(error([0x09] + zeros(2552)) == .invalid(.opusFrameLength, offset: 1))
        _ = try parse([0x0A, 1] + zeros(1276))
        #expect(error([0x0A, 1] + zeros(1277)) == .invalid(.opusFrameLength, offset: 3))
        _ = try parse([0x0B, 2] + zeros(2550))
        #expect(error([0x0B, 2] + zeros(2552)) == .invalid(.opusFrameLength, offset: 2))
        _ = try parse([0x0B, 0x82, 1] + zeros(1276))
        #expect(error([0x0B, 0x82, 1] + zeros(1277)) == .invalid(.opusFrameLength, offset: 4))
        // The longest length that can be said is just the limit: 255 * 4 + 255.
        _ = try parse([0x0A, 255, 255] + zeros(1275))
    }

    @Test("Rule 3: two equal frames fill an odd packet")
    func twoEqualFrames() {
        #expect(error([0x09, 0]) == .invalid(.opusFrameLength, offset: 1))
        #expect(error([0x09, 0, 0]) == nil)
        #expect(error([0x09, 0, 0, 0]) == .invalid(.opusFrameLength, offset: 1))
    }

    @Test("Rule 4: the first of two frames is within the packet")
    func firstOfTwo() {
        #expect(error([0x0A]) == .truncated(.opusFrameLength, offset: 1))
        #expect(error([0x0A, 252]) == .truncated(.opusFrameLength, offset: 2))
        #expect(error([0x0A, 3, 0, 0]) == .truncated(.opusFrameLength, offset: 1))
        #expect(error([0x0A, 3, 0, 0, 0]) == nil)
        // 252 and a second byte of one stand for 256.
        #expect(error([0x0A, 252, 1] + zeros(255)) == .truncated(.opusFrameLength, offset: 1))
        #expect(error([0x0A, 252, 1] + zeros(256)) == nil)
    }

    @Test("Rule 5: there is a frame, and no more than 120 ms")
    func frameCountLimits() {
        #expect(error([0x0B]) == .truncated(.opusFrameCount, offset: 1))
        #expect(error([0x0B, 0]) == .invalid(.opusFrameCount, offset: 1))
        #expect(error([0x0B, 6]) == nil)
        #expect(error([0x0B, 7]) == .invalid(.opusFrameCount, offset: 1))
        #expect(error([0x83, 48]) == nil)
        #expect(error([0x83, 49]) == .invalid(.opusFrameCount, offset: 1))
    }

    @Test("Rule 6: frames of one length share what padding leaves")
    func equalLengths() throws {
        #expect(error([0x0B, 3, 0, 0]) == .invalid(.opusFrameLength, offset: 2))
        #expect(error([0x0B, 0x43]) == .truncated(.opusPadding, offset: 2))
        #expect(error([0x0B, 0x43, 1]) == .truncated(.opusPadding, offset: 2))
        #expect(try parse([0x0B, 0x43, 1, 9]).paddingByteCount == 1)
        #expect(try parse([0x0B, 0x43, 1, 7, 7, 7, 9]).paddingByteCount == 1)
        #expect(error([0x0B, 0x43, 1, 7, 7, 9]) == .invalid(.opusFrameLength, offset: 3))
        #expect(error([0x0B, 0x43, 255]) == .truncated(.opusPadding, offset: 3))
        #expect(try parse([0x0B, 0x41, 255, 0] + zeros(254)).paddingByteCount == 254)
        #expect(try parse([0x0B, 0x41, 255, 255, 3] + zeros(511)).paddingByteCount == 511)
        #expect(error([0x0B, 0x41, 255, 255, 3] + zeros(510)) == .truncated(.opusPadding, offset: 2))
    }

    @Test("Rule 7: frames of different lengths fit with their headers")
    func differentLengths() throws {
        #expect(error([0x0B, 0x83]) == .truncated(.opusFrameLength, offset: 2))
        #expect(error([0x0B, 0x83, 1]) == .truncated(.opusFrameLength, offset: 3))
        #expect(error([0x0B, 0x83, 1, 2, 0, 0]) == .truncated(.opusFrameLength, offset: 2))
        #expect(try parse([0x0B, 0x83, 1, 2, 0, 0, 0]).frameCount == 3)
        #expect(error([0x0B, 0xC3, 1, 1, 2, 0, 0, 0]) == .truncated(.opusFrameLength, offset: 3))
        #expect(try parse([0x0B, 0xC3, 1, 1, 2, 0, 0, 0, 0]).paddingByteCount == 1)
    }

    @Test(
        "No truncation or damage traps",
        arguments: [
            [0x08] + [UInt8](repeating: 7, count: 20), [0x09] + [UInt8](repeating: 7, count: 20),
            [0x0A, 252, 0] + [UInt8](repeating: 7, count: 260), [0x0B, 3] + [UInt8](repeating: 7, count: 12),
            [0x0B, 0xC3, 2, 5, 6, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 0, 0],
        ])
    func noTruncationOrDamageTraps(_ packet: [UInt8]) throws {
        _ = try parse(packet)
        forEachDamage(of: packet) { bytes in
            guard let packet = try? parse(bytes) else { return }
            #expect((1...48).contains(packet.frameCount))
            #expect((120...OpusPacket.maximumSampleCount).contains(packet.sampleCount))
            #expect(packet.paddingByteCount < bytes.count)
        }
    }
}
