import RTCShareLocks
import RTCShareMedia
import Testing

private final class SoundLog: AudioSink {
    private let log = Locked<(frames: [AudioFrame], mutes: [Bool], ends: Int)>(([], [], 0))

    var frames: [AudioFrame] { log.withLock { $0.frames } }
    var mutes: [Bool] { log.withLock { $0.mutes } }
    var ends: Int { log.withLock { $0.ends } }

    func receive(_ frame: AudioFrame) { log.withLock { $0.frames.append(frame) } }
    func sourceDidEnd(error: (any Error)?) { log.withLock { $0.ends += 1 } }
    func muteDidChange(_ isMuted: Bool) { log.withLock { $0.mutes.append(isMuted) } }
}

private func block(_ samples: [Float], channels: Int = 1) -> AudioFrame {
    AudioFrame(samples: samples, channels: channels, sampleRate: 48_000, timestamp: .seconds(1))
}

@Suite("AudioFrame")
struct AudioFrameTests {
    @Test("Samples of an incomplete set of channels are dropped, and an invalid rate or number of channels becomes 1")
    func shape() {
        #expect(block([1, 2, 3, 4, 5], channels: 2).samples == [1, 2, 3, 4])
        #expect(block([1], channels: 2).sampleCount == 0)
        let odd = AudioFrame(samples: [1, 2], channels: -3, sampleRate: 0, timestamp: .zero)
        #expect(odd.channels == 1 && odd.sampleRate == 1 && odd.duration == .seconds(2))
        #expect(AudioFrame(samples: [1], channels: 1, sampleRate: .max, timestamp: .zero).duration == .zero)
    }

    @Test("The duration of a frame is that of one channel", arguments: [(1, 960), (2, 480), (6, 160)])
    func duration(channels: Int, count: Int) {
        let frame = block(Array(repeating: 0, count: 960), channels: channels)
        #expect(frame.sampleCount == count)
        #expect(frame.duration == .nanoseconds(count * 1_000_000_000 / 48_000))
    }

    @Test("Scaling multiplies each sample, and scaling by 0 makes silence even of samples that are not numbers")
    func scaled() {
        #expect(block([0.5, -1]).scaled(by: 2).samples == [1, -2])
        #expect(block([0.5, .nan, .infinity, -1]).scaled(by: 0).samples == [0, 0, 0, 0])
        #expect(block([0.5]).scaled(by: 1) == block([0.5]))
    }

    @Test(
        "Channels are mixed to one by their mean, and one channel is copied to all",
        arguments: [
            (1, [0.5, -0.5], 2, [0.5, 0.5, -0.5, -0.5]), (2, [0.5, 0.25, -1, 1], 1, [0.375, 0]),
            (2, [0.5, 0.25], 2, [0.5, 0.25]), (7, [1, 2, 3, 4, 5, 6, 7], 2, [4, 4]),
            (2, [1, 2], 3, [1, 2, 2]), (2, [1, 3], 0, [2]), (1, [], 2, []),
        ] as [(Int, [Float], Int, [Float])])
    func mixed(channels: Int, samples: [Float], count: Int, expected: [Float]) {
        let mixed = block(samples, channels: channels).mixed(toChannels: count)
        #expect(mixed.samples == expected && mixed.channels == max(1, count))
        #expect(mixed.timestamp == .seconds(1) && mixed.sampleRate == 48_000)
    }

    @Test(
        "Each channel of a WAVE file is mixed to its side: center and surrounds at -3 dB, low-frequency effects not",
        arguments: [3: "LRC", 4: "LRlr", 5: "LRClr", 6: "LRCElr", 8: "LRCElrlr"])
    func surround(channels: Int, order: String) {
        let half = Float(0.5).squareRoot()
        let sides: [Character: [Float]] = [
            "L": [1, 0], "R": [0, 1], "C": [half, half], "E": [0, 0], "l": [half, 0], "r": [0, half],
        ]
        for (channel, name) in order.enumerated() {
            var samples = [Float](repeating: 0, count: channels)
            samples[channel] = 1
            let frame = block(samples, channels: channels)
            #expect(frame.mixed(toChannels: 2).samples == sides[name])
            #expect(frame.mixed(toChannels: 1).samples == [(sides[name] ?? []).reduce(0, +) / 2])
        }
    }
}

@Suite("AudioTrack")
struct AudioTrackTests {
    private let source = PushAudioSource()

    @Test(
        "The volume is 0 to 10, and 1 if it is set to a value that is not finite",
        arguments: [
            (0.5, 0.5), (0, 0), (-3, 0), (10, 10), (11, 10), (.nan, 1), (.infinity, 1), (-.infinity, 1),
        ] as [(Float, Float)])
    func volume(set: Float, expected: Float) {
        let track = AudioTrack(id: "a", source: source)
        let log = SoundLog()
        track.add(log)
        track.volume = set
        #expect(track.volume == expected)
        source.capture(block([0.5, -0.25]))
        #expect(log.frames[0].samples == [0.5 * expected, -0.25 * expected])
    }

    @Test("A disabled track delivers silence of the same length, and a muted track delivers nothing")
    func switches() {
        let track = AudioTrack(id: "a", source: source)
        let (log, late) = (SoundLog(), SoundLog())
        track.add(log)
        track.isEnabled = false
        source.capture(block([0.5, .infinity]))
        #expect(log.frames == [block([0, 0])])
        track.isPaused = true
        track.add(late)
        source.capture(block([0.5]))
        track.isPaused = false
        track.isEnabled = true
        source.capture(block([0.5]))
        #expect(log.frames.count == 2 && log.frames[1] == block([0.5]))
        #expect(log.mutes == [true, false] && late.mutes == [true, false])
    }

    @Test("The mute of a source and that of a track are independent")
    func twoMutes() {
        let track = AudioTrack(id: "a", source: source)
        let log = SoundLog()
        track.add(log)
        track.isPaused = true
        source.broadcaster.isMuted = true
        source.broadcaster.isMuted = false
        #expect(track.isMuted)
        track.isPaused = false
        source.broadcaster.isMuted = true
        #expect(track.isMuted)
        track.remove(log)
        source.broadcaster.isMuted = false
        track.add(log)
        #expect(!track.isMuted)
    }

    @Test("A sink that is added after the end of the source is notified of the end until the source runs again")
    func lateSink() {
        let track = AudioTrack(id: "a", source: source)
        let logs = (0..<4).map { _ in SoundLog() }
        track.add(logs[0])
        source.end()
        track.add(logs[1])
        #expect(logs.map(\.ends) == [1, 1, 0, 0])
        for log in logs { track.remove(log) }
        track.add(logs[2])
        #expect(logs.map(\.ends) == [1, 1, 1, 0])
        source.capture(block([1]))
        track.add(logs[3])
        #expect(logs.map(\.ends) == [1, 1, 1, 0])
    }

    @Test(
        "A track is a sink of its source only while it has sinks, is not retained, and ignores a removed sink"
    )
    func connection() {
        weak var gone: AudioTrack?
        let log = SoundLog()
        do {
            let track = AudioTrack(id: "a", source: source)
            #expect(!source.broadcaster.hasSinks)
            track.add(log)
            source.capture(block([1]))
            track.remove(log)
            #expect(!source.broadcaster.hasSinks)
            source.capture(block([1]))
            track.add(log)
            track.add(log)
            source.capture(block([1]))
            gone = track
        }
        #expect(gone == nil && !source.broadcaster.hasSinks)
        source.capture(block([1]))
        source.end()
        #expect(log.frames.count == 2 && log.ends == 0)
    }
}
