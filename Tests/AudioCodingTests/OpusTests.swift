import Testing

@testable import RTCShareAudioCoding
import RTCShareWireFormat

/// Encodes a whole sound in blocks of 20 ms; nil stands for a block that is not to be sent.
func encode(_ samples: [Float], with encoder: OpusEncoder, block: Int = 960) throws -> [[UInt8]?] {
    let length = block * encoder.configuration.channels
    return try stride(from: 0, through: samples.count - length, by: length).map { start in
        switch try encoder.encode(Array(samples[start..<(start + length)])) {
        case .packet(let packet): packet
        case .silence: nil
        }
    }
}

@Suite("Opus")
struct OpusTests {
    @Test("A tone keeps its frequency and loudness", arguments: [OpusEncoder.Application.voice, .music], [1, 2])
    func tone(application: OpusEncoder.Application, channels: Int) throws {
        let encoder = try OpusEncoder(configuration: .init(channels: channels, application: application))
        let decoder = try OpusDecoder(channels: channels)
        let sound = Signals.tones(Array(repeating: 1000, count: channels), count: 48_000)
        let decoded = try encode(sound, with: encoder).compactMap { $0 }.flatMap { try decoder.decode($0) }
        #expect(decoded.count == sound.count)
        for channel in 0..<channels {
            let heard = Array(Signals.channel(channel, of: decoded, channels: channels).dropFirst(9600))
            #expect(abs(Signals.amplitude(of: 1000, in: heard) - 0.5) < 0.05)
            #expect(abs(Signals.energy(heard) - 0.125) < 0.02)
            for other in [500.0, 900, 1100, 2000, 3000] {
                #expect(Signals.amplitude(of: other, in: heard) < 0.02)
            }
        }
    }

    @Test("The left and right channels stay separate")
    func stereo() throws {
        let encoder = try OpusEncoder(configuration: .init(channels: 2, application: .music))
        let decoder = try OpusDecoder(channels: 2)
        let sound = Signals.tones([440, 1320], count: 48_000)
        let decoded = try encode(sound, with: encoder).compactMap { $0 }.flatMap { try decoder.decode($0) }
        let left = Array(Signals.channel(0, of: decoded, channels: 2).dropFirst(9600))
        let right = Array(Signals.channel(1, of: decoded, channels: 2).dropFirst(9600))
        #expect(Signals.amplitude(of: 440, in: left) > 0.45)
        #expect(Signals.amplitude(of: 1320, in: left) < 0.02)
        #expect(Signals.amplitude(of: 1320, in: right) > 0.45)
        #expect(Signals.amplitude(of: 440, in: right) < 0.02)
    }

    @Test("Music has the full audio bandwidth, limited to the receiver's maximum playback rate")
    func bandwidth() throws {
        for (rate, hears) in [(48_000, true), (24_000, false), (16_000, false), (8000, false)] {
            let encoder = try OpusEncoder(
                configuration: .init(channels: 1, application: .music, maximumPlaybackRate: rate))
            let decoder = try OpusDecoder(channels: 1)
            let sound = zip(
                Signals.tones([15_000], amplitude: 0.3, count: 48_000),
                Signals.tones([1000], amplitude: 0.3, count: 48_000)
            )
            .map { $0 + $1 }
            let decoded = try encode(sound, with: encoder).compactMap { $0 }.flatMap { try decoder.decode($0) }
            let heard = Array(decoded.dropFirst(9600))
            #expect((Signals.amplitude(of: 15_000, in: heard) > 0.2) == hears, "\(rate)")
            #expect(Signals.amplitude(of: 1000, in: heard) > 0.25, "\(rate)")
        }
    }

