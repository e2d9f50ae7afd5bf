import RTCShareRTP
import RTCShareSDP
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCSharePeerConnection

/// Retransmissions while media stop, begin again and are described anew.
@Suite struct RetransmissionTests {
    /// A call that stands, and what it has sent as the media's source.
    private func makeCall(
        seed: UInt64, editOffer: @escaping (String) -> String = { $0 }
    ) throws -> (call: SimulatedCall, wire: Box<[[UInt8]]>) {
        var options = SimulatedCall.Options()
        options.editOffer = editOffer
        let call = try SimulatedCall(
            conditions: LinkConditions(delay: .milliseconds(20)), seed: seed, options: options)
        let source = call.sender.localMedia[0].source
        let wire = Box<[[UInt8]]>([])
        call.tap = { datagram, end in
            let bytes = datagram.bytes
            guard end == .left, DatagramKind(bytes.span.bytes) == .rtp else { return }
            if bytes[8..<12].reduce(0, { $0 << 8 | UInt32($1) }) == source { wire.value.append(bytes) }
        }
        call.run(for: .seconds(1))
        try #require(call.record.connected != nil)
        return (call, wire)
    }

    private func number(_ datagram: [UInt8]) -> SequenceNumber {
        SequenceNumber(UInt16(datagram[2]) << 8 | UInt16(datagram[3]))
    }

    /// Has the viewer ask for packets again.
    private func ask(for numbers: some Sequence<SequenceNumber>, on call: SimulatedCall) {
        let media = SynchronizationSource(call.sender.localMedia[0].source)
        var bytes: [UInt8] = []
        RTCPPacket.genericNACK(GenericNACK(sender: SynchronizationSource(7), media: media, lost: Array(numbers)))
            .append(to: &bytes)
        let now = call.now
        call.sender.receiveControl(bytes.span.bytes, now: now)
    }

    private func retransmitted(_ call: SimulatedCall) -> UInt64 {
        call.sender.outbound[0].stream?.statistics.video.retransmittedPacketsSent ?? 0
    }

    @Test("Requests pending when media stops do not block answers to later requests")
    func requestsBeforeStop() throws {
        let (call, wire) = try makeCall(seed: 801)
        var dropped: UInt64 = 0
        while dropped <= UInt64(VideoRTPStream.maximumQueuedRetransmissions) {
            wire.value = []
            call.run(for: .seconds(1))
            try #require(wire.value.count > 50)
            let before = call.sender.counts.packetsUnsent
            ask(for: wire.value.map(number), on: call)
            call.sender.setSending(false, media: 0, now: call.now)
            call.run(for: .seconds(1), sendsFrames: false)
            try #require(call.sender.counts.packetsUnsent > before)
            dropped += call.sender.counts.packetsUnsent - before
            call.sender.setSending(true, media: 0, now: call.now)
        }
        wire.value = []
        call.run(for: .seconds(1))
        let before = retransmitted(call)
        ask(for: wire.value.map(number), on: call)
        call.run(for: .seconds(1), sendsFrames: false)
        #expect(retransmitted(call) - before == UInt64(wire.value.count))
    }

    /// Has the viewer want VP8 under another number.
    private func renumber(_ call: SimulatedCall) throws {
        try call.renegotiate { $0.replacing("SAVPF 96", with: "SAVPF 100").replacing(":96 ", with: ":100 ") }
        try #require(call.sender.outbound[0].stream?.parameters.payloadType == PayloadType(100))
    }

    @Test(
        "Without RTX a sequence number identifies one packet, whatever later descriptions say",
        arguments: [true, false])
    func oneNumberOnePacket(
        asksBefore: Bool
    ) throws {
        let (call, wire) = try makeCall(seed: 802, editOffer: WireTests.withoutRTX)
        let numbers = wire.value.suffix(100).map(number)
        if asksBefore { ask(for: numbers, on: call) }
        try renumber(call)
        if !asksBefore { ask(for: numbers, on: call) }
        call.run(for: .seconds(1))
        var first: [SequenceNumber: [UInt8]] = [:]
        for datagram in wire.value {
            #expect(first.updateValue(datagram, forKey: number(datagram)) ?? datagram == datagram)
        }
        #expect(retransmitted(call) == 0)
        // What was written since is sent again as it was.
        ask(for: wire.value.suffix(10).map(number), on: call)
        call.run(for: .seconds(1), sendsFrames: false)
        #expect(retransmitted(call) == 10)
        for datagram in wire.value {
            #expect(first.updateValue(datagram, forKey: number(datagram)) ?? datagram == datagram)
        }
    }

    @Test("With RTX a packet can be resent after a renegotiation")
    func rtxAfterRenumbering() throws {
        let (call, wire) = try makeCall(seed: 803)
        let numbers = wire.value.suffix(20).map(number)
        try call.renegotiate {
            $0.replacing("SAVPF 96", with: "SAVPF 100").replacing(":96 ", with: ":100 ")
                .replacing("apt=96", with: "apt=100")
        }
        ask(for: numbers, on: call)
        call.run(for: .milliseconds(500), sendsFrames: false)
        #expect(retransmitted(call) == 20)
    }

    @Test("Sender reports count their own source's packets; the statistics count all", arguments: [true, false])
    func reportsAndStatistics(hasRTX: Bool) throws {
        let (call, wire) = try makeCall(seed: 804, editOffer: { hasRTX ? $0 : WireTests.withoutRTX($0) })
        ask(for: wire.value.suffix(20).map(number), on: call)
        call.run(for: .seconds(3), sendsFrames: false)
        #expect(retransmitted(call) == 20)
        let source = SynchronizationSource(call.sender.localMedia[0].source)
        let report = try #require(call.viewer.receivers.media[0].lastSenderReport?.report)
        #expect(report.source == source && report.packetCount == UInt32(wire.value.count))
        let outbound = try #require(call.sender.report(now: call.now).outboundRTP[0])
        #expect(outbound.sent.packetsSent == UInt64(wire.value.count + (hasRTX ? 20 : 0)))
        // A share that stands still after a loss is paused.
        #expect(call.record.activityOf[0] == [.flowing, .paused])
    }
}
