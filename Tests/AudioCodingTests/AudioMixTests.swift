import RTCShareMedia
import Testing

@testable import RTCShareAudioCoding

/// The sums of inputs, in virtual time.
@Suite("AudioMix")
struct AudioMixTests {
    private final class Source {}

    private let one = Source()
    private let other = Source()

    /// A block of 20 ms of one value on both channels.
    private func block(_ value: Float, at milliseconds: Double, count: Int = 960) -> AudioFrame {
        AudioFrame(
            samples: Array(repeating: value, count: count * 2), channels: 2, sampleRate: 48_000,
            timestamp: .nanoseconds(Int64(milliseconds * 1e6)))
    }

    private func mix(_ volumes: [(Source, Float)]) -> AudioMix {
        var mix = AudioMix()
        for (source, volume) in volumes { mix.add(ObjectIdentifier(source), volume: volume) }
        return mix
    }

    /// The value of each frame that is of one value, nil of others.
    private func values(_ frames: [AudioFrame]) -> [Float?] {
        frames.map { frame in frame.samples.allSatisfy { $0 == frame.samples[0] } ? frame.samples[0] : nil }
    }

    @Test("Two inputs are added with their volumes, without a limit at full scale")
    func sum() {
        var mix = mix([(one, 1), (other, 0.5)])
        var frames: [AudioFrame] = []
        for index in 0..<4 {
            frames += mix.insert(block(0.75, at: Double(index * 20)), of: ObjectIdentifier(one))
            #expect(frames.count == index)
            frames += mix.insert(block(1, at: Double(index * 20)), of: ObjectIdentifier(other))
        }
        #expect(values(frames) == [1.25, 1.25, 1.25, 1.25])
        #expect(frames.map(\.timestamp) == (0..<4).map { .milliseconds($0 * 20) })
        mix.setVolume(0, of: ObjectIdentifier(other))
        frames = mix.insert(block(0.25, at: 80), of: ObjectIdentifier(one))
        frames += mix.insert(block(1, at: 80), of: ObjectIdentifier(other))
        #expect(values(frames) == [0.25])
    }

    @Test(
        "The mix waits three blocks for a paused input; its later blocks are mixed at their time")
    func pause() {
        var mix = mix([(one, 1), (other, 1)])
        var frames = mix.insert(block(0.25, at: 0), of: ObjectIdentifier(other))
        for index in 0..<10 { frames += mix.insert(block(0.5, at: Double(index * 20)), of: ObjectIdentifier(one)) }
        #expect(values(frames) == [0.75] + Array(repeating: 0.5, count: 6))
        // A block of a time that was given out already is too late; the next ones are in time.
        frames = mix.insert(block(0.25, at: 100), of: ObjectIdentifier(other))
        #expect(frames.isEmpty)
        for index in 7..<10 { frames += mix.insert(block(0.25, at: Double(index * 20)), of: ObjectIdentifier(other)) }
        #expect(values(frames) == [0.75, 0.75, 0.75])
        #expect(frames.first?.timestamp == .milliseconds(140))
    }

    @Test(
        "The mix waits for an input that lags, or delivers its audio in large pieces",
        arguments: [
            (40, 20), (60, 20), (80, 20), (150, 20), (200, 20), (400, 20), (0, 80), (0, 100), (0, 200), (80, 200),
        ])
    func late(lag: Int, delivery: Int) {
        var mix = mix([(one, 1), (other, 1)])
        var frames: [AudioFrame] = []
        var given = 0
        for index in 0..<500 {
            let now = index * 20 + 20
            frames += mix.insert(block(0.5, at: Double(index * 20)), of: ObjectIdentifier(one))
            while given + delivery <= now - lag {
                frames += mix.insert(
                    block(0.25, at: Double(given), count: delivery * 48), of: ObjectIdentifier(other))
                given += delivery
            }
        }
        // All but what came before it was known how late it is.
        let both = values(frames).count { $0 == 0.75 }
        let begin = (lag + delivery) / 20
        #expect(both >= 500 - 2 * begin - 1, "\(both) of 500")
        #expect(mix.lateSampleCount <= (lag + delivery) * 48)
        #expect(frames.count >= 500 - begin - 2, "\(frames.count): waiting no longer than that")
        #expect(zip(frames, frames.dropFirst()).allSatisfy { $0.timestamp + .milliseconds(20) == $1.timestamp })
    }