    @Test("The encoder keeps to its bitrate", arguments: [16_000, 32_000, 64_000, 128_000, 256_000])
    func bitrate(rate: Int) throws {
        for isConstant in [true, false] {
            let encoder = try OpusEncoder(
                configuration: .init(
                    channels: 2, application: .music, bitrate: .bitsPerSecond(rate), isConstantBitrate: isConstant))
            let packets = try encode(Signals.noise(count: 5 * 96_000), with: encoder).compactMap { $0 }
            let measured = packets.reduce(0) { $0 + $1.count } * 8 / 5
            #expect(Double(measured) < Double(rate) * 1.08, "constant \(isConstant): \(measured)")
            #expect(Double(measured) > Double(rate) * 0.7, "constant \(isConstant): \(measured)")
            if isConstant { #expect(Set(packets.map(\.count)).count == 1) }
        }
    }

    @Test("Every packet fits into a datagram, whatever the rate and the block")
    func largest() throws {
        let encoder = try OpusEncoder(
            configuration: .init(channels: 2, application: .music, bitrate: .kilobitsPerSecond(510)))
        for block in OpusEncoder.blockSizes {
            let packets = try encode(Signals.noise(count: 96_000), with: encoder, block: block).compactMap { $0 }
            #expect(packets.allSatisfy { $0.count <= OpusEncoder.largestPacket })
            #expect(try packets.allSatisfy { try OpusPacketLayout.sampleCount(of: $0) == block })
        }
    }

    @Test("Only comfort noise is sent in pauses of a voice, while music is always sent")
    func discontinuous() throws {
        let sound =
            Signals.speech(count: 96_000) + [Float](repeating: 0, count: 4 * 48_000) + Signals.speech(count: 48_000)
        let voice = try OpusEncoder(configuration: .init(channels: 1, application: .voice))
        let sent = try encode(sound, with: voice)
        #expect(sent[0..<100].allSatisfy { $0 != nil })
        let pause = sent[120..<300]
        #expect(pause.filter { $0 == nil }.count > pause.count * 9 / 10)
        #expect(pause.contains { $0 != nil })
        #expect(sent[302...].allSatisfy { $0 != nil })
        #expect(sent.compactMap { $0 }.allSatisfy { $0.count > 2 })

        var configuration = OpusEncoder.Configuration(channels: 1, application: .music)
        configuration.usesDTX = true
        let music = try OpusEncoder(configuration: configuration)
        #expect(try encode(sound, with: music).allSatisfy { $0 != nil })

        configuration = .init(channels: 1, application: .voice, usesDTX: false)
        let always = try OpusEncoder(configuration: configuration)
        #expect(try encode(sound, with: always).allSatisfy { $0 != nil })
    }

    @Test("A repetition in the next packet restores a lost packet better than concealment does")
    func forwardErrorCorrection() throws {
        let encoder = try OpusEncoder(
            configuration: .init(
                channels: 1, application: .voice, bitrate: .kilobitsPerSecond(32), expectedLoss: 0.2, usesDTX: false))
        let packets = try encode(Signals.speech(count: 4 * 48_000), with: encoder).compactMap { $0 }
        #expect(packets.filter { OpusPacketLayout.repeatsLastFrame($0) }.count > packets.count / 2)

        let whole = try OpusDecoder(channels: 1)
        let mended = try OpusDecoder(channels: 1)
        let guessed = try OpusDecoder(channels: 1)
        var errors = (mended: 0.0, guessed: 0.0)
        for (index, packet) in packets.enumerated() {
            let original = try whole.decode(packet)
            if index % 8 == 7, index + 1 < packets.count {
                let repeated = try mended.decodeLost(following: packets[index + 1], sampleCount: 960)
                let made = try guessed.conceal(sampleCount: 960)
                #expect(repeated.count == 960)
                #expect(made.count == 960)
                errors.mended += Signals.difference(original, repeated)
                errors.guessed += Signals.difference(original, made)
            } else {
                _ = try mended.decode(packet)
                _ = try guessed.decode(packet)
            }
        }
        #expect(errors.mended < errors.guessed / 2, "\(errors)")
    }

    @Test("Repetitions are detected in the packets that contain them and in no others")
    func repetitionsSeen() throws {
        let sound = Signals.speech(count: 48_000)
        for block in [480, 960, 1920, 2880] {
            for channels in [1, 2] {
                for (loss, repeats) in [(0.0, false), (0.3, true)] {
                    let encoder = try OpusEncoder(
                        configuration: .init(
                            channels: channels, application: .voice, bitrate: .kilobitsPerSecond(24 * channels),
                            expectedLoss: loss, usesDTX: false, maximumPlaybackRate: 16_000))
                    let speech = sound.flatMap { Array(repeating: $0, count: channels) }
                    let packets = try encode(speech, with: encoder, block: block).compactMap { $0 }.dropFirst(4)
                    let share =
                        Double(packets.filter { OpusPacketLayout.repeatsLastFrame($0) }.count) / Double(packets.count)
                    #expect(repeats ? share > 0.5 : share == 0, "\(block) \(channels): \(share)")
                }
            }
        }
        let music = try OpusEncoder(configuration: .init(channels: 2, application: .music))
        let packets = try encode(Signals.noise(count: 96_000), with: music).compactMap { $0 }
        #expect(!packets.contains { OpusPacketLayout.repeatsLastFrame($0) })
    }

    @Test("Concealment fades out")
    func concealmentFades() throws {
        let encoder = try OpusEncoder(configuration: .init(channels: 1, application: .voice))
        let decoder = try OpusDecoder(channels: 1)
        for packet in try encode(Signals.speech(count: 38_400), with: encoder) {
            if let packet { _ = try decoder.decode(packet) }
        }
        let made = try (0..<25).map { _ in Signals.energy(try decoder.conceal(sampleCount: 960)) }
        #expect(made[0] > 1e-3)
        #expect(made[24] < made[0] / 10, "\(made)")
        #expect(try decoder.conceal(sampleCount: 7).count == 7)
    }

    @Test("Settings change while the encoder runs, and decoding continues")
    func reconfiguration() throws {
        var configuration = OpusEncoder.Configuration(channels: 2, application: .music)
        let encoder = try OpusEncoder(configuration: configuration)
        let decoder = try OpusDecoder(channels: 2)
        var position = 0
        func hear() throws -> [Float] {
            defer { position += 48_000 }
            let sound = Signals.tones([440, 440], from: position, count: 48_000)
            return try encode(sound, with: encoder).compactMap { $0 }.flatMap { try decoder.decode($0) }
        }
        let changes: [(inout OpusEncoder.Configuration) -> Void] = [
            { _ in }, { $0.bitrate = .kilobitsPerSecond(24) }, { $0.expectedLoss = 0.3 },
            { $0.maximumPlaybackRate = 16_000 },
            { $0.isConstantBitrate = true }, { $0.complexity = 0 }, { $0.usesInbandFEC = false },
            { $0.application = .voice }, { $0.bitrate = .kilobitsPerSecond(256) },
        ]
        for (index, change) in changes.enumerated() {
            change(&configuration)
            try encoder.reconfigure(configuration)
            #expect(encoder.configuration == configuration)
            let left = Array(Signals.channel(0, of: try hear(), channels: 2).dropFirst(9600))
            #expect(Signals.amplitude(of: 440, in: left) > 0.4, "change \(index)")
        }
        configuration.channels = 1
        try encoder.reconfigure(configuration)
        let mono = Signals.tones([440], count: 48_000)
        let decoded = try encode(mono, with: encoder).compactMap { $0 }.flatMap { try decoder.decode($0) }
        #expect(
            Signals.amplitude(of: 440, in: Array(Signals.channel(1, of: decoded, channels: 2).dropFirst(9600))) > 0.4)
    }

