import RTCShareAudioCoding
import RTCShareMedia
import Testing

@Suite("AudioBlocker")
struct AudioBlockerTests {
    /// Frames of these lengths that follow each other, each sample being its own index.
    private func frames(_ lengths: [Int], channels: Int = 1, sampleRate: Int = 48_000) -> [AudioFrame] {
        var position = 0
        return lengths.map { length in
            defer { position += length }
            return AudioFrame(
                samples: (position * channels..<(position + length) * channels).map { Float($0) }, channels: channels,
                sampleRate: sampleRate,
                timestamp: .seconds(100) + .nanoseconds(Int64(position) * 1_000_000_000 / Int64(sampleRate)))
        }
    }

    @Test(
        "Blocks contain each sample once, at its time, whatever the lengths of the frames",
        arguments: [
            [960, 960, 960], [480, 480, 480, 480], [1, 2, 3, 5000], [441, 441, 441, 441, 441], [100_000],
            [959, 1, 1, 959],
        ])
    func cutting(lengths: [Int]) throws {
        for channels in [1, 2] {
            var blocker = AudioBlocker(sampleCount: 960, channels: channels, sampleRate: 48_000)
            let blocks = try frames(lengths, channels: channels).flatMap { try blocker.append($0) }
            #expect(blocks.count == lengths.reduce(0, +) / 960)
            for (index, block) in blocks.enumerated() {
                #expect(block.startsAnew == (index == 0))
                #expect(
                    block.frame.samples == (index * 960 * channels..<(index + 1) * 960 * channels).map { Float($0) })
                let error = block.frame.timestamp - .seconds(100) - .milliseconds(20) * index
                #expect(error > .nanoseconds(-3) && error < .nanoseconds(3))
            }
            #expect(blocker.droppedSampleCount == 0)
        }
    }

    @Test("A gap of more than 60 ms restarts the blocks, a shorter one does not", arguments: [-100, -50, 50, 100])
    func gap(milliseconds: Int) throws {
        var blocker = AudioBlocker(sampleCount: 960, channels: 1, sampleRate: 48_000)
        let frames = frames([1000, 1000, 1000])
        _ = try blocker.append(frames[0])
        let moved = AudioFrame(
            samples: frames[1].samples, channels: 1, sampleRate: 48_000,
            timestamp: frames[1].timestamp + .milliseconds(milliseconds))
        let blocks = try blocker.append(moved)
        let isGap = abs(milliseconds) > 60
        #expect(blocks.map(\.startsAnew) == [isGap])
        #expect(blocks[0].frame.samples[0] == (isGap ? 1000 : 960))
        #expect(blocker.droppedSampleCount == (isGap ? 40 : 0))
        if isGap { #expect(blocks[0].frame.timestamp == moved.timestamp) }
        let later = try blocker.append(
            AudioFrame(
                samples: frames[2].samples, channels: 1, sampleRate: 48_000, timestamp: moved.timestamp + moved.duration
            ))
        #expect(later.allSatisfy { !$0.startsAnew })
    }

    @Test("Blocks of a device whose clock is slightly off do not drift")
    func drift() throws {
        var blocker = AudioBlocker(sampleCount: 960, channels: 1, sampleRate: 48_000)
        // 1000 ppm fast, for ten minutes: 600 ms in all.
        for index in 0..<60_000 {
            let timestamp: Duration = .microseconds(10_010 * index)
            let frame = AudioFrame(
                samples: [Float](repeating: 0, count: 480), channels: 1, sampleRate: 48_000, timestamp: timestamp)
            for block in try blocker.append(frame) {
                #expect(block.startsAnew == (index == 1))
                #expect(block.frame.timestamp == timestamp - .microseconds(10_010))
            }
        }
    }

    @Test("A change of format is an error that names both formats, and an empty frame is ignored")
    func formats() throws {
        var blocker = AudioBlocker(sampleCount: 960, channels: 1, sampleRate: 48_000)
        for (channels, rate) in [(2, 48_000), (1, 44_100)] {
            let frame = AudioFrame(samples: [0, 0], channels: channels, sampleRate: rate, timestamp: .zero)
            #expect(
                throws: AudioCodingError.unexpectedFormat(
                    channels: channels, sampleRate: rate, expectedChannels: 1, expectedSampleRate: 48_000)
            ) { try blocker.append(frame) }
        }
        #expect(try blocker.append(AudioFrame(samples: [], channels: 1, sampleRate: 48_000, timestamp: .zero)).isEmpty)
    }
}
