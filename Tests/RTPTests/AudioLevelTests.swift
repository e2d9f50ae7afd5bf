import RTP
import Testing
import WireFormat

struct AudioLevelTests {
    @Test func everyByteIsALevel() {
        for byte in UInt8.min...UInt8.max {
            let level = AudioLevel(rawValue: byte)
            #expect(level.isVoice == (byte >= 128))
            #expect(level.level == byte % 128)
            #expect(AudioLevel(level: level.level, isVoice: level.isVoice) == level)
        }
        #expect(AudioLevel(level: 200, isVoice: false) == .silence)
    }

    @Test func theExtensionIsOneByteInBothForms() throws {
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

    @Test func anElementOfAnotherLengthIsPassedOver() throws {
        var map = HeaderExtensionMap()
        map[.audioLevel] = 7
        let packet = hex("90ef0001 00000002 00000003 bede0001 71aa0000")
        let header = try RTPHeader(parsing: packet.span.bytes)
        #expect(HeaderExtensions(header, in: packet.span.bytes, map: map).audioLevel == nil)
    }

    @Test func theSoundsClockRunsFromThePeersOffset() {
        let frame = EncodedAudioFrame(
            payload: [0xFC], mediaTime: 1 << 32 | 960, captureTime: .seconds(1), sampleCount: 960)
        #expect(frame.timestamp(offset: RTPTimestamp(.max)).rawValue == 959)
        #expect(!frame.startsTalkspurt)
        #expect(frame.level == nil)
    }
}
