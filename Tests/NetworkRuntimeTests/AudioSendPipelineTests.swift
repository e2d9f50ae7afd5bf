import AudioCoding
import Foundation
import Media
import NetworkRuntime
import PeerConnection
import RTP
import Testing

/// From a track's sound to the peer's packets.
@Suite(.timeLimit(.minutes(1))) struct AudioSendPipelineTests {
    private static let music = LocalIdentity.MediaKind.audio(streamID: "alice#content", isContent: true)
    private static let voice = LocalIdentity.MediaKind.audio(streamID: "alice", isContent: false)

    /// Blocks of 10 ms of a tone.
    private static func tone(
        _ frequency: Double, sampleRate: Int = 48_000, channels: Int = 2, amplitude: Double = 0.5, from start: Int = 0,
        milliseconds: Int
    ) -> [AudioFrame] {
        let count = sampleRate / 100
        return (start / 10..<(start + milliseconds) / 10).map { block in
            let samples = (0..<count * channels).map { index in
                let time = Double(block * count + index / channels) / Double(sampleRate)
                return Float(amplitude * sin(2 * .pi * frequency * time))
            }
            return AudioFrame(
                samples: samples, channels: channels, sampleRate: sampleRate,
                timestamp: .seconds(1000) + .milliseconds(block * 10))
        }
    }

    /// Something like a voice: a buzz whose pitch and loudness move, in syllables.
    private static func speech(milliseconds: Int) -> [AudioFrame] {
        var phase = 0.0
        return (0..<milliseconds / 10).map { block in
            let samples = (0..<480).map { index -> Float in
                let time = Double(block * 480 + index) / 48_000
                phase += (120 + 25 * sin(2 * .pi * 0.7 * time)) / 48_000
                let loudness = 0.15 + 0.85 * pow(sin(.pi * 3.1 * time), 2)
                let buzz = (1...20).reduce(0.0) { sum, harmonic in
                    let formant = exp(-pow((Double(harmonic) * 120 - 600) / 500, 2)) + 0.3 / Double(harmonic)
                    return sum + formant * sin(2 * .pi * phase * Double(harmonic))
                }
                return Float(0.08 * loudness * buzz)
            }
            return AudioFrame(
                samples: samples, channels: 1, sampleRate: 48_000,
                timestamp: .seconds(1000) + .milliseconds(block * 10))
        }
    }

    /// A pipeline that keeps to what the pair's viewer asked for.
    private static func pipeline(
        _ pair: ConnectedPair, isVoice: Bool, source: CustomAudioSource
    ) async throws -> AudioSendPipeline {
        let pipeline = AudioSendPipeline(settings: .init(isVoice: isVoice))
        pipeline.attach(pair.sender, media: 0)
        pipeline.keep(to: try #require(await pair.sender.opusParameters(media: 0)), of: pair.sender)
        pipeline.replaceTrack(with: AudioTrack(id: "sound", source: source))
        return pipeline
    }

    private static func decode(_ packets: [ReceivedAudioPacket]) throws -> [Float] {
        let decoder = try OpusDecoder(channels: 2)
        let sound = try packets.flatMap { try decoder.decode($0.payload) }
        return stride(from: 0, to: sound.count, by: 2).map { sound[$0] }
    }

    private static func isStereo(_ packet: ReceivedAudioPacket) throws -> Bool {
        try OpusPacket(parsing: packet.payload.span.bytes).isStereo
    }

    /// How often a sound rises through zero, a second.
    private static func frequency(_ sound: [Float]) -> Double {
        let crossings = zip(sound, sound.dropFirst()).count { $0 < 0 && $1 >= 0 }
        return Double(crossings) * 48_000 / Double(sound.count)
    }

    @Test func `44.1 kHz in stereo becomes Opus at 48 kHz in stereo, 20 ms a packet`() async throws {
        let pair = try await ConnectedPair([Self.music])
        let source = CustomAudioSource()
        let pipeline = try await Self.pipeline(pair, isVoice: false, source: source)
        for frame in Self.tone(440, sampleRate: 44_100, milliseconds: 1100) { source.capture(frame) }
        let packets = await pair.sounds(50)
        for packet in packets {
            let opus = try OpusPacket(parsing: packet.payload.span.bytes)
            #expect(opus.isStereo && opus.sampleCount == 960)
            #expect(packet.level.map { (8...10).contains($0.level) } == true)
        }
        #expect(zip(packets, packets.dropFirst()).allSatisfy { $0.timestamp + 960 == $1.timestamp })
        #expect(packets.map(\.marker) == [true] + Array(repeating: false, count: 49))
        #expect(abs(Self.frequency(try Self.decode(packets).suffix(38_400).map { $0 }) - 440) < 5)
        pipeline.stop()
        #expect(pipeline.track == nil && !source.broadcaster.hasSinks)
        await pair.close()
    }

    @Test func `A peer that asks for mono, a low and constant rate gets them`() async throws {
        let pair = try await ConnectedPair([Self.music]) {
            $0.replacing("stereo=1", with: "cbr=1;maxaveragebitrate=16000")
        }
        let source = CustomAudioSource()
        let pipeline = try await Self.pipeline(pair, isVoice: false, source: source)
        for frame in Self.tone(440, milliseconds: 500) { source.capture(frame) }
        let packets = await pair.sounds(20)
        for packet in packets {
            #expect(try !Self.isStereo(packet))
            #expect(packet.payload.count == 40)
        }
        pipeline.stop()
        await pair.close()
    }

    @Test(arguments: [("ptime=40", 1920), ("maxptime=10", 480), ("ptime=30", 960), ("ptime=60;maxptime=20", 960)])
    func `A packet is as long as the peer likes it, and never longer than it allows`(
        parameter: String, sampleCount: Int
    ) async throws {
        let pair = try await ConnectedPair([Self.music]) { $0.replacing("stereo=1", with: "stereo=1;\(parameter)") }
        let source = CustomAudioSource()
        let pipeline = try await Self.pipeline(pair, isVoice: false, source: source)
        for frame in Self.tone(440, milliseconds: 300) { source.capture(frame) }
        for packet in await pair.sounds(5) {
            #expect(try OpusPacket(parsing: packet.payload.span.bytes).sampleCount == sampleCount)
        }
        pipeline.stop()
        await pair.close()
    }

    @Test func `With several peers, the strictest of each; one that goes sets the others free`() async throws {
        let pair = try await ConnectedPair([Self.music])
        let other = try await Loopback.open(as: .offerer)
        let source = CustomAudioSource()
        let pipeline = try await Self.pipeline(pair, isVoice: false, source: source)
        pipeline.attach(other, media: 0)
        for frame in Self.tone(440, milliseconds: 200) { source.capture(frame) }
        // The other peer has said nothing, so mono is what it can take (RFC 7587 §6.1).
        for packet in await pair.sounds(9) { #expect(try !Self.isStereo(packet)) }
        pipeline.detach(other)
        for frame in Self.tone(440, from: 200, milliseconds: 400) { source.capture(frame) }
        let packets = await pair.sounds(15)
        #expect(try Self.isStereo(#require(packets.last)))
        pipeline.stop()
        await pair.close()
        await other.close()
    }

    @Test func `A pause in speech is left out, and the media clock goes on through it`() async throws {
        let pair = try await ConnectedPair([Self.voice])
        let source = CustomAudioSource()
        let pipeline = try await Self.pipeline(pair, isVoice: true, source: source)
        for frame in Self.tone(300, milliseconds: 400) { source.capture(frame) }
        for frame in Self.tone(300, amplitude: 0, from: 400, milliseconds: 3000) { source.capture(frame) }
        for frame in Self.tone(300, from: 3400, milliseconds: 400) { source.capture(frame) }
        var packets: [ReceivedAudioPacket] = []
        repeat {
            packets += await pair.sounds(1)
        } while packets.last.map { $0.timestamp < packets[0].timestamp + 179 * 960 } ?? true
        #expect(packets.count < 110, "\(packets.count) of 180")
        for (earlier, later) in zip(packets, packets.dropFirst()) {
            let step = later.timestamp - earlier.timestamp
            #expect(step % 960 == 0 && later.marker == (step > 960))
            #expect(later.sequenceNumber == earlier.sequenceNumber + 1)
        }
        #expect(packets.dropFirst().contains { $0.marker })
        #expect(packets.allSatisfy { $0.level?.isVoice == (($0.level?.level ?? 0) < 60) })
        pipeline.stop()
        await pair.close()
    }

    @Test func `A source that pauses, and one that takes its place, are where their time says`() async throws {
        let pair = try await ConnectedPair([Self.music])
        let source = CustomAudioSource()
        let pipeline = try await Self.pipeline(pair, isVoice: false, source: source)
        for frame in Self.tone(440, milliseconds: 200) { source.capture(frame) }
        for frame in Self.tone(440, from: 1200, milliseconds: 200) { source.capture(frame) }
        let packets = await pair.sounds(20)
        #expect(packets[10].timestamp - packets[9].timestamp == 960 + 48_000 && packets[10].marker)
        let other = CustomAudioSource()
        pipeline.replaceTrack(with: AudioTrack(id: "other", source: other))
        source.capture(Self.tone(440, milliseconds: 10)[0])
        for frame in Self.tone(1000, from: 2400, milliseconds: 1000) { other.capture(frame) }
        let later = await pair.sounds(50)
        #expect(later[0].timestamp - packets[19].timestamp == 960 + 48_000 && later[0].marker)
        #expect(abs(Self.frequency(try Self.decode(later).suffix(38_400).map { $0 }) - 1000) < 10)
        pipeline.stop()
        await pair.close()
    }

    @Test func `Where packets are lost, the next ones repeat them`() async throws {
        for loss in [0.0, 0.25] {
            let pair = try await ConnectedPair([Self.voice])
            let source = CustomAudioSource()
            let pipeline = try await Self.pipeline(pair, isVoice: true, source: source)
            pipeline.update { $0.bitsPerSecond = 24_000 }
            pipeline.note(loss: loss, of: pair.sender)
            for frame in Self.speech(milliseconds: 1000) { source.capture(frame) }
            let packets = await pair.sounds(45)
            // A decoder that has heard nothing has nothing else to make the lost packet of.
            let decoder = try OpusDecoder(channels: 1)
            let repeated = try decoder.decodeLost(following: packets[40].payload, sampleCount: 960)
            #expect((repeated.contains { abs($0) > 0.01 }) == (loss > 0))
            pipeline.stop()
            await pair.close()
        }
    }

    @Test func `A pipeline that was stopped takes no track any more`() throws {
        let pipeline = AudioSendPipeline(settings: .init(isVoice: true))
        let (one, other) = (CustomAudioSource(), CustomAudioSource())
        pipeline.replaceTrack(with: AudioTrack(id: "one", source: one))
        pipeline.replaceTrack(with: AudioTrack(id: "other", source: other))
        #expect(!one.broadcaster.hasSinks && other.broadcaster.hasSinks)
        pipeline.stop()
        pipeline.stop()
        pipeline.replaceTrack(with: AudioTrack(id: "late", source: one))
        #expect(!one.broadcaster.hasSinks && !other.broadcaster.hasSinks)
    }
}
