import Foundation
import RTCShareLocks
import RTCShareMedia
import Testing

@testable import RTCShareAudioCoding
import RTCShareWireFormat

@Suite("AudioMixer", .timeLimit(.minutes(1)))
struct AudioMixerTests {
    private final class Clock: Sendable {
        let now = Locked(Duration.zero)
    }

    private final class Log: AudioSink {
        private let log = Locked<[AudioFrame]>([])
        var frames: [AudioFrame] { log.withLock { $0 } }
        func receive(_ frame: AudioFrame) { log.withLock { $0.append(frame) } }
    }

    private func block(_ value: Float, _ number: Int, channels: Int = 2) -> AudioFrame {
        AudioFrame(
            samples: Array(repeating: value, count: 960 * channels), channels: channels, sampleRate: 48_000,
            timestamp: .milliseconds(number * 20))
    }

    @Test("Blocks from two threads are mixed in order, each once")
    func order() async {
        let clock = Clock()
        let mixer = AudioMixer { clock.now.withLock { $0 } }
        let sources = [PushAudioSource(), PushAudioSource()]
        let log = Log()
        mixer.add(log)
        for source in sources { mixer.add(input: source) }
        // The threads go in step, a block at a time: neither is ahead by more than is waited for.
        let gates = [DispatchSemaphore(value: 1), DispatchSemaphore(value: 1)]
        await withTaskGroup(of: Void.self) { group in
            for (index, source) in sources.enumerated() {
                group.addTask {
                    await withCheckedContinuation { continuation in
                        Thread.detachNewThread {
                            for number in 0..<500 {
                                gates[index].wait()
                                clock.now.withLock { $0 = .milliseconds(number * 20) }
                                source.capture(block(0.25, number))
                                gates[1 - index].signal()
                            }
                            continuation.resume()
                        }
                    }
                }
            }
        }
        let frames = log.frames
        #expect(frames.map(\.timestamp) == (0..<500).map { .milliseconds($0 * 20) })
        #expect(frames.allSatisfy { $0.samples.allSatisfy { $0 == 0.5 } })
    }

    @Test(
        "An input with timestamps in the future silences neither others nor itself",
        arguments: [1, 3600, 1_000_000_000], [1, 3])
    func future(seconds: Int, burst: Int) {
        let now = Locked(Duration.zero)
        let mixer = AudioMixer { now.withLock { $0 } }
        let (honest, ahead) = (PushAudioSource(), PushAudioSource())
        let log = Log()
        mixer.add(log)
        for source in [honest, ahead] { mixer.add(input: source) }
        for number in 0..<99 {
            now.withLock { $0 = .milliseconds((number + 1) * 20) }
            if (number + 1) % burst == 0 {
                for number in number + 1 - burst...number {
                    let block = block(0.5, number)
                    ahead.capture(block.stamped(block.timestamp + .seconds(seconds)))
                }
            }
            honest.capture(block(0.25, number))
        }
        // Both are heard from the second block on, and as long as both are waited for.
        let heard = log.frames.count { $0.samples.contains(0.75) }
        #expect(heard >= 90, "\(heard) of 99 blocks")
    }

    @Test("Inputs are added and removed while others play, and a source that has ended is not waited for")
    func inputs() {
        let mixer = AudioMixer { .zero }
        let (one, other) = (PushAudioSource(), PushAudioSource())
        let log = Log()
        mixer.add(log)
        mixer.add(input: one, volume: 0.5)
        mixer.add(input: one, volume: 1)
        one.capture(block(1, 0))
        mixer.add(input: other)
        one.capture(block(1, 1))
        other.capture(block(1, 1, channels: 1))
        mixer.setVolume(0, ofInput: one)
        one.capture(block(1, 2))
        other.end()
        one.capture(block(1, 3))
        mixer.remove(input: one)
        one.capture(block(1, 4))
        #expect(log.frames.map { $0.samples.first } == [0.5, 1.5, 0, 0])
        #expect(!one.broadcaster.hasSinks)
        // It can come back.
        mixer.add(input: one)
        one.capture(block(0.75, 5))
        #expect(log.frames.last?.samples.first == 0.75)
        // A source that ended is waited for again after its next block.
        other.capture(block(0.25, 6, channels: 1))
        one.capture(block(0.75, 6))
        one.capture(block(0.5, 7))
        #expect(log.frames.last?.samples.first == 1)
    }

    @Test("The next listener does not wait for an input that ended while nobody listened")
    func endWithoutSinks() {
        let mixer = AudioMixer { .zero }
        let (one, other) = (PushAudioSource(), PushAudioSource())
        for source in [one, other] { mixer.add(input: source) }
        other.end()
        for number in [0, 10] {
            let log = Log()
            mixer.add(log)
            one.capture(block(1, number))
            #expect(log.frames.map { $0.samples.first } == [1])
            mixer.remove(log)
        }
    }

    @Test("Inputs run only while the mixer has a sink, and a later sink receives no audio from before")
    func pause() {
        let mixer = AudioMixer { .zero }
        let sources = [PushAudioSource(), PushAudioSource()]
        for source in sources { mixer.add(input: source, volume: 0.5) }
        #expect(!sources.contains { $0.broadcaster.hasSinks })
        let (first, second) = (Log(), Log())
        mixer.add(first)
        mixer.add(second)
        mixer.remove(first)
        #expect(sources.allSatisfy { $0.broadcaster.hasSinks })
        // This waits for the other input.
        sources[0].capture(block(1, 0))
        mixer.remove(second)
        #expect(!sources.contains { $0.broadcaster.hasSinks })
        mixer.add(first)
        for number in 10..<12 {
            for source in sources { source.capture(block(0.5, number)) }
        }
        #expect(first.frames.map(\.timestamp) == [.milliseconds(200), .milliseconds(220)])
        #expect(first.frames.allSatisfy { $0.samples.allSatisfy { $0 == 0.5 } } && second.frames.isEmpty)
    }

    @Test("A released mixer is detached from its sources")
    func release() {
        let source = PushAudioSource()
        var mixer: AudioMixer? = AudioMixer()
        mixer?.add(input: source)
        mixer?.add(Log())
        #expect(source.broadcaster.hasSinks)
        mixer = nil
        #expect(mixer == nil && !source.broadcaster.hasSinks)
    }

    @Test("The sum of two full-scale inputs stays finite when it is encoded")
    func fullScale() throws {
        let mixer = AudioMixer()
        let sources = [PushAudioSource(), PushAudioSource()]
        let log = Log()
        mixer.add(log)
        for source in sources { mixer.add(input: source, volume: 1) }
        for number in 0..<20 {
            let tone = Signals.tones([440, 440], amplitude: 1, from: number * 960, count: 960)
            for source in sources {
                source.capture(
                    AudioFrame(samples: tone, channels: 2, sampleRate: 48_000, timestamp: .milliseconds(number * 20)))
            }
        }
        #expect(log.frames.flatMap(\.samples).map { abs($0) }.max() ?? 0 > 1.9)
        let encoder = try OpusEncoder(
            configuration: .init(channels: 2, application: .music, bitrate: .kilobitsPerSecond(128)))
        let decoder = try OpusDecoder(channels: 2)
        var heard: [Float] = []
        for frame in log.frames {
            guard case .packet(let packet) = try encoder.encode(frame.samples) else { continue }
            heard += try decoder.decode(packet)
        }
        #expect(heard.allSatisfy { $0.isFinite && abs($0) < 1.3 })
        #expect(Signals.amplitude(of: 440, in: Signals.channel(0, of: Array(heard.suffix(9600)), channels: 2)) > 0.8)
    }
}
