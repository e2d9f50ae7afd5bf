import RTCShareAudioCoding
import RTCShareMedia
import Testing

@Suite("AudioConformer")
struct AudioConformerTests {
    /// A ramp in blocks of 10 ms, whose value is its time in seconds since the start: each sample says when it was taken.
    private func ramp(sampleRate: Int, channels: Int, from start: Duration = .seconds(50), blocks: Int) -> [AudioFrame]
    {
        let count = sampleRate / 100
        return (0..<blocks).map { block in
            let samples = (0..<count).flatMap { index in
                Array(repeating: Float(block * count + index) / Float(sampleRate), count: channels)
            }
            return AudioFrame(
                samples: samples, channels: channels, sampleRate: sampleRate,
                timestamp: start + .milliseconds(block * 10))
        }
    }

    @Test(
        "Audio of any rate and channel count becomes blocks of 20 ms with the timestamps of their samples",
        arguments: [8000, 16_000, 22_050, 32_000, 44_100, 48_000, 96_000, 192_000], [1, 2, 7])
    func timestamps(sampleRate: Int, channels: Int) throws {
        // 22.05 kHz has no whole number of samples in 10 ms: its blocks drift by less than a sample each.
        for target in [1, 2] {
            let conformer = AudioConformer(channels: target)
            let blocks = ramp(sampleRate: sampleRate, channels: channels, blocks: 60).flatMap { conformer.process($0) }
            #expect(blocks.count >= 27)
            #expect(blocks.first?.startsAnew == true && blocks.dropFirst().allSatisfy { !$0.startsAnew })
            for block in blocks.dropFirst(2) {
                #expect(block.frame.channels == target && block.frame.sampleRate == 48_000)
                #expect(block.frame.sampleCount == 960)
                // What the sample says of itself, and what the timestamp says of it.
                let told = (block.frame.timestamp - .seconds(50)) / .seconds(1)
                let sampled = Double(block.frame.samples[480 * target]) - 0.01
                #expect(abs(told - sampled) < (sampleRate == 22_050 ? 15e-3 : 1.1 / Double(min(sampleRate, 48_000))))
            }
        }
        let conformer = AudioConformer(channels: 1)
        _ = ramp(sampleRate: 48_000, channels: 1, blocks: 2).flatMap { conformer.process($0) }
        #expect(conformer.framesRefused == 0)
    }

    @Test("After a gap the blocks restart at the time of the audio", arguments: [44_100, 48_000])
    func gap(sampleRate: Int) throws {
        let conformer = AudioConformer(channels: 1)
        var blocks = ramp(sampleRate: sampleRate, channels: 1, blocks: 11).flatMap { conformer.process($0) }
        let later = ramp(sampleRate: sampleRate, channels: 1, from: .seconds(60), blocks: 11)
        blocks = later.flatMap { conformer.process($0) }
        #expect(blocks.first?.startsAnew == true)
        #expect(blocks.first?.frame.timestamp == .seconds(60))
        #expect(blocks.dropFirst().allSatisfy { !$0.startsAnew })
        // A clock that went back is a gap too.
        blocks = ramp(sampleRate: sampleRate, channels: 1, from: .seconds(55), blocks: 11)
            .flatMap { conformer.process($0) }
        #expect(blocks.first?.startsAnew == true && blocks.first?.frame.timestamp == .seconds(55))
    }

    @Test("The timestamps stay right when the channel count or the sample rate changes")
    func change() throws {
        let conformer = AudioConformer(channels: 2)
        var blocks = ramp(sampleRate: 44_100, channels: 1, blocks: 10).flatMap { conformer.process($0) }
        #expect(blocks.allSatisfy { $0.frame.channels == 2 })
        conformer.channels = 1
        blocks = ramp(sampleRate: 44_100, channels: 2, from: .milliseconds(50_100), blocks: 10)
            .flatMap { conformer.process($0) }
        #expect(blocks.first?.startsAnew == true && blocks.allSatisfy { $0.frame.channels == 1 })
        #expect(blocks.first?.frame.timestamp == .milliseconds(50_100))
        // From another rate, without a gap: within the milliseconds that the resampler held.
        blocks = ramp(sampleRate: 48_000, channels: 1, from: .milliseconds(50_200), blocks: 10)
            .flatMap { conformer.process($0) }
        #expect(blocks.count >= 5 && blocks.allSatisfy { !$0.startsAnew })
        let last = try #require(blocks.last?.frame)
        let told = (last.timestamp - .milliseconds(50_200)) / .seconds(1)
        #expect(abs(told - Double(last.samples[0])) < 1e-4)
    }

    @Test("Unusable frames are counted, and later frames are accepted")
    func refusals() {
        let conformer = AudioConformer(channels: 1)
        let strange = [
            AudioFrame(samples: [0, 0], channels: 1, sampleRate: 1, timestamp: .zero),
            AudioFrame(samples: [0, 0], channels: 1, sampleRate: .max, timestamp: .zero),
            AudioFrame(samples: [0, 0], channels: 1, sampleRate: 48_000, timestamp: .seconds(Int64.max)),
            AudioFrame(samples: [0, 0], channels: 1, sampleRate: 48_000, timestamp: .seconds(Int64.min)),
        ]
        for frame in strange { #expect(conformer.process(frame).isEmpty) }
        #expect(conformer.framesRefused == strange.count)
        #expect(conformer.process(AudioFrame(samples: [], channels: 3, sampleRate: 44_100, timestamp: .zero)).isEmpty)
        #expect(ramp(sampleRate: 48_000, channels: 1, blocks: 4).flatMap { conformer.process($0) }.count == 2)
    }
}
