import RTCShareCongestionControl
import RTCShareRTP
import RTCShareSecureTransport
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCSharePeerConnection

/// Padding over RTX, packet by packet.
@Suite struct PaddingTests {
    /// A packet as it was before it was protected.
    private struct Packet {
        let header: RTPHeader
        let bytes: [UInt8]

        /// Bytes of the payload, without padding.
        var payloadByteCount: Int { header.payload(of: bytes.span.bytes).byteCount }
    }

    private final class Wire {
        var protected: [[UInt8]] = []
    }

    private func makeCall(seed: UInt64) throws -> (call: SimulatedCall, wire: Wire) {
        let call = try SimulatedCall(conditions: LinkConditions(delay: .milliseconds(20)), seed: seed)
        call.followsTargets = true
        let wire = Wire()
        call.tap = { datagram, end in
            if end == .left, DatagramKind(datagram.bytes.span.bytes) == .rtp { wire.protected.append(datagram.bytes) }
        }
        call.run(for: .seconds(2))
        try #require(call.record.connected != nil)
        return (call, wire)
    }

    /// Has the pacer fill up with padding for this long, whatever the estimator says.
    private func pad(
        _ call: SimulatedCall, at padding: DataRate = .kilobitsPerSecond(200), for duration: Duration,
        sendsFrames: Bool = false
    ) {
        let end = call.now.advanced(by: duration)
        while call.now < end {
            let target = call.sender.bandwidth.pacer.targetRate
            let pacing = call.sender.bandwidth.pacer.pacingRate
            call.sender.bandwidth.pacer.setRates(target: target, pacing: pacing, padding: padding, now: call.now)
            call.run(for: .milliseconds(5), sendsFrames: sendsFrames)
        }
    }

    private func source(_ call: SimulatedCall) -> SynchronizationSource {
        SynchronizationSource(call.sender.localMedia[0].retransmissionSource)
    }

    /// Decrypts everything, as the viewer does; all of it has to be authentic and new.
    private func unprotect(_ wire: Wire, of call: SimulatedCall) throws -> [Packet] {
        let keys = try #require(call.viewerKeys)
        let receiver = try SRTPReceiver(profile: keys.profile, masterKey: keys.remote)
        return try wire.protected.map { protected in
            var bytes = protected
            try receiver.unprotectRTP(&bytes)
            return Packet(header: try RTPHeader(parsing: bytes.span.bytes), bytes: bytes)
        }
    }

    @Test("Padding is sent over RTX only, numbered without gaps, and the receiver ignores it")
    func paddingOverRTX() throws {
        let (call, wire) = try makeCall(seed: 921)
        // Where much is wanted packets are sent again, and where little is, padding alone.
        pad(call, at: .kilobitsPerSecond(5000), for: .seconds(1), sendsFrames: true)
        pad(call, for: .seconds(1))
        pad(call, at: .kilobitsPerSecond(10), for: .seconds(1))
        call.run(for: .milliseconds(200), sendsFrames: false)
        let packets = try unprotect(wire, of: call)
        let again = packets.filter { $0.header.source == source(call) }
        #expect(again.count > 50)
        for (packet, next) in zip(again, again.dropFirst()) {
            #expect(next.header.sequenceNumber == packet.header.sequenceNumber.next)
        }
        let empty = again.filter { $0.payloadByteCount == 0 }
        #expect(empty.count > 20)
        // Janus before 1.4.1 writes outside of a packet with one byte.
        #expect(empty.allSatisfy { $0.header.paddingByteCount >= 32 })
        #expect(packets.filter { $0.payloadByteCount == 0 }.count == empty.count)
        #expect(call.viewer.counts.packetsRefused == 0)
        #expect(call.viewer.counts.packetsUnknown == 0)
        #expect(call.record.frames.count == call.framesSent)
        #expect(call.record.failures.isEmpty)
    }

    @Test("Padding is counted in the statistics, payload and headers separately")
    func paddingStatistics() throws {
        let (call, wire) = try makeCall(seed: 922)
        pad(call, at: .kilobitsPerSecond(5000), for: .seconds(1), sendsFrames: true)
        pad(call, for: .seconds(1))
        let packets = try unprotect(wire, of: call)
        let again = packets.filter { $0.header.source == source(call) && $0.payloadByteCount > 0 }
        try #require(!again.isEmpty)
        // The number of the original is no part of its payload (RFC 4588 §4).
        let payload = again.reduce(0) { $0 + $1.payloadByteCount - 2 }
        let first = packets.filter { $0.header.source != source(call) }.reduce(0) { $0 + $1.payloadByteCount }
        let statistics = try #require(call.sender.outbound[0].stream?.statistics)
        #expect(statistics.video.retransmittedPacketsSent == UInt64(again.count))
        #expect(statistics.video.retransmittedBytesSent == UInt64(payload))
        #expect(statistics.bytesSent == UInt64(payload + first))
        #expect(statistics.packetsSent == UInt64(packets.count))
        // "headerBytesSent + bytesSent equals the number of bytes sent as payload over the transport."
        #expect(statistics.headerBytesSent + statistics.bytesSent == packets.reduce(0) { $0 + UInt64($1.bytes.count) })
        #expect(
            statistics.packetsSent - statistics.separatePacketsSent
                == packets.count { $0.header.source != source(call) })
    }

    @Test("Stopped media, and media without a target, sends no padding")
    func stoppedMedia() throws {
        let (call, wire) = try makeCall(seed: 923)
        call.sender.setSending(false, media: 0, now: call.now)
        call.run(for: .milliseconds(50), sendsFrames: false)
        wire.protected = []
        pad(call, for: .seconds(1))
        #expect(wire.protected.isEmpty)
        call.sender.setSending(true, media: 0, now: call.now)
        call.run(for: .seconds(1))
        pad(call, for: .seconds(1))
        #expect(wire.protected.contains { $0[8..<12].reduce(0) { $0 << 8 | UInt32($1) } == source(call).rawValue })
        call.sender.setDemand(.zero, media: 0, now: call.now)
        call.run(for: .milliseconds(50), sendsFrames: false)
        wire.protected = []
        pad(call, for: .seconds(1))
        #expect(wire.protected.isEmpty)
        #expect(call.record.failures.isEmpty)
    }
}
