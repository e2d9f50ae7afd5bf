import Foundation
import NIOCore
import RTCShareAudioCoding
import RTCShareMedia
import RTCSharePeerConnection
import RTCShareRTP
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCShareStreams
@testable import RTCShareTransport

/// From a track's audio to the peer's packets.
@Suite(.timeLimit(.minutes(1))) struct AudioSendStreamTests {
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

    /// Blocks of 10 ms of noise, the same each time.
    private static func noise(from start: Int, milliseconds: Int) -> [AudioFrame] {
        var state = UInt64(start + 1)
        return (start / 10..<(start + milliseconds) / 10).map { block in
            let samples = (0..<960).map { _ -> Float in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return Float(state >> 40) / Float(1 << 24) - 0.5
            }
            return AudioFrame(
                samples: samples, channels: 2, sampleRate: 48_000,
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

    /// Returns a stream with the viewer's requested parameters.
    private static func stream(
        _ pair: ConnectedPair, isVoice: Bool, source: PushAudioSource
    ) async throws -> AudioSendStream {
        let stream = try AudioSendStream(settings: .init(isVoice: isVoice))
        stream.attach(pair.sender, media: 0, opus: await pair.agreement(media: 0).opus)
        stream.replaceTrack(with: AudioTrack(id: "sound", source: source))
        await waitUntil { source.broadcaster.hasSinks }
        return stream
    }

    /// Sends blocks to the stream's source after the stream has processed its events.
    private static func play(_ blocks: [AudioFrame], from source: PushAudioSource, to stream: AudioSendStream) async {
        await stream.settle()
        for block in blocks { source.capture(block) }
    }

    private static func order(_ configuration: OpusEncoder.Configuration) -> AudioEncoder.Order {
        AudioEncoder.Order(configuration: configuration, blockSize: 960)
    }

    private static func decode(_ packets: [ReceivedAudioPacket]) throws -> [Float] {
        let decoder = try OpusDecoder(channels: 2)
        let sound = try packets.flatMap { try decoder.decode($0.payload) }
        return stride(from: 0, to: sound.count, by: 2).map { sound[$0] }
    }

    private static func isStereo(_ packet: ReceivedAudioPacket) throws -> Bool {
        try OpusPacket(parsing: packet.payload.span.bytes).isStereo
    }

    /// Returns the number of a signal's rising zero crossings per second.
    private static func frequency(_ sound: [Float]) -> Double {
        let crossings = zip(sound, sound.dropFirst()).count { $0 < 0 && $1 >= 0 }
        return Double(crossings) * 48_000 / Double(sound.count)
    }

    @Test("44.1 kHz in stereo becomes Opus at 48 kHz in stereo with 20 ms per packet")
    func resampling() async throws {
        let pair = try await ConnectedPair([Self.music])
        let source = PushAudioSource()
        let stream = try await Self.stream(pair, isVoice: false, source: source)
        await Self.play(Self.tone(440, sampleRate: 44_100, milliseconds: 1100), from: source, to: stream)
        let packets = await pair.sounds(50)
        for packet in packets {
            let opus = try OpusPacket(parsing: packet.payload.span.bytes)
            #expect(opus.isStereo && opus.sampleCount == 960)
            #expect(packet.level.map { (8...10).contains($0.level) } == true)
        }
        #expect(zip(packets, packets.dropFirst()).allSatisfy { $0.timestamp + 960 == $1.timestamp })
        #expect(packets.map(\.marker) == [true] + Array(repeating: false, count: 49))
        #expect(abs(Self.frequency(try Self.decode(packets).suffix(38_400).map { $0 }) - 440) < 5)
        stream.stop()
        #expect(stream.track == nil)
        await waitUntil { !source.broadcaster.hasSinks }
        await pair.close()
    }

    @Test("A peer that requests mono and a low, constant bitrate gets them")
    func peerAsksMono() async throws {
        let pair = try await ConnectedPair([Self.music]) {
            $0.replacing("stereo=1", with: "cbr=1;maxaveragebitrate=16000")
        }
        let source = PushAudioSource()
        let stream = try await Self.stream(pair, isVoice: false, source: source)
        await Self.play(Self.tone(440, milliseconds: 500), from: source, to: stream)
        let packets = await pair.sounds(20)
        for packet in packets {
            #expect(try !Self.isStereo(packet))
            #expect(packet.payload.count == 40)
        }
        stream.stop()
        await pair.close()
    }

    @Test(
        "A packet has the peer's preferred duration, and never more than its maximum",
        arguments: [("ptime=40", 1920), ("maxptime=10", 480), ("ptime=30", 960), ("ptime=60;maxptime=20", 960)])
    func packetLength(
        parameter: String, sampleCount: Int
    ) async throws {
        let pair = try await ConnectedPair([Self.music]) { $0.replacing("stereo=1", with: "stereo=1;\(parameter)") }
        let source = PushAudioSource()
        let stream = try await Self.stream(pair, isVoice: false, source: source)
        await Self.play(Self.tone(440, milliseconds: 300), from: source, to: stream)
        for packet in await pair.sounds(5) {
            #expect(try OpusPacket(parsing: packet.payload.span.bytes).sampleCount == sampleCount)
        }
        stream.stop()
        await pair.close()
    }

    @Test("The strictest of several peers' limits holds until that peer leaves")
    func strictestPeer() async throws {
        let pair = try await ConnectedPair([Self.music])
        let other = try await Loopback.open(as: .offerer)
        let source = PushAudioSource()
        let stream = try await Self.stream(pair, isVoice: false, source: source)
        var parameters = try #require(await pair.agreement(media: 0).opus)
        parameters.isConstantBitrate = true
        parameters.maximumAverageBitrate = .kilobitsPerSecond(32)
        stream.attach(other, media: 0, opus: parameters)
        await Self.play(Self.noise(from: 0, milliseconds: 200), from: source, to: stream)
        for packet in await pair.sounds(9) { #expect(packet.payload.count == 80) }
        stream.detach(other)
        await Self.play(Self.noise(from: 200, milliseconds: 400), from: source, to: stream)
        let packets = await pair.sounds(15)
        #expect(try #require(packets.last).payload.count > 160)
        stream.stop()
        await pair.close()
        await other.close()
    }

    @Test("A peer without stereo or FEC does not remove them for others", arguments: [false, true])
    func modestPeer(isVoice: Bool) async throws {
        let pair = try await ConnectedPair([isVoice ? Self.voice : Self.music])
        let other = try await Loopback.open(as: .offerer)
        let source = PushAudioSource()
        let stream = try await Self.stream(pair, isVoice: isVoice, source: source)
        stream.update { if isVoice { $0.bitrate = .kilobitsPerSecond(24) } }
        stream.note(loss: 0.25, of: pair.sender)
        // The parameters of a description without any: one channel, no FEC (RFC 7587 §6.1).
        stream.attach(other, media: 0)
        await Self.play(Self.speech(milliseconds: 1000), from: source, to: stream)
        let packets = await pair.sounds(45)
        if isVoice {
            let repeated = try OpusDecoder(channels: 1).decodeLost(following: packets[40].payload, sampleCount: 960)
            #expect(repeated.contains { abs($0) > 0.01 })
        } else {
            for packet in packets { #expect(try Self.isStereo(packet)) }
        }
        // As the only peer, it gets its parameters.
        stream.keep(to: OpusParameters(), of: pair.sender)
        await Self.play(
            Self.speech(milliseconds: 1000).map { $0.stamped($0.timestamp + .seconds(1)) }, from: source, to: stream)
        let others = await pair.sounds(45)
        #expect(try !Self.isStereo(#require(others.last)))
        if isVoice {
            let repeated = try OpusDecoder(channels: 1).decodeLost(following: others[40].payload, sampleCount: 960)
            #expect(!repeated.contains { abs($0) > 0.01 })
        }
        stream.stop()
        await pair.close()
        await other.close()
    }

    @Test("A peer that requests next to nothing reduces the others' bitrate little")
    func nextToNothing() async throws {
        let pair = try await ConnectedPair([Self.music])
        let other = try await Loopback.open(as: .offerer)
        let source = PushAudioSource()
        let stream = try await Self.stream(pair, isVoice: false, source: source)
        var parameters = try #require(await pair.agreement(media: 0).opus)
        parameters.packetTime = .milliseconds(2.5)
        parameters.maximumPacketTime = .milliseconds(2.5)
        parameters.maximumPlaybackRate = 8000
        parameters.maximumAverageBitrate = .bitsPerSecond(6000)
        stream.attach(other, media: 0, opus: parameters)
        await Self.play(Self.noise(from: 0, milliseconds: 1000), from: source, to: stream)
        let packets = await pair.sounds(90)
        for packet in packets { #expect(try OpusPacket(parsing: packet.payload.span.bytes).sampleCount == 480) }
        let bits = packets.reduce(0) { $0 + $1.payload.count } * 8
        #expect((12_000...18_000).contains(bits), "\(bits)")
        stream.stop()
        await pair.close()
        await other.close()
    }

    @Test("A pause in speech is not sent, and the media clock continues during it")
    func pausesInSpeech() async throws {
        let pair = try await ConnectedPair([Self.voice])
        let source = PushAudioSource()
        let stream = try await Self.stream(pair, isVoice: true, source: source)
        await Self.play(Self.tone(300, milliseconds: 400), from: source, to: stream)
        await Self.play(Self.tone(300, amplitude: 0, from: 400, milliseconds: 3000), from: source, to: stream)
        await Self.play(Self.tone(300, from: 3400, milliseconds: 400), from: source, to: stream)
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
        stream.stop()
        await pair.close()
    }

    @Test("A source that pauses, and one that replaces it, are sent at their timestamps")
    func sourceTimestamps() throws {
        var worker = AudioEncoder.Worker()
        let begin = Duration.seconds(1000)
        func push(_ frames: [AudioFrame]) -> [EncodedAudioFrame] {
            frames.flatMap { frame in
                let frame = frame.stamped(begin + frame.timestamp)
                return worker.encode(
                    frame, by: Self.order(.init(channels: 2, application: .music)), now: frame.timestamp)
            }
        }
        let first =
            push(Self.tone(440, milliseconds: 200)) + push(Self.tone(440, from: 1200, milliseconds: 200))
        #expect(first.count == 20)
        #expect(first[10].mediaTime - first[9].mediaTime == 960 + 48_000 && first[10].startsTalkspurt)
        worker.restart()
        let later = push(Self.tone(1000, from: 2400, milliseconds: 200))
        #expect(later[0].mediaTime - first[19].mediaTime == 960 + 48_000 && later[0].startsTalkspurt)
    }

    @Test("A replaced source is no longer sent")
    func replacedSource() async throws {
        let pair = try await ConnectedPair([Self.music])
        let (source, other) = (PushAudioSource(), PushAudioSource())
        let stream = try await Self.stream(pair, isVoice: false, source: source)
        await Self.play(Self.tone(440, milliseconds: 200), from: source, to: stream)
        _ = await pair.sounds(10)
        stream.replaceTrack(with: AudioTrack(id: "other", source: other))
        // Also while the sink is still there.
        source.capture(Self.tone(440, milliseconds: 10)[0])
        await waitUntil { other.broadcaster.hasSinks && !source.broadcaster.hasSinks }
        for frame in Self.tone(1000, milliseconds: 1000) { other.capture(frame) }
        let later = await pair.sounds(50)
        #expect(abs(Self.frequency(try Self.decode(later).suffix(38_400).map { $0 }) - 1000) < 10)
        stream.stop()
        await pair.close()
    }

    @Test("The next packets repeat lost ones")
    func redundancy() async throws {
        for loss in [0.0, 0.25] {
            let pair = try await ConnectedPair([Self.voice])
            let source = PushAudioSource()
            let stream = try await Self.stream(pair, isVoice: true, source: source)
            stream.update { $0.bitrate = .kilobitsPerSecond(24) }
            stream.note(loss: loss, of: pair.sender)
            await Self.play(Self.speech(milliseconds: 1000), from: source, to: stream)
            let packets = await pair.sounds(45)
            // A decoder that has received nothing can't conceal, so it must recover the lost packet.
            let decoder = try OpusDecoder(channels: 1)
            let repeated = try decoder.decodeLost(following: packets[40].payload, sampleCount: 960)
            #expect((repeated.contains { abs($0) > 0.01 }) == (loss > 0))
            stream.stop()
            await pair.close()
        }
    }

    @Test("Music keeps its encoder mode under any loss")
    func musicStaysMusic() async throws {
        let pair = try await ConnectedPair([Self.music])
        let source = PushAudioSource()
        let stream = try await Self.stream(pair, isVoice: false, source: source)
        stream.update { $0.bitrate = .kilobitsPerSecond(48) }
        for second in 0..<3 {
            stream.note(loss: [0.12, 0.4, 0][second], of: pair.sender)
            await Self.play(Self.tone(440, from: second * 1000, milliseconds: 1000), from: source, to: stream)
            for packet in await pair.sounds(50) {
                #expect(try OpusPacket(parsing: packet.payload.span.bytes).mode == .celt)
            }
        }
        stream.stop()
        await pair.close()
    }

    @Test("A peer's limit on a media section holds for that section only")
    func sectionBitrate()
        async throws
    {
        let pair = try await ConnectedPair([Self.music]) {
            $0.replacing(/c=IN[^\r\n]*\r\n/) { "\($0.output)b=TIAS:24000\r\n" }
        }
        let limits = await pair.agreement(media: 0).limits
        #expect(limits.maximumBitrate == .kilobitsPerSecond(24))
        let source = PushAudioSource()
        let stream = try await Self.stream(pair, isVoice: false, source: source)
        var sizes: [Int] = []
        var tiny = SendingLimits()
        tiny.maximumBitrate = .bitsPerSecond(100)
        for limit in [limits, SendingLimits(), tiny] {
            stream.keep(to: limit, of: pair.sender)
            await Self.play(Self.noise(from: sizes.count * 1000, milliseconds: 1000), from: source, to: stream)
            sizes.append(await pair.sounds(50).reduce(0) { $0 + $1.payload.count } * 8)
        }
        #expect((20_000...26_000).contains(sizes[0]) && sizes[1] > 100_000 && sizes[2] < 12_000, "\(sizes)")
        stream.stop()
        await pair.close()
    }

    @Test("The least bitrate of the routes is respected, and nothing is sent at zero")
    func pathBitrate()
        async throws
    {
        let pair = try await ConnectedPair([Self.music])
        let other = try await Loopback.open(as: .offerer)
        let source = PushAudioSource()
        let stream = try await Self.stream(pair, isVoice: false, source: source)
        var sizes: [Int] = []
        func measure() async {
            await Self.play(Self.noise(from: sizes.count * 1000, milliseconds: 1000), from: source, to: stream)
            sizes.append(await pair.sounds(50).reduce(0) { $0 + $1.payload.count } * 8)
        }
        stream.keep(to: BitrateTarget(bitrate: .kilobitsPerSecond(48)), of: pair.sender)
        await measure()
        stream.attach(other, media: 0)
        stream.keep(to: BitrateTarget(bitrate: .kilobitsPerSecond(24)), of: other)
        await measure()
        // A route without a bitrate is sent nothing, and does not reduce the others.
        stream.keep(to: BitrateTarget(bitrate: .zero), of: other)
        await measure()
        stream.keep(to: BitrateTarget(bitrate: .kilobitsPerSecond(20)), of: other)
        stream.detach(other)
        await measure()
        // Less than is worth sending is sent with as little as is.
        stream.keep(to: BitrateTarget(bitrate: .bitsPerSecond(100)), of: pair.sender)
        await measure()
        #expect((40_000...52_000).contains(sizes[0]) && (20_000...26_000).contains(sizes[1]), "\(sizes)")
        #expect((40_000...52_000).contains(sizes[2]) && (40_000...52_000).contains(sizes[3]), "\(sizes)")
        #expect((12_000...18_000).contains(sizes[4]), "\(sizes)")
        stream.stop()
        await pair.close()
        await other.close()
    }

    @Test("A route's bitrate in a large room is respected from the next packet on")
    func largeRoom() async throws {
        let pair = try await ConnectedPair([Self.music])
        var others: [Connection] = []
        for _ in 0..<16 { others.append(try await Loopback.open(as: .offerer)) }
        let source = PushAudioSource()
        let stream = try await Self.stream(pair, isVoice: false, source: source)
        for other in others { stream.attach(other, media: 0) }
        stream.keep(to: BitrateTarget(bitrate: .kilobitsPerSecond(24)), of: others[15])
        await Self.play(Self.noise(from: 0, milliseconds: 200), from: source, to: stream)
        _ = await pair.sounds(10)
        await Self.play(Self.noise(from: 200, milliseconds: 1000), from: source, to: stream)
        let bits = await pair.sounds(50).reduce(0) { $0 + $1.payload.count } * 8
        #expect((20_000...26_000).contains(bits), "\(bits)")
        stream.stop()
        await pair.close()
        for other in others { await other.close() }
    }

    @Test("The capture time of a packet is that of the first sample that a decoder outputs", arguments: [true, false])
    func captureTime(isVoice: Bool) throws {
        var worker = AudioEncoder.Worker()
        let order = Self.order(.init(channels: 1, application: isVoice ? .voice : .music, usesDTX: false))
        let decoder = try OpusDecoder(channels: 1)
        let (start, click) = (Duration.seconds(1000), 20_000)
        var heard: (level: Float, time: Duration) = (0, .zero)
        for block in 0..<60 {
            // A click in a quiet tone.
            let samples = (0..<480).map { index -> Float in
                let position = block * 480 + index
                let tone = 0.01 * sin(2 * .pi * 300 * Float(position) / 48_000)
                return (click..<click + 6).contains(position) ? 0.9 : tone
            }
            let frame = AudioFrame(
                samples: samples, channels: 1, sampleRate: 48_000, timestamp: start + .milliseconds(block * 10))
            for packet in worker.encode(frame, by: order, now: frame.timestamp) {
                for (index, sample) in try decoder.decode(packet.payload).enumerated() where abs(sample) > heard.level {
                    heard = (abs(sample), packet.captureTime + .seconds(1) * index / 48_000)
                }
            }
        }
        let shift = (heard.time - start - .seconds(1) * click / 48_000) / .milliseconds(1)
        #expect(heard.level > 0.1 && abs(shift) < 1, "\(shift) ms")
    }

    @Test(
        "Audio of another clock has its arrival as capture time, without a gap",
        arguments: [Duration.zero, .seconds(-7), .seconds(100_000)])
    func anotherClock(first: Duration) {
        var worker = AudioEncoder.Worker()
        let order = Self.order(.init(channels: 2, application: .music))
        let lookahead = Duration.milliseconds(10)
        for (begin, isOther) in [(first, false), (Duration.seconds(1010), true)] {
            let now = Duration.seconds(isOther ? 1010 : 1000)
            var times: [Duration] = []
            worker.restart()
            for block in 0..<50 {
                let shift = Duration.milliseconds(block * 20)
                let frame = AudioFrame(
                    samples: (0..<960).map { 0.3 * sin(Float($0) / 7) }, channels: 1, sampleRate: 48_000,
                    timestamp: begin + shift)
                times += worker.encode(frame, by: order, now: now + shift).map(\.captureTime)
            }
            #expect(times.count == 50)
            for (index, time) in times.enumerated() {
                #expect(abs((time - now - .milliseconds(index * 20)) / lookahead) < 1)
            }
        }
    }

    @Test("A reported loss has an effect soon and is forgotten slowly, and for music the effect is limited")
    func reportedLoss() {
        var loss = ExpectedLoss()
        #expect(loss.share(isVoice: true) == 0)
        loss.note(0.02)
        #expect(loss.share(isVoice: true) == 0.01)
        for _ in 0..<6 { loss.note(0.3) }
        #expect(loss.share(isVoice: true) > 0.28 && loss.share(isVoice: true) <= 0.3)
        #expect(loss.share(isVoice: false) == 0.08)
        // Two reports without a loss do not undo it, and a minute of them does.
        for _ in 0..<2 { loss.note(0) }
        #expect(loss.share(isVoice: true) > 0.2)
        for _ in 0..<60 { loss.note(0) }
        #expect(loss.share(isVoice: true) < 0.005)
        for nonsense in [Double.nan, .infinity, -3] { loss.note(nonsense) }
        #expect(loss.share(isVoice: true) >= 0 && loss.share(isVoice: true) < 0.005)
        loss.note(9)
        #expect(loss.share(isVoice: true) <= 1)
    }

    /// The events of one sender: the owner's calls on their own thread, and the connection's reports on its event loop.
    enum Event: Character, CaseIterable {
        case added = "A"
        case agreed = "G"
        /// Its route has no bitrate for audio.
        case pathFell = "L"
        case trackReplaced = "R"
        case trackRemoved = "T"
        case deactivated = "E"
        case removed = "D"
        case ended = "X"
    }

    private static func state(
        after events: [Event], on connection: Connection, home: HomeLoop
    ) async throws -> Character {
        let stream = try AudioSendStream(settings: .init(isVoice: false), home: home)
        let sender = stream.makeSender(over: connection, media: [0])
        func report(_ feedback: SenderFeedback) async throws {
            try await connection.eventLoop.submit { sender.receive(feedback) }.get()
        }
        for event in events {
            switch event {
            case .added: stream.addFromOutside(sender, isActive: true)
            case .agreed:
                var agreement = SenderAgreement()
                agreement.media = .agreed
                try await report(.negotiated(agreement))
            case .pathFell: try await report(.target(BitrateTarget(bitrate: .zero)))
            case .trackReplaced: stream.replaceTrack(with: AudioTrack(id: "track", source: PushAudioSource()))
            case .trackRemoved: stream.replaceTrack(with: nil)
            case .deactivated: stream.setActive([], adding: false)
            case .removed: stream.remove(connection)
            case .ended: try await report(.ended)
            }
        }
        let state = await stream.state(of: sender)
        stream.stop()
        return state
    }

    private static func table(
        after first: [Event], on connection: Connection, home: HomeLoop
    ) async throws -> [String] {
        var rows = ["  " + String(Event.allCases.map(\.rawValue))]
        for one in Event.allCases {
            var row = ""
            for other in Event.allCases {
                row.append(try await state(after: first + [one, other], on: connection, home: home))
            }
            rows.append("\(one.rawValue) \(row)")
        }
        return rows
    }

    @Test(
        "Any two events lead to the expected state, whichever the home event loop", arguments: [true, false])
    func events(sharesLoop: Bool) async throws {
        let connection = try await Loopback.open(as: .offerer)
        let home = HomeLoop(of: connection, isOwn: sharesLoop)
        #expect(
            try await Self.table(after: [], on: connection, home: home) == [
                "  AGLRTEDX",
                "A isiiii--",
                "G i-------",
                "L i-------",
                "R i-------",
                "T i-------",
                "E i-------",
                "D i-------",
                "X i-------",
            ])
        #expect(
            try await Self.table(after: [.added, .agreed, .trackReplaced], on: connection, home: home) == [
                "  AGLRTEDX",
                "A iSiiii--",
                "G iSQSsi--",
                "L iQQQqi--",
                "R iSQSsi--",
                "T isqSsi--",
                "E iiiiii--",
                "D i-------",
                "X i-------",
            ])
        await connection.close()
    }

    @Test("A sender whose connection ends while it is added does not stay in the stream")
    func endedWhileAdded() async throws {
        let connection = try await Loopback.open(as: .offerer)
        let stream = try AudioSendStream(settings: .init(isVoice: true), home: HomeLoop(of: connection))
        let sender = stream.makeSender(over: connection, media: [0])
        // On the home event loop the end is processed at once, and earlier calls of the owner wait in the queue.
        try await connection.eventLoop.submit {
            stream.addFromOutside(sender, isActive: true)
            sender.receive(.ended)
        }.get()
        #expect(await stream.state(of: sender) == "-")
        stream.stop()
        await connection.close()
    }

    @Test("A stopped stream takes no track")
    func stoppedStream() async throws {
        let connection = try await Loopback.open(as: .offerer)
        let stream = try AudioSendStream(settings: .init(isVoice: true))
        let (one, other) = (PushAudioSource(), PushAudioSource())
        stream.replaceTrack(with: AudioTrack(id: "one", source: one))
        #expect(!one.broadcaster.hasSinks, "for nobody nothing is captured")
        stream.attach(connection, media: 0)
        stream.replaceTrack(with: AudioTrack(id: "other", source: other))
        await waitUntil { other.broadcaster.hasSinks }
        #expect(!one.broadcaster.hasSinks)
        stream.stop()
        stream.stop()
        stream.replaceTrack(with: AudioTrack(id: "late", source: one))
        await waitUntil { !other.broadcaster.hasSinks }
        #expect(!one.broadcaster.hasSinks)
        await connection.close()
    }
}

extension AudioSendStream {
    /// i: idle; s: is sent the audio; q: silent; -: removed. A capital letter while a track is encoded.
    fileprivate func state(of sender: AudioSender) -> Character {
        let isKnown = group.senders[sender.id] === sender
        #expect(isKnown == (self.sender(on: sender.connection) === sender))
        #expect(group.recipients.joined().contains { $0 === sender } == (isKnown && sender.state.phase == .sending))
        guard isKnown else { return "-" }
        return switch (sender.state.phase, playing) {
        case (.idle, nil): "i"
        case (.idle, _): "I"
        case (.sending, nil): "s"
        case (.sending, _): "S"
        case (.silent, nil): "q"
        case (.silent, _): "Q"
        }
    }
}
