import RTCShareRTP
import RTCShareSDP
import RTCShareSecureTransport
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCSharePeerConnection

/// Sources that a peer names with the right keys.
@Suite struct SourceFloodTests {
    private static let back = Datagram(
        source: SimulatedCall.senderAddress, destination: SimulatedCall.viewerAddress, bytes: [])

    /// A call that stands, and what protects packets as its sender does.
    private func makeCall(seed: UInt64) throws -> (call: SimulatedCall, protection: SRTPSender) {
        let call = try SimulatedCall(conditions: PathTests.clean, seed: seed)
        call.run(for: .seconds(1))
        let keys = try #require(call.viewerKeys)
        return (call, try SRTPSender(profile: keys.profile, masterKey: keys.remote))
    }

    /// A key frame in one packet.
    private func keyFrame(_ number: UInt16, of source: UInt32, payloadType: UInt8) -> [UInt8] {
        var packet: [UInt8] = [0x80, 0x80 | payloadType]
        packet.append(bigEndian: number)
        packet.append(bigEndian: UInt32(number) * 3000)
        packet.append(bigEndian: source)
        return packet + [0x10, 0x10, 0, 0, 0x9D, 0x01, 0x2A, 0x00, 0x05, 0xD0, 0x02, 9, 9]
    }

    @Test("Media sources that belong to no section leave no state, and the call continues")
    func unknownMediaSources() throws {
        let (call, protection) = try makeCall(seed: 451)
        let payloadType = UInt8(call.viewer.receivers.media[0].negotiated.payloadType)
        let before = try #require(call.viewer.transport.inbound?.streamCount)
        for source in UInt32(1)...3000 {
            var packet = keyFrame(1, of: source, payloadType: source % 2 == 0 ? payloadType : 100)
            try protection.protectRTP(&packet)
            call.inject(packet, like: Self.back, to: .right)
        }
        #expect(call.viewer.transport.inbound?.streamCount == before)
        call.run(for: .seconds(1))
        call.run(for: .milliseconds(500), sendsFrames: false)
        #expect(call.record.frames.count == call.framesSent)
    }

    @Test("The number of streams for report sources is limited, and the call continues")
    func reportSources() throws {
        let (call, protection) = try makeCall(seed: 452)
        for round in UInt32(0)..<30 {
            for source in round * 100 + 1...round * 100 + 100 {
                var report: [UInt8] = [0x80, 201, 0, 1]
                report.append(bigEndian: source)
                try protection.protectRTCP(&report)
                call.inject(report, like: Self.back, to: .right)
            }
            #expect(try #require(call.viewer.transport.inbound?.streamCount) <= SRTPReceiver.maximumStreams)
            call.run(for: .milliseconds(100))
        }
        call.run(for: .milliseconds(500), sendsFrames: false)
        #expect(call.record.frames.count == call.framesSent)
    }

    @Test("A source named by a later description is received, whatever sources came before")
    func sourceNamedLater() throws {
        let (call, protection) = try makeCall(seed: 453)
        let old = try #require(call.viewer.receivers.media[0].source)
        let payloadType = UInt8(call.viewer.receivers.media[0].negotiated.payloadType)
        for source in UInt32(1)...200 {
            var report: [UInt8] = [0x80, 201, 0, 1]
            report.append(bigEndian: source)
            try protection.protectRTCP(&report)
            call.inject(report, like: Self.back, to: .right)
        }
        for turn in UInt32(1)...100 {
            let new = 0xABC0_0000 + turn
            let offer = try call.makeOffer().description.replacing("\(old.rawValue)", with: "\(new)")
            _ = try call.viewer.answer(offer: SessionDescription.parse(offer), now: call.now)
            #expect(call.viewer.receivers.media[0].source?.rawValue == new)
            let count = call.record.frames.count
            var packet = keyFrame(1, of: new, payloadType: payloadType)
            try protection.protectRTP(&packet)
            call.inject(packet, like: Self.back, to: .right)
            call.run(for: .milliseconds(50), sendsFrames: false)
            #expect(call.record.frames.count == count + 1)
            #expect(try #require(call.viewer.transport.inbound?.streamCount) <= SRTPReceiver.maximumStreams)
        }
    }

    @Test("A silent media source keeps its stream and its replay protection")
    func silentSource() throws {
        let call = try SimulatedCall(conditions: PathTests.clean, seed: 455)
        var newest: Datagram?
        call.tap = { datagram, end in
            if end == .left, DatagramKind(datagram.bytes.span.bytes) == .rtp { newest = datagram }
        }
        call.run(for: .seconds(1))
        call.run(for: .milliseconds(500), sendsFrames: false)
        let keys = try #require(call.viewerKeys)
        let protection = try SRTPSender(profile: keys.profile, masterKey: keys.remote)
        for source in UInt32(1)...200 {
            var report: [UInt8] = [0x80, 201, 0, 1]
            report.append(bigEndian: source)
            try protection.protectRTCP(&report)
            call.inject(report, like: Self.back, to: .right)
        }
        #expect(call.viewer.transport.inbound?.streamCount == SRTPReceiver.maximumStreams)
        let replay = try #require(newest)
        let refused = call.viewer.counts.packetsRefused
        call.inject(replay.bytes, like: Self.back, to: .right)
        #expect(call.viewer.counts.packetsRefused == refused + 1)
    }

    @Test("A peer without the keys cannot make others lose their streams")
    func forgedSources() throws {
        let (call, _) = try makeCall(seed: 454)
        let source = try #require(call.viewer.receivers.media[0].source)
        let payloadType = UInt8(call.viewer.receivers.media[0].negotiated.payloadType)
        let before = try #require(call.viewer.transport.inbound?.streamCount)
        for number in UInt32(1)...2000 {
            let forged = keyFrame(1, of: number % 2 == 0 ? source.rawValue : number, payloadType: payloadType)
            call.inject(forged + [UInt8](repeating: 1, count: 40), like: Self.back, to: .right)
            var report: [UInt8] = [0x80, 201, 0, 1]
            report.append(bigEndian: number)
            call.inject(report + [UInt8](repeating: 1, count: 40), like: Self.back, to: .right)
        }
        #expect(call.viewer.transport.inbound?.streamCount == before)
        call.run(for: .seconds(1))
        call.run(for: .milliseconds(500), sendsFrames: false)
        #expect(call.record.frames.count == call.framesSent)
    }
}
