import RTCShareMedia
import Testing

@testable import RTCShareAudioCoding

/// A sender, a network and a player in virtual time.
private struct Call {
    let playout: AudioPlayout
    let packets: [[UInt8]?]
    let channels: Int
    /// Samples a channel in each packet.
    let block: Int
    var frames: [AudioFrame] = []
    var timestamps: [Int64] = []

    init(_ sound: [Float], configuration: OpusEncoder.Configuration, block: Int = 960) throws {
        channels = configuration.channels
        self.block = block
        playout = try AudioPlayout(channels: channels)
        packets = try encode(sound, with: OpusEncoder(configuration: configuration), block: block)
    }

    /// Sends everything; `arrival` says how many milliseconds a packet takes, nil that it is lost.
    mutating func run(clock: Double = 1, arrival: (_ index: Int) -> Int?) throws {
        var events: [(time: Duration, index: Int, number: Int64)] = []
        var number: Int64 = 1000
        for (index, packet) in packets.enumerated() where packet != nil {
            let sent = Duration.seconds(Double((index + 1) * block) / 48_000 * clock)
            if let delay = arrival(index) { events.append((sent + .milliseconds(delay), index, number)) }
            number += 1
        }
        events.sort { $0.time < $1.time }
        var now: Duration = .zero
        var next = events.startIndex
        let end = Duration.seconds(Double(packets.count * block) / 48_000 * clock)
        while now < end {
            while next < events.endIndex, events[next].time <= now {
                let event = events[next]
                playout.insert(
                    sequenceNumber: event.number, timestamp: Int64(event.index * block) + 90_000,
                    payload: packets[event.index] ?? [], now: event.time)
                next += 1
            }
            while let frame = try playout.pull(now: now) {
                frames.append(frame)
                timestamps.append((playout.playedTimestamp ?? 0) - 90_000)
            }
            now += .milliseconds(5)
        }
    }

    var sound: [Float] { frames.flatMap(\.samples) }
}

@Suite("AudioPlayout")
struct AudioPlayoutTests {
    private let voice = OpusEncoder.Configuration(channels: 1, application: .voice, usesDTX: false)

    @Test(
        "Speech is played in consecutive frames of 20 ms",
        arguments: [120, 240, 480, 960, 1920, 2880])
    func steady(block: Int) throws {
        for channels in [1, 2] {
            var call = try Call(
                Signals.tones([440, 660].prefix(channels).map { $0 }, count: 144_000),
                configuration: .init(channels: channels, application: .music), block: block)
            #expect(call.playout.nextPull == nil)
            try call.run { _ in 30 }
            #expect(call.frames.count > 140)
            for frame in call.frames {
                #expect(frame.sampleCount == 960)
                #expect(frame.channels == channels)
                #expect(frame.sampleRate == 48_000)
            }
            for (one, next) in zip(call.frames, call.frames.dropFirst()) {
                let distance = next.timestamp - one.timestamp
                #expect(distance > .microseconds(19_960) && distance < .microseconds(20_040))
            }
            #expect(call.playout.statistics.concealedSamples == 0)
            #expect(call.playout.statistics.packetsDiscarded == 0)
            for (channel, frequency) in [440.0, 660].prefix(channels).enumerated() {
                let heard = Signals.channel(channel, of: call.sound, channels: channels)
                #expect(Signals.amplitude(of: frequency, in: Array(heard.suffix(48_000))) > 0.4)
            }
            #expect(call.playout.nextPull != nil)
        }
    }

    @Test("A delay that is too long is shortened inaudibly while a tone plays")
    func acceleration() throws {
        var call = try Call(
            Signals.tones([440], count: 10 * 48_000), configuration: .init(channels: 1, application: .music))
        // Six packets are held up and come at once, then the network is quiet.
        try call.run { (50..<56).contains($0) ? 120 - ($0 - 50) * 20 : 0 }
        let statistics = call.playout.statistics
        #expect(statistics.removedSamplesForAcceleration > 2400)
        #expect(call.playout.currentDelay < .milliseconds(60), "\(call.playout.currentDelay)")
        #expect(statistics.packetsDiscarded == 0)
        // Half a second around each moment has one tone of the same loudness.
        let heard = call.sound
        for start in stride(from: 96_000, to: heard.count - 24_000, by: 24_000) {
            #expect(Signals.amplitude(of: 440, in: Array(heard[start..<(start + 24_000)])) > 0.4, "\(start)")
        }
    }