    @Test("A higher bitrate takes effect with the next packets")
    func rateChange() throws {
        var configuration = OpusEncoder.Configuration(channels: 2, application: .music, bitrate: .kilobitsPerSecond(32))
        let encoder = try OpusEncoder(configuration: configuration)
        let low = try encode(Signals.noise(count: 96_000), with: encoder).compactMap { $0?.count }.reduce(0, +)
        configuration.bitrate = .kilobitsPerSecond(128)
        try encoder.reconfigure(configuration)
        let high = try encode(Signals.noise(count: 96_000), with: encoder).compactMap { $0?.count }.reduce(0, +)
        #expect(high > 3 * low)
    }

    @Test("Overloud samples are soft-clipped, and non-numbers become silence")
    func loud() throws {
        let encoder = try OpusEncoder(configuration: .init(channels: 1, application: .music))
        let decoder = try OpusDecoder(channels: 1)
        let sound = Signals.tones([440], amplitude: 3, count: 48_000)
        let decoded = try encode(sound, with: encoder).compactMap { $0 }.flatMap { try decoder.decode($0) }
        let heard = Array(decoded.dropFirst(9600))
        #expect(Signals.amplitude(of: 440, in: heard) > 0.9)
        #expect(heard.allSatisfy { abs($0) < 1.6 })
        for value in [Float.nan, .infinity, -.infinity, .greatestFiniteMagnitude] {
            _ = try encoder.encode([Float](repeating: value, count: 960))
        }
        let after = try encode(Signals.tones([440], count: 48_000), with: encoder).compactMap { $0 }
            .flatMap { try decoder.decode($0) }
        #expect(abs(Signals.amplitude(of: 440, in: Array(after.dropFirst(9600))) - 0.5) < 0.05)
    }

