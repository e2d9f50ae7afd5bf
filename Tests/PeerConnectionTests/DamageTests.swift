import RTCShareRTP
import RTCShareSecureTransport
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCSharePeerConnection

/// Datagrams that no honest peer sends, into a call that lives: nothing traps, and the call goes on.
@Suite struct DamageTests {
    /// Feeds damaged copies of what crosses a link to whom it is for, each before the datagram itself.
    private func damage(
        _ call: SimulatedCall, kinds: Set<DatagramKind>, perKind limit: Int, seed: UInt64
    ) -> Box<Int> {
        let random = Box(SeededGenerator(seed: seed))
        let taken = Box<[DatagramKind: Int]>([:])
        let count = Box(0)
        call.tap = { [unowned call] datagram, end in
            let kind = DatagramKind(datagram.bytes.span.bytes)
            guard kinds.contains(kind), taken.value[kind, default: 0] < limit else { return }
            taken.value[kind, default: 0] += 1
            for index in datagram.bytes.indices {
                var bytes = datagram.bytes
                bytes[index] ^= UInt8.random(in: 1...255, using: &random.value)
                call.inject(bytes, like: datagram, to: end.other)
                count.value += 1
            }
            for length in stride(from: 0, to: datagram.bytes.count, by: 7) {
                call.inject(Array(datagram.bytes[..<length]), like: datagram, to: end.other)
                count.value += 1
            }
        }
        return count
    }

    @Test("Truncated STUN, RTP and RTCP packets, and ones with any byte changed, have no effect")
    func damagedPackets() throws {
        let call = try SimulatedCall(conditions: PathTests.clean, seed: 401)
        let count = damage(call, kinds: [.stun, .rtp, .rtcp], perKind: 40, seed: 402)
        call.run(for: .seconds(5))
        call.run(for: .milliseconds(500), sendsFrames: false)
        #expect(count.value > 20_000)
        #expect(call.record.connected != nil)
        #expect(call.record.failures.isEmpty)
        #expect(call.record.goodbyes == 0)
        #expect(call.record.frames.count == call.framesSent)
        let transport = try #require(call.viewer.report(now: call.now).transport)
        #expect(transport.counts.packetsRefused > 1000)
    }

    /// Feeds copies of each datagram of the handshake with one byte changed to whom it is for, before the datagram itself.
    private func callWithDamagedHandshake(
        seed: UInt64, places: @escaping (_ datagram: [UInt8]) -> Range<Int>
    ) throws -> SimulatedCall {
        let call = try SimulatedCall(conditions: PathTests.clean, seed: seed)
        let random = Box(SeededGenerator(seed: seed &+ 100))
        call.tap = { [unowned call] datagram, end in
            guard DatagramKind(datagram.bytes.span.bytes) == .dtls else { return }
            let places = places(datagram.bytes)
            for _ in 0..<4 where !places.isEmpty {
                var bytes = datagram.bytes
                bytes[Int.random(in: places, using: &random.value)] ^= UInt8.random(in: 1...255, using: &random.value)
                call.inject(bytes, like: datagram, to: end.other)
            }
        }
        call.run(for: .seconds(40), sendsFrames: false)
        return call
    }

    @Test("A DTLS handshake with a changed byte completes or fails with a reason", arguments: UInt64(410)..<418)
    func damagedHandshake(seed: UInt64) throws {
        let call = try callWithDamagedHandshake(seed: seed) { $0.indices }
        let isInsecure = call.record.failures.allSatisfy { if case .insecure = $0 { true } else { false } }
        #expect(isInsecure, "\(call.record.failures)")
        #expect((call.record.connected != nil) == call.record.failures.isEmpty)
    }

    @Test(
        "A DTLS record with a changed header, or a protected one with any byte changed, ends no call",
        arguments: UInt64(450)..<458)
    func damagedRecords(
        seed: UInt64
    ) throws {
        // RFC 6347 §4.1: type, version, epoch, sequence number, length; what is of a later epoch is authentic or nothing.
        let call = try callWithDamagedHandshake(seed: seed) { $0[4] > 0 ? $0.indices : 1..<5 }
        #expect(call.record.connected != nil)
        #expect(call.record.failures.isEmpty, "\(call.record.failures)")
    }