    @Test("Playout follows a sender's clock that runs fast or slow", arguments: [0.999, 1.001])
    func drift(clock: Double) throws {
        var call = try Call(Signals.speech(count: 60 * 48_000), configuration: voice)
        try call.run(clock: clock) { 20 + $0 * 7 % 5 }
        let statistics = call.playout.statistics
        #expect(call.playout.currentDelay < .milliseconds(80), "\(call.playout.currentDelay)")
        #expect(statistics.packetsDiscarded <= 3)
        #expect(statistics.concealedSamples < 10 * 960, "\(statistics)")
        if clock < 1 { #expect(statistics.removedSamplesForAcceleration > 1000) }
    }

    @Test("A delay that is too long is also shortened in noise, which has no periods")
    func accelerationOfNoise() throws {
        var call = try Call(
            Signals.noise(count: 40 * 48_000), configuration: .init(channels: 1, application: .music, complexity: 0))
        try call.run { (100..<112).contains($0) ? 235 - ($0 - 100) * 20 : 0 }
        let statistics = call.playout.statistics
        #expect(call.playout.currentDelay < .milliseconds(50), "\(call.playout.currentDelay)")
        #expect(statistics.removedSamplesForAcceleration > 5000, "\(statistics)")
        #expect(statistics.packetsDiscarded == 0)
        // No seam is a gap: each 20 ms are as loud as the noise was.
        for frame in call.frames.suffix(1700) { #expect(Signals.energy(frame.samples) > 0.01) }
    }

    @Test("Playout follows the clock of a sender of noise", arguments: [0.9995, 1.0005])
    func driftInNoise(clock: Double) throws {
        var call = try Call(
            Signals.noise(count: 100 * 48_000), configuration: .init(channels: 1, application: .music, complexity: 0))
        try call.run(clock: clock) { _ in 20 }
        let statistics = call.playout.statistics
        #expect(call.playout.currentDelay < .milliseconds(60), "\(call.playout.currentDelay)")
        #expect(statistics.packetsDiscarded == 0 && statistics.concealedSamples < 5 * 960, "\(statistics)")
    }

    @Test(
        "Little audio is lost for long on a network with periodic or random delays",
        arguments: [(300, 0), (500, 0), (800, 0), (0, 200), (0, 300)])
    func bursts(hold: Int, jitter: Int) throws {
        var generator = SeededGenerator(seed: 5)
        var call = try Call(Signals.speech(count: 60 * 48_000), configuration: voice)
        var last = 0
        let delays = call.packets.indices.map { index -> Int in
            let sent = (index + 1) * 20
            let held = sent % 1000 < hold ? hold - sent % 1000 : 0
            // Nothing overtakes.
            last = max(last, sent + held + (jitter > 0 ? Int.random(in: 0...jitter, using: &generator) : 0))
            return jitter > 0 ? Int.random(in: 0...jitter, using: &generator) : last - sent
        }
        var first = JitterBufferStatistics()
        let playout = call.playout
        try call.run {
            if $0 == 500 { first = playout.statistics }
            return delays[$0]
        }
        let statistics = playout.statistics
        let concealed = statistics.concealedSamples - first.concealedSamples
        let share = Double(concealed) / Double(statistics.totalSamplesReceived - first.totalSamplesReceived)
        #expect(share < (hold > 0 ? 0.01 : 0.04), "\(share) at a wait of \(playout.currentDelay)")
    }

    @Test("Repetitions are used when packets are lost, and improve the audio")
    func recovery() throws {
        let sound = Signals.speech(count: 5 * 48_000)
        var configuration = voice
        configuration.expectedLoss = 0.2
        var whole = try Call(sound, configuration: configuration)
        try whole.run { _ in 10 }
        var lossy = try Call(sound, configuration: configuration)
        try lossy.run { $0 % 10 == 7 ? nil : 10 }
        let statistics = lossy.playout.statistics
        #expect(statistics.fecPacketsReceived > 100)
        #expect(statistics.concealedSamples < 20 * 960)
        #expect(statistics.concealmentEvents == statistics.concealedSamples / 960)
        #expect(lossy.frames.count == whole.frames.count)
        let difference = Signals.difference(whole.sound, lossy.sound)
        #expect(difference < Signals.energy(whole.sound) / 20, "\(difference) of \(Signals.energy(whole.sound))")
    }

    @Test(
        "Audio on a lossy, jittery network has no gap, and little of it is concealed", arguments: [1, 2, 3] as [UInt64])
    func roughNetwork(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var configuration = voice
        configuration.expectedLoss = 0.1
        var call = try Call(Signals.speech(count: 20 * 48_000), configuration: configuration)
        let delays = call.packets.map { _ -> Int? in
            let delay = Int.random(in: 10...70, using: &generator)
            return Int.random(in: 0..<10, using: &generator) == 0 ? nil : delay
        }
        try call.run { delays[$0] }
        let statistics = call.playout.statistics
        #expect(call.frames.count > 980)
        for (one, next) in zip(call.frames, call.frames.dropFirst()) {
            let distance = next.timestamp - one.timestamp
            #expect(distance > .microseconds(19_960) && distance < .microseconds(20_040))
        }
        #expect(call.playout.currentDelay < .milliseconds(150))
        // A tenth is lost; most of that is recovered, and few packets come too late.
        #expect(statistics.concealedSamples < statistics.totalSamplesReceived * 6 / 100, "\(statistics)")
        #expect(statistics.packetsDiscarded < 30, "\(statistics)")
        #expect(statistics.silentConcealedSamples == 0)
    }

    @Test("A pause with DTX is quiet, counts as no loss, and the voice returns")
    func pause() throws {
        let sound =
            Signals.speech(count: 96_000) + [Float](repeating: 0, count: 144_000) + Signals.speech(count: 96_000)
        var call = try Call(sound, configuration: .init(channels: 1, application: .voice))
        try call.run { _ in 15 }
        let statistics = call.playout.statistics
        #expect(statistics.concealmentEvents == 0)
        #expect(statistics.silentConcealedSamples > 96_000)
        #expect(statistics.concealedSamples - statistics.silentConcealedSamples == 0)
        let heard = call.sound
        #expect(Signals.energy(heard[130_000..<230_000]) < 1e-5)
        #expect(Signals.energy(heard[260_000..<320_000]) > 1e-3)
        // Each frame says which of the sender's samples it holds, pauses and all.
        #expect(abs((call.timestamps.last ?? 0) - Int64(call.frames.count - 1) * 960) < 3000)
    }

    @Test("Invalid packets are counted, concealed and do no harm")
    func hostile() throws {
        let playout = try AudioPlayout(channels: 2)
        var generator = SeededGenerator(seed: 11)
        var frames = 0
        for index in 0..<3000 {
            let now: Duration = .milliseconds(20 * index)
            let payload = (0..<Int.random(in: 0...60, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            playout.insert(sequenceNumber: Int64(index), timestamp: Int64(index) * 960, payload: payload, now: now)
            while let frame = try playout.pull(now: now) {
                frames += 1
                #expect(frame.samples.allSatisfy { $0.isFinite })
            }
        }
        #expect(frames > 2900)
        #expect(playout.statistics.packetsDiscarded > 100)
    }
}

@Suite("TimeScaling")
struct TimeScalingTests {
    @Test("A scaled tone stays a tone", arguments: [100.0, 220, 440, 997, 3000])
    func tone(frequency: Double) throws {
        for channels in [1, 2] {
            let sound = Signals.tones(Array(repeating: frequency, count: channels), count: 960)
            let shorter = try #require(TimeScaling.shortened(sound, channels: channels, limit: 4800))
            let longer = try #require(TimeScaling.lengthened(sound, channels: channels, limit: 4800))
            #expect(shorter.samples.count == sound.count - shorter.removed * channels)
            #expect(longer.samples.count == sound.count + longer.added * channels)
            for result in [shorter.samples, longer.samples] {
                // It begins and ends as the block did, so that the blocks beside it fit on.
                #expect(abs(result[0] - sound[0]) < 0.1)
                #expect(result.suffix(100 * channels) == sound.suffix(100 * channels))
                let steps = zip(result, result.dropFirst(channels)).map { abs($0 - $1) }
                let largest = zip(sound, sound.dropFirst(channels)).map { abs($0 - $1) }.max() ?? 0
                #expect((steps.max() ?? 1) < largest * 1.3)
                #expect(abs(Signals.energy(result) - 0.125) < 0.03)
            }
        }
    }

    @Test("Noise is scaled only on demand, silence always, and short blocks never")
    func limits() {
        let noise = Signals.noise(count: 960)
        #expect(TimeScaling.shortened(noise, channels: 1, limit: 4800) == nil)
        #expect(TimeScaling.lengthened(noise, channels: 1, limit: 4800) == nil)
        let less = TimeScaling.shortened(noise, channels: 1, limit: 4800, anyway: true)
        let more = TimeScaling.lengthened(noise, channels: 1, limit: 4800, anyway: true)
        #expect(less.map { (120...480).contains($0.removed) && $0.samples.count == 960 - $0.removed } == true)
        #expect(more.map { (120...480).contains($0.added) && $0.samples.count == 960 + $0.added } == true)
        let silence = [Float](repeating: 0, count: 960)
        #expect(TimeScaling.shortened(silence, channels: 1, limit: 4800)?.removed == 480)
        #expect(TimeScaling.lengthened(silence, channels: 1, limit: 300)?.added == 300)
        #expect(TimeScaling.shortened(silence, channels: 1, limit: 100) == nil)
        #expect(TimeScaling.shortened([], channels: 2, limit: 4800) == nil)
        #expect(TimeScaling.shortened([Float](repeating: 0, count: 300), channels: 1, limit: 4800) == nil)
    }
}