    @Test("The mix does not wait for a hopelessly late input, and forgets that an input was late once")
    func hopeless() {
        var mix = mix([(one, 1), (other, 1)])
        var frames: [AudioFrame] = []
        for index in 0..<100 {
            frames += mix.insert(block(0.5, at: Double(index * 20)), of: ObjectIdentifier(one))
            if index >= 40 {
                frames += mix.insert(block(0.25, at: Double((index - 40) * 20)), of: ObjectIdentifier(other))
            }
        }
        #expect(values(frames) == Array(repeating: 0.5, count: 97))
        #expect(mix.lateSampleCount == 60 * 960)
        var late = self.mix([(one, 1), (other, 1)])
        var waiting: [Int] = []
        var count = 0
        for index in 0..<3000 {
            count += late.insert(block(0.5, at: Double(index * 20)), of: ObjectIdentifier(one)).count
            waiting.append(index + 1 - count)
            // Once, what is 300 ms old comes.
            guard index < 15 || index >= 30 else { continue }
            let blocks = index == 30 ? 15...30 : index...index
            for block in blocks {
                count += late.insert(self.block(0.25, at: Double(block * 20)), of: ObjectIdentifier(other)).count
            }
        }
        for index in 3000..<3030 {
            count += late.insert(block(0.5, at: Double(index * 20)), of: ObjectIdentifier(one)).count
            waiting.append(index + 1 - count)
        }
        // The one that has gone silent is waited for no longer than one that never was late.
        #expect(waiting.last == 3, "\(waiting.suffix(20))")
    }

    @Test("Removing an input releases the blocks that waited for it")
    func end() {
        var mix = mix([(one, 1), (other, 1)])
        var frames = mix.insert(block(0.5, at: 0), of: ObjectIdentifier(one))
        frames += mix.insert(block(0.5, at: 20), of: ObjectIdentifier(one))
        #expect(frames.isEmpty)
        #expect(values(mix.remove(ObjectIdentifier(other))) == [0.5, 0.5])
        #expect(mix.remove(ObjectIdentifier(one)).isEmpty)
        #expect(mix.insert(block(0.5, at: 40), of: ObjectIdentifier(one)).isEmpty)
    }

