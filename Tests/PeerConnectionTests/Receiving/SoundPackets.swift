@testable import RTCSharePeerConnection
import RTCShareRTP
import RTCShareSDP
import RTCShareWireFormat

/// An instant of virtual time.
func at(milliseconds: Int) -> Instant { Instant(nanoseconds: Int64(milliseconds) * 1_000_000) }

/// A packet for the tests of received media, with values that suit most of them.
struct TestPacket {
    static let sound = SynchronizationSource(0xA0D10)
    static let opus = PayloadType(masking: 109)

    var number: UInt16
    var timestamp: UInt32
    var source = sound
    var payloadType = opus
    var marker = false
    var extensions = HeaderExtensions()
    /// By default 20 ms of Opus in stereo.
    var payload: [UInt8] = [0xFC, 1, 2, 3]

    /// Gives the packet to `body` as it is read on arrival.
    func withHeader<Result>(_ body: (RTPHeader, RawSpan) throws -> Result) throws -> Result {
        try withPacket { header, bytes in try body(header, header.payload(of: bytes)) }
    }

    /// The header as it is read, and the whole packet.
    func withPacket<Result>(_ body: (RTPHeader, RawSpan) throws -> Result) throws -> Result {
        let header = OutgoingRTPHeader(
            marker: marker, payloadType: payloadType, sequenceNumber: SequenceNumber(number),
            timestamp: RTPTimestamp(timestamp), source: source)
        var bytes = [UInt8](repeating: 0, count: header.byteCount(map: HeaderExtensionMap()))
        do {
            var span = bytes.mutableSpan
            var writer = ByteWriter(span.mutableBytes)
            try header.write(to: &writer, map: HeaderExtensionMap())
        }
        bytes += payload
        return try body(try RTPHeader(parsing: bytes.span.bytes), bytes.span.bytes)
    }
}

/// A sender report of a source that shows `timestamp` at `time` since 1970.
func report(
    of source: SynchronizationSource = TestPacket.sound, at time: Duration, timestamp: UInt32, packetCount: UInt32 = 0
) -> SenderReport {
    SenderReport(
        source: source, ntpTimestamp: NTPTimestamp(sinceUnixEpoch: time), rtpTimestamp: RTPTimestamp(timestamp),
        packetCount: packetCount, octetCount: 0)
}

extension InboundAudioStream {
    /// A receiver of the tests' stream.
    static func testing() -> InboundAudioStream {
        InboundAudioStream(configuration: .init(source: TestPacket.sound, payloadType: TestPacket.opus))
    }

    /// Takes a packet, and returns what there is to take out then.
    mutating func take(_ packet: TestPacket, now: Instant) throws -> [ReceivedAudioPacket] {
        try packet.withHeader { header, payload in
            receive(header, level: packet.extensions.audioLevel, payload: payload, now: now)
        }
        var packets: [ReceivedAudioPacket] = []
        while let packet = pollPacket() { packets.append(packet) }
        return packets
    }
}
