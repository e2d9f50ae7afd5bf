import Foundation
import RTCShareMedia
import TestSupport
import Testing

@testable import RTCShareCapture

@Suite struct GeneratorTests {
    @Test(
        "A tone has its frequency and -12 dB, and is continuous from block to block",
        arguments: [20.0, 440, 997.3, 20000])
    func tone(frequency: Double) throws {
        var clock = SoundClock(start: .seconds(7), sampleRate: 48000)
        var sink: [AudioFrame] = []
        for _ in 0..<50 {
            sink.append(SoundGenerator.block(at: clock) { ToneSource.sample($0, frequency: frequency) })
            clock.advance(SoundGenerator.blockSize)
        }
        #expect(sink.map(\.timestamp) == (0..<50).map { .seconds(7) + .milliseconds(20 * $0) })
        #expect(sink.allSatisfy { $0.channels == 2 && $0.sampleCount == 960 && $0.sampleRate == 48000 })
        let samples = SoundCollector.samples(of: sink)
        let right = sink.flatMap { frame in stride(from: 1, to: 1920, by: 2).map { frame.samples[$0] } }
        #expect(samples == right)
        let found = try #require(SoundCollector.frequency(of: samples, sampleRate: 48000))
        #expect(abs(found - frequency) < frequency / 1000)
        #expect(abs(try #require(samples.map(abs).max()) - 0.25) < 0.001)
        // No step is larger than the steepest that a sine has: there is no jump between blocks either.
        let steepest = Float(2 * .pi * frequency / 48000 * 0.25) * 1.001
        #expect(zip(samples, samples.dropFirst()).allSatisfy { abs($1 - $0) <= steepest })
    }

    @Test("A tone is as exact after a day as at its beginning")
    func longTone() {
        let day = 86400 * 48000
        let differences = (0..<1000).map {
            abs(ToneSource.sample($0, frequency: 440) - ToneSource.sample($0 + day, frequency: 440))
        }
        #expect(differences.allSatisfy { $0 < 1e-6 })
    }

    @Test("A beep begins at the whole second, lasts 50 ms, fades in and fades out")
    func beep() throws {
        let second = (0..<48000).map { BeepSource.sample($0) }
        #expect(second[0] == 0)
        #expect(second[1] > 0)
        #expect(second[2400...].allSatisfy { $0 == 0 })
        #expect(second[2390..<2400].contains { $0 != 0 })
        let found = try #require(SoundCollector.frequency(of: Array(second[96..<2304]), sampleRate: 48000))
        #expect(abs(found - 1000) < 0.01)
        #expect(abs(try #require(second.max()) - 0.5) < 0.001)
        // In the first and last millisecond it has not half its strength yet; no step is steeper than in the middle.
        #expect(second[..<48].map(abs).max() ?? 1 < 0.26)
        #expect(second[2352...].map(abs).max() ?? 1 < 0.26)
        let steepest = Float(2 * .pi * 1000 / 48000 * 0.5) * 1.05
        #expect(zip(second, second.dropFirst()).allSatisfy { abs($1 - $0) <= steepest })
        #expect((0..<48000).allSatisfy { BeepSource.sample($0 + 48000 * 86400) == second[$0] })
    }

    @Test(
        "Beeps begin with the next whole block, and a second has a whole number of blocks",
        arguments: [
            (Duration.seconds(5), Duration.seconds(5), 0), (.seconds(5) + .nanoseconds(1), .milliseconds(5020), 960),
            (.milliseconds(5020), .milliseconds(5020), 960), (.milliseconds(5981), .seconds(6), 0),
            (.milliseconds(5980), .milliseconds(5980), 47040),
        ])
    func beepStart(now: Duration, time: Duration, sample: Int) {
        let start = BeepSource.start(at: now)
        #expect(start.time == time)
        #expect(start.sample == sample)
    }

    @Test("The source beeps at whole seconds of the monotonic clock")
    func beepSource() throws {
        let source = BeepSource()
        let (sink, observer) = (SoundCollector(), CaptureObserver())
        source.add(sink)
        source.add(observer: observer)
        try source.start()
        try source.start()
        #expect(sink.wait { $0.frames.contains { $0.samples.contains { $0 != 0 } } })
        source.stop()
        source.stop()
        let frames = sink.frames
        for (frame, next) in zip(frames, frames.dropFirst()) {
            #expect(next.timestamp - frame.timestamp == .milliseconds(20))
        }
        for frame in frames {
            let part = frame.timestamp - .seconds(frame.timestamp.components.seconds)
            #expect(frame.samples.contains { $0 != 0 } == (part < .milliseconds(50)))
        }
        #expect(observer.events == [.started, .stopped])
        #expect(sink.ends.count == 1)
    }

