import RTCShareRTP
import RTCShareWireFormat
import Testing

struct AudioLevelTests {
    @Test("Every byte is a valid level")
    func everyByteIsALevel() {
        for byte in UInt8.min...UInt8.max {
            let level = AudioLevel(rawValue: byte)
            #expect(level.isVoice == (byte >= 128))
            #expect(level.level == byte % 128)
            #expect(AudioLevel(level: level.level, isVoice: level.isVoice) == level)
        }
        #expect(AudioLevel(level: 200, isVoice: false) == .silence)
    }

    @Test("The amplitude is the level's factor")
    func amplitudeIsTheLevelsFactor() {
        #expect(AudioLevel(level: 0, isVoice: true).amplitude == 1)
        #expect(AudioLevel.silence.amplitude == 0)
        for (level, factor) in [(UInt8(20), 0.1), (40, 0.01), (6, 0.501_187_233_6), (120, 0.000_001)] {
            #expect(abs(AudioLevel(level: level, isVoice: false).amplitude / factor - 1) < 1e-9)
        }
    }

    @Test("The extension is one byte in both forms")
    func bothForms() throws {
        var extensions = HeaderExtensions()
        extensions.audioLevel = AudioLevel(level: 42, isVoice: true)
        // RFC 6464 §3: 0xAA is the voice flag with 42.
        for (id, block) in [(UInt8(7), "bede0001 70aa0000"), (20, "10000001 1401aa00")] {
            var map = HeaderExtensionMap()
            map[.audioLevel] = id
            let header = try OutgoingRTPHeader(
                marker: true, payloadType: #require(PayloadType(111)), sequenceNumber: SequenceNumber(1),
                timestamp: RTPTimestamp(2), source: SynchronizationSource(3), extensions: extensions)
            let bytes = try written { writer in try header.write(to: &writer, map: map) }
            #expect(bytes == hex("90ef0001 00000002 00000003" + block))
            let read = try RTPHeader(parsing: bytes.span.bytes)
            #expect(HeaderExtensions(read, in: bytes.span.bytes, map: map) == extensions)
        }
    }

    @Test("A packet of another implementation is parsed and written identically")
    func foreignPacket() throws {
        // aiortc: marker, payload type 109, mid "snd" (1), audio level (7), an Opus packet of one frame.
        let packet = hex("90ed12341234567887654321bede000212736e6470aa0000fc010203")
        var map = HeaderExtensionMap()
        map[.mediaIdentification] = 1
        map[.audioLevel] = 7
        let header = try RTPHeader(parsing: packet.span.bytes)
        let extensions = HeaderExtensions(header, in: packet.span.bytes, map: map)
        #expect(extensions.mediaIdentification == "snd")
        #expect(extensions.audioLevel == AudioLevel(level: 42, isVoice: true))
        #expect(try OpusPacket(parsing: header.payload(of: packet.span.bytes)).sampleCount == 960)
        let outgoing = OutgoingRTPHeader(
            marker: header.marker, payloadType: header.payloadType, sequenceNumber: header.sequenceNumber,
            timestamp: header.timestamp, source: header.source, extensions: extensions)
        let bytes = try written { writer in try outgoing.write(to: &writer, map: map) }
        #expect(bytes + hex("fc010203") == packet)
    }

    @Test("An element of another length is ignored")
    func otherLength() throws {
        var map = HeaderExtensionMap()
        map[.audioLevel] = 7
        let packet = hex("90ef0001 00000002 00000003 bede0001 71aa0000")
        let header = try RTPHeader(parsing: packet.span.bytes)
        #expect(HeaderExtensions(header, in: packet.span.bytes, map: map).audioLevel == nil)
    }

    @Test("The audio timestamp starts at the peer's offset")
    func soundClock() {
        let frame = EncodedAudioFrame(
            payload: [0xFC], mediaTime: 1 << 32 | 960, captureTime: .seconds(1), sampleCount: 960)
        #expect(frame.timestamp(offset: RTPTimestamp(.max)).rawValue == 959)
        #expect(!frame.startsTalkspurt)
        #expect(frame.level == nil)
    }
}
