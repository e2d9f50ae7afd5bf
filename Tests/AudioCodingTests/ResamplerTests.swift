import RTCShareAudioCoding
import Testing

@Suite("Resampler")
struct ResamplerTests {
    @Test(
        "Resampling keeps frequency, loudness and length",
        arguments: [
            (44_100, 48_000), (48_000, 44_100), (8000, 48_000), (96_000, 48_000), (48_000, 8000), (11_025, 48_000),
            (192_000, 48_000), (48_000, 48_000), (44_056, 48_000),
        ], Resampler.Quality.allCases)
    func tone(rates: (from: Int, to: Int), quality: Resampler.Quality) throws {
        for channels in [1, 2] {
            let resampler = try Resampler(channels: channels, from: rates.from, to: rates.to, quality: quality)
            let frequencies = Array([440.0, 1500].prefix(channels))
            let sound = Signals.tones(frequencies, sampleRate: rates.from, count: rates.from)
            // Blocks of an odd length, as devices give them.
            var result: [Float] = []
            for start in stride(from: 0, to: sound.count, by: 441 * channels) {
                result += try resampler.process(Array(sound[start..<min(start + 441 * channels, sound.count)]))
            }
            result += try resampler.flush()
            #expect(result.count % channels == 0)
            #expect(abs(result.count / channels - rates.to) <= 1)
            for (channel, frequency) in frequencies.enumerated() {
                let heard = Signals.channel(channel, of: result, channels: channels)
                #expect(abs(Signals.amplitude(of: frequency, in: heard, sampleRate: rates.to) - 0.5) < 0.01)
                #expect(abs(Signals.energy(heard) - 0.125) < 0.005)
                let other = frequency == 440 ? 1500.0 : 440
                #expect(Signals.amplitude(of: other, in: heard, sampleRate: rates.to) < 0.001)
            }
        }
    }

    @Test("Resampling does not delay the audio, and its blocks make no difference")
    func position() throws {
        var sound = [Float](repeating: 0, count: 44_100)
        sound[22_050] = 1
        let resampler = try Resampler(channels: 1, from: 44_100, to: 48_000, quality: .best)
        let whole = try resampler.process(sound) + resampler.flush()
        #expect(whole.indices.max { abs(whole[$0]) < abs(whole[$1]) } == 24_000)
        var parts: [Float] = []
        for start in stride(from: 0, to: sound.count, by: 100) {
            parts += try resampler.process(Array(sound[start..<(start + 100)]))
        }
        parts += try resampler.flush()
        #expect(parts.count == whole.count)
        #expect(Signals.difference(parts, whole) < 1e-12)
    }

    @Test("Frequencies above the new Nyquist frequency are removed, not aliased")
    func aliasing() throws {
        let resampler = try Resampler(channels: 1, from: 48_000, to: 8000)
        let heard = try resampler.process(Signals.tones([7000], count: 48_000)) + resampler.flush()
        // The tone's sudden beginning and end have low frequencies of their own.
        #expect(Signals.energy(heard[800..<7200]) < 1e-9)
    }

    @Test("Invalid settings and lengths are errors")
    func refusals() throws {
        for (channels, from, to) in [
            (0, 48_000, 48_000), (65, 48_000, 44_100), (1, 999, 48_000), (1, 48_000, 0), (1, -1, 48_000),
            (1, 1000, 768_000), (2, .max, 1000),
        ] {
            #expect(throws: AudioCodingError.self) { try Resampler(channels: channels, from: from, to: to) }
        }
        let resampler = try Resampler(channels: 2, from: 44_100, to: 48_000)
        #expect(throws: AudioCodingError.self) { try resampler.process([0, 0, 0]) }
        #expect(try resampler.process([]).isEmpty)
        #expect(try resampler.flush().isEmpty)
        #expect(try resampler.flush().isEmpty)
    }
}