    @Test("The errors for invalid settings and lengths name the valid ones")
    func refusals() throws {
        let good = OpusEncoder.Configuration(channels: 1, application: .voice)
        let changes: [(inout OpusEncoder.Configuration) -> Void] = [
            { $0.channels = 0 }, { $0.channels = 3 }, { $0.bitrate = .bitsPerSecond(5999) },
            { $0.bitrate = .bitsPerSecond(510_001) },
            { $0.expectedLoss = -0.1 }, { $0.expectedLoss = 1.1 }, { $0.expectedLoss = .nan },
            { $0.maximumPlaybackRate = 7999 }, { $0.maximumPlaybackRate = 96_000 }, { $0.complexity = 11 },
            { $0.complexity = -1 },
        ]
        let encoder = try OpusEncoder(configuration: good)
        for change in changes {
            var bad = good
            change(&bad)
            #expect(throws: AudioCodingError.self) { try OpusEncoder(configuration: bad) }
            #expect(throws: AudioCodingError.self) { try encoder.reconfigure(bad) }
            #expect(encoder.configuration == good)
        }
        for count in [0, 1, 959, 961, 5760] {
            #expect(throws: AudioCodingError.self) { try encoder.encode([Float](repeating: 0, count: count)) }
        }
        let stereo = try OpusEncoder(configuration: .init(channels: 2, application: .music))
        #expect(
            throws: AudioCodingError.wrongSampleCount(
                count: 961, allowed: "120, 240, 480, 960, 1920, 2880 for each of 2 channels")
        ) { try stereo.encode([Float](repeating: 0, count: 961)) }
        #expect(throws: AudioCodingError.self) { try OpusDecoder(channels: 3) }
        let decoder = try OpusDecoder(channels: 1)
        #expect(throws: AudioCodingError.emptyPacket) { try decoder.decode([]) }
        #expect(throws: AudioCodingError.emptyPacket) { try decoder.decodeLost(following: [], sampleCount: 960) }
        for count in [Int.min, 0, 5761, .max] {
            #expect(throws: AudioCodingError.self) { try decoder.conceal(sampleCount: count) }
        }
    }

    @Test("Hostile packets do not crash the decoder, and the next valid packet is decoded")
    func hostile() throws {
        let encoder = try OpusEncoder(
            configuration: .init(channels: 2, application: .voice, expectedLoss: 0.2, usesDTX: false))
        let good = try encode(Signals.tones([440, 440], count: 48_000), with: encoder).compactMap { $0 }
        let decoder = try OpusDecoder(channels: 2)
        func attack(_ packet: [UInt8]) {
            _ = OpusPacketLayout.repeatsLastFrame(packet)
            if let samples = try? decoder.decode(packet) {
                #expect(samples.count <= 2 * OpusDecoder.largestSampleCount)
            }
            for count in [120, 960, 5760] { _ = try? decoder.decodeLost(following: packet, sampleCount: count) }
        }
        for packet in good.prefix(3) {
            for length in 0...packet.count { attack(Array(packet.prefix(length))) }
            for index in packet.indices {
                var damaged = packet
                damaged[index] ^= 0xFF
                attack(damaged)
            }
        }
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<3000 {
            let length = Int.random(in: 1...200, using: &generator)
            attack((0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) })
        }
        for head in UInt8.min...UInt8.max {
            attack([head])
            attack([head, 0xFF])
            attack([head] + [UInt8](repeating: 0xFF, count: 1500))
        }
        let heard = try good.flatMap { try decoder.decode($0) }
        #expect(
            Signals.amplitude(of: 440, in: Array(Signals.channel(0, of: heard, channels: 2).dropFirst(24_000))) > 0.4)
    }

    @Test("The lookahead equals the decoder's delay")
    func lookahead() throws {
        let encoder = try OpusEncoder(configuration: .init(channels: 1, application: .music))
        #expect(encoder.lookahead == 312)
        let decoder = try OpusDecoder(channels: 1)
        var sound = [Float](repeating: 0, count: 48_000)
        sound.replaceSubrange(24_000..<24_048, with: [Float](repeating: 0.9, count: 48))
        let heard = try encode(sound, with: encoder).compactMap { $0 }.flatMap { try decoder.decode($0) }
        let loudest = heard.indices.max { abs(heard[$0]) < abs(heard[$1]) } ?? 0
        #expect(abs(loudest - (24_024 + encoder.lookahead)) < 48)
    }
}