    @Test("Audio after a pause of all inputs is at its time, however long the pause was", arguments: [0.5, 2, 3600])
    func longPause(seconds: Double) {
        var mix = mix([(one, 1)])
        // Half a block is left over when the sound pauses.
        var frames = mix.insert(block(0.5, at: 0), of: ObjectIdentifier(one))
        frames += mix.insert(block(0.5, at: 20), of: ObjectIdentifier(one))
        mix.add(ObjectIdentifier(other), volume: 1)
        frames += mix.insert(block(0.25, at: 50), of: ObjectIdentifier(other))
        frames += mix.remove(ObjectIdentifier(one))
        let resumption = seconds * 1000
        for index in 0..<4 {
            frames += mix.insert(block(0.75, at: resumption + Double(index * 20)), of: ObjectIdentifier(other))
        }
        let heard = frames.filter { $0.samples.contains(0.75) }
        #expect(
            heard.first.map { $0.timestamp + .seconds($0.samples.firstIndex(of: 0.75) ?? 0) / 96_000 }
                == .milliseconds(Int(resumption)))
        #expect(frames.count < 60, "\(frames.count) blocks, of silence nearly all")
        #expect(zip(frames, frames.dropFirst()).allSatisfy { $0.timestamp + .milliseconds(20) <= $1.timestamp })
    }

    @Test("An input whose clock jumps back continues there, and earlier audio is kept")
    func jump() {
        var mix = mix([(one, 1), (other, 1)])
        var frames = mix.insert(block(0.5, at: 0), of: ObjectIdentifier(one))
        frames += mix.insert(block(0.5, at: 20), of: ObjectIdentifier(one))
        frames += mix.insert(block(0.5, at: 40), of: ObjectIdentifier(one))
        // 30 ms are taken back; the first 30 stay.
        frames += mix.insert(block(0.25, at: 30), of: ObjectIdentifier(one))
        #expect(frames.isEmpty)
        frames += mix.remove(ObjectIdentifier(other))
        #expect(values(frames) == [0.5, nil])
        #expect(frames.last?.samples[958...961] == [0.5, 0.5, 0.25, 0.25])
    }

    @Test("The first block of an input is placed at its timestamp, even within the tolerance for drift")
    func offset() throws {
        var mix = mix([(one, 1), (other, 1)])
        var frames = mix.insert(block(0.5, at: 0), of: ObjectIdentifier(one))
        frames += mix.insert(block(0.5, at: 20), of: ObjectIdentifier(one))
        frames += mix.insert(block(0.25, at: 15), of: ObjectIdentifier(other))
        let first = try #require(frames.first)
        #expect(first.samples[(720 * 2 - 2)...(720 * 2 + 1)] == [0.5, 0.5, 0.75, 0.75])
    }

    @Test(
        "Clocks that drift apart by 1000 ppm stay within a block of each other, and no blocks accumulate",
        arguments: [20.02, 19.98])
    func drift(interval: Double) {
        var mix = mix([(one, 1), (other, 1)])
        var frames: [AudioFrame] = []
        var mostWaiting = 0
        var time = 0.0
        // A minute and a half by the system's clock; the other device takes a little more or less for its 960 samples.
        for index in 0..<4500 {
            let now = Double(index) * 20
            while time <= now {
                frames += mix.insert(block(0.25, at: time), of: ObjectIdentifier(other))
                time += interval
            }
            frames += mix.insert(block(0.5, at: now), of: ObjectIdentifier(one))
            mostWaiting = max(mostWaiting, index - frames.count)
        }
        #expect(mostWaiting <= 4, "at most what is waited for")
        #expect(zip(frames, frames.dropFirst()).allSatisfy { $0.timestamp + .milliseconds(20) == $1.timestamp })
        // Both sound, but for some milliseconds each time that the drift is made up for.
        let samples = frames.flatMap(\.samples)
        #expect(Double(samples.count { $0 == 0.75 }) > 0.995 * Double(samples.count))
    }

    @Test("A block with a timestamp far from the present is placed at the present")
    func future() {
        let now = Duration.seconds(100)
        for lead in [-2000, -20, 0, 499, 500] {
            let frame = block(0.5, at: Double(100_000 + lead))
            var clock = AudioMix.InputClock()
            #expect(clock.plausible(frame, now: now) == frame)
        }
        for time in [
            Duration.zero, .seconds(-1000), .seconds(Int64.min), .milliseconds(100_501), .seconds(3700),
            .nanoseconds(Int64.max), .seconds(Int64.max),
        ] {
            let frame = AudioFrame(samples: [1, 1], channels: 2, sampleRate: 48_000, timestamp: time)
            var clock = AudioMix.InputClock()
            #expect(clock.plausible(frame, now: now) == frame.stamped(now))
        }
    }

    @Test("Blocks of a clock that is ahead keep their distances until it jumps")
    func aheadAndApart() {
        var clock = AudioMix.InputClock()
        /// Returns the time given to a block with this timestamp that arrives at `now`, both in milliseconds.
        func time(_ timestamp: Int, at now: Int) -> Int {
            let taken = clock.plausible(block(0.5, at: Double(timestamp)), now: .milliseconds(now)).timestamp
            return Int((taken / .milliseconds(1)).rounded())
        }
        // In a burst; and late, though by then they could be of the clock here.
        #expect([1_600, 1_620, 1_640].map { time($0, at: 1_000) } == [1_000, 1_020, 1_040])
        #expect([1_660, 1_680].map { time($0, at: 1_200) } == [1_060, 1_080])
        // Back to the time that it is, ahead anew, and far behind what it was.
        #expect(time(1_700, at: 1_720) == 1_700)
        #expect([9_000, 9_020].map { time($0, at: 1_800) } == [1_800, 1_820])
        #expect([5_000, 5_020].map { time($0, at: 2_000) } == [2_000, 2_020])
    }

    @Test("Blocks stamped from zero keep their distances, and a later late block stays late")
    func fromZero() {
        var clock = AudioMix.InputClock()
        func time(_ timestamp: Int, at now: Int) -> Int {
            let taken = clock.plausible(block(0.5, at: Double(timestamp)), now: .milliseconds(now)).timestamp
            return Int((taken / .milliseconds(1)).rounded())
        }
        #expect([0, 20, 40].map { time($0, at: 50_000 + $0) } == [50_000, 50_020, 50_040])
        var present = AudioMix.InputClock()
        #expect(present.plausible(block(0.5, at: 50_000), now: .seconds(50)).timestamp == .seconds(50))
        #expect(present.plausible(block(0.5, at: 50_020), now: .seconds(60)).timestamp == .milliseconds(50_020))
    }

    @Test("Blocks with absurd timestamps are dropped, and mixing continues")
    func absurd() {
        var mix = mix([(one, 1)])
        var frames = mix.insert(block(0.5, at: 0), of: ObjectIdentifier(one))
        for time in [Duration.seconds(Int64.max), .seconds(Int64.min)] {
            let frame = AudioFrame(samples: [1, 1], channels: 2, sampleRate: 48_000, timestamp: time)
            frames += mix.insert(frame, of: ObjectIdentifier(one))
        }
        frames += mix.insert(block(0.5, at: 20), of: ObjectIdentifier(one))
        #expect(values(frames) == [0.5, 0.5])
    }
}