    @Test("Random bytes of every kind are dropped")
    func randomBytes() throws {
        let call = try SimulatedCall(conditions: PathTests.clean, seed: 420)
        call.run(for: .seconds(1))
        var random = SeededGenerator(seed: 421)
        let known = Datagram(
            source: SimulatedCall.viewerAddress, destination: SimulatedCall.senderAddress, bytes: [])
        let back = Datagram(source: SimulatedCall.senderAddress, destination: SimulatedCall.viewerAddress, bytes: [])
        for first in UInt8.min...UInt8.max {
            for _ in 0..<20 {
                var bytes = (0..<Int.random(in: 0...200, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
                if !bytes.isEmpty { bytes[0] = first }
                call.inject(bytes, like: known, to: .left)
                call.inject(bytes, like: back, to: .right)
            }
        }
        let count = call.record.frames.count
        call.run(for: .seconds(1))
        #expect(call.record.failures.isEmpty)
        #expect(call.record.frames.count > count + 25)
    }

    @Test("RTCP with any byte changed before encryption does not break the call")
    func hostilePeerRTCP() throws {
        let call = try SimulatedCall(conditions: WholeCallTests.disturbed(loss: 0.1), seed: 430)
        let wire = Box<[[UInt8]]>([])
        call.tap = { datagram, end in
            if end == .right, DatagramKind(datagram.bytes.span.bytes) == .rtcp { wire.value.append(datagram.bytes) }
        }
        call.run(for: .seconds(4))
        let keys = try #require(call.senderKeys)
        let receiver = try SRTPReceiver(profile: keys.profile, masterKey: keys.remote)
        var random = SeededGenerator(seed: 431)
        for protected in wire.value {
            var compound = protected
            guard (try? receiver.unprotectRTCP(&compound)) != nil else { continue }
            for index in compound.indices {
                var bytes = compound
                bytes[index] ^= UInt8.random(in: 1...255, using: &random)
                let now = call.now
                call.sender.receiveControl(bytes.span.bytes, now: now)
            }
            for length in compound.indices {
                let now = call.now
                call.sender.receiveControl(Array(compound[..<length]).span.bytes, now: now)
            }
        }
        #expect(wire.value.count > 50)
        // Some of it may have been a valid goodbye or request: all that counts is that the packets still leave.
        let count = call.record.sent.count
        call.run(for: .seconds(1))
        #expect(call.record.sent.count > count + 50)
    }

    @Test("RTP with any byte changed before encryption does not break the call")
    func hostilePeerRTP() throws {
        let call = try SimulatedCall(conditions: PathTests.clean, seed: 440)
        let wire = Box<[[UInt8]]>([])
        call.tap = { datagram, end in
            if end == .left, DatagramKind(datagram.bytes.span.bytes) == .rtp { wire.value.append(datagram.bytes) }
        }
        call.run(for: .seconds(1))
        let keys = try #require(call.viewerKeys)
        let receiver = try SRTPReceiver(profile: keys.profile, masterKey: keys.remote)
        let sender = try SRTPSender(profile: keys.profile, masterKey: keys.remote, allowsRepeatedTransmission: true)
        let samples = wire.value.prefix(2) + wire.value.suffix(2)
        let plain = samples.compactMap { protected -> [UInt8]? in
            var bytes = protected
            return (try? receiver.unprotectRTP(&bytes)) == nil ? nil : bytes
        }
        try #require(plain.count == 4)
        var random = SeededGenerator(seed: 441)
        var number = UInt16(plain[3][2]) << 8 | UInt16(plain[3][3])
        call.tap = nil
        for packet in plain {
            // The numbers stay new, so that no replay check saves the code behind it; of a payload the start counts.
            for index in packet.indices.prefix(80) where index != 2 && index != 3 {
                var bytes = packet
                number &+= 1
                (bytes[2], bytes[3]) = (UInt8(number >> 8), UInt8(number & 0xFF))
                bytes[index] ^= UInt8.random(in: 1...255, using: &random)
                guard (try? sender.protectRTP(&bytes)) != nil else { continue }
                let like = Datagram(
                    source: SimulatedCall.senderAddress, destination: SimulatedCall.viewerAddress, bytes: [])
                call.inject(bytes, like: like, to: .right)
            }
        }
        call.run(for: .seconds(2), sendsFrames: false)
        #expect(call.record.failures.isEmpty)
    }
}