    @Test("A tone's source delivers blocks on the monotonic clock and can be started again")
    func toneSource() throws {
        let source = try ToneSource(frequency: 1000)
        let sink = SoundCollector(now: monotonicNow)
        let observer = CaptureObserver()
        source.add(sink)
        source.add(observer: observer)
        let before = monotonicNow()
        try source.start()
        #expect(sink.wait { $0.frames.count >= 5 })
        source.stop()
        let frames = sink.frames
        #expect(frames[0].timestamp >= before)
        #expect(frames[0].samples[0] == 0)
        // A block is delivered at the time of its last sample, not before.
        #expect(zip(frames, sink.arrivals).allSatisfy { $0.timestamp + .milliseconds(20) <= $1 })
        #expect(frames.map { $0.timestamp - frames[0].timestamp } == frames.indices.map { .milliseconds(20 * $0) })
        try source.start()
        #expect(sink.wait { $0.frames.count > frames.count })
        source.stop()
        #expect(observer.events == [.started, .stopped, .started, .stopped])
    }

    @Test("Audio that is up to a second late is delivered without a gap, and later whole blocks are skipped")
    func lateness() {
        var clock = SoundClock(start: .seconds(10), sampleRate: 48000)
        clock.advance(960)
        #expect(clock.timestamp == .milliseconds(10020))
        #expect(clock.deadline(of: 960) == .milliseconds(10040))
        #expect(!clock.isLost(at: .milliseconds(11020)))
        #expect(clock.isLost(at: .milliseconds(11021)))
        clock.skip(blocksOf: 960, until: .milliseconds(11030))
        #expect(clock.timestamp == .milliseconds(11040))
        #expect(clock.position.isMultiple(of: 960))
        clock.restart(at: .seconds(20))
        #expect(clock.timestamp == .seconds(20))
    }

    @Test("The times of recorded blocks are contiguous, follow a drift slowly and restart after a gap")
    func recordingClock() {
        var clock = RecordingClock(sampleRate: 48000)
        var noise = Noise(state: 7)
        var previous: Duration?
        var (largestStep, largestError) = (0.0, 0.0)
        // The card runs 0.05 % too slow, and each measurement is up to 5 ms off.
        for block in 0..<3000 {
            let real = Duration.seconds(100) + .microseconds(20010 * block)
            let time = clock.timestamp(
                sampleCount: 960, measured: real + .microseconds(noise.next(10001) - 5000))
            if let previous {
                largestStep = max(largestStep, abs((time - previous - .milliseconds(20)) / .microseconds(1)))
            }
            if block > 500 { largestError = max(largestError, abs((time - real) / .microseconds(1))) }
            previous = time
        }
        #expect(largestStep <= 200)
        #expect(largestError < 3000)
        #expect(clock.discontinuities == 0)
        let last = previous ?? .zero
        #expect(clock.timestamp(sampleCount: 960, measured: last + .seconds(3)) == last + .seconds(3))
        #expect(clock.discontinuities == 1)
        clock.skip(sampleCount: 480)
        let next = last + .milliseconds(3030)
        #expect(clock.timestamp(sampleCount: 960, measured: next) == next)
    }

    @Test("A fragment of recorded audio is at most a second long, whatever length the server reports")
    func pieceLength() {
        #expect(PulseRecording.sampleCount(ofBytes: 3844, perSample: 4) == 961)
        #expect(PulseRecording.sampleCount(ofBytes: .max, perSample: 4) == 48000)
    }

    @Test("After one wrong measurement, the times of blocks slowly approach the right time, and one gap is counted")
    func lateRecordingClock() {
        var clock = RecordingClock(sampleRate: 48000)
        func real(_ block: Int) -> Duration { .seconds(100) + .milliseconds(20 * block) }
        var previous = clock.timestamp(sampleCount: 960, measured: real(0) + .milliseconds(150))
        for block in 1...1000 {
            let time = clock.timestamp(sampleCount: 960, measured: real(block))
            #expect((.microseconds(19_800)...(.milliseconds(20))).contains(time - previous))
            previous = time
        }
        #expect(previous - real(1000) < .milliseconds(5))
        #expect(clock.discontinuities == 1)
    }

    @Test("Another recording begins at its own time, but not before the end of the last one, and counts no gap")
    func restartedRecordingClock() {
        var clock = RecordingClock(sampleRate: 48000)
        _ = clock.timestamp(sampleCount: 960, measured: .seconds(100))
        clock.restart()
        #expect(clock.timestamp(sampleCount: 960, measured: .seconds(200)) == .seconds(200))
        clock.restart()
        let time = clock.timestamp(sampleCount: 960, measured: .milliseconds(199_900))
        #expect(time <= .milliseconds(200_020) && time >= .milliseconds(200_019))
        #expect(clock.discontinuities == 0)
    }
}
