import RTCShareCongestionControl
@testable import RTCSharePeerConnection
import RTCShareRTP
import RTCShareWireFormat
import TestSupport
import Testing

/// Offer, answer, ICE, DTLS, SRTP, frames, loss and recovery: everything but sockets, in virtual time.
@Suite struct WholeCallTests {
    static let lossless = LinkConditions(delay: .milliseconds(20))

    static func disturbed(loss: Double) -> LinkConditions {
        LinkConditions(
            loss: loss, delay: .milliseconds(20), jitter: .milliseconds(5), reordering: 0.1, duplication: 0.05)
    }

    @Test("Every frame arrives within a quarter of a second on a lossless path")
    func cleanPath() throws {
        let call = try SimulatedCall(conditions: Self.lossless, seed: 1)
        let start = call.now
        call.run(for: .seconds(5))
        let connected = try #require(call.record.connected)
        #expect(connected - start < .milliseconds(300))
        call.run(for: .milliseconds(500), sendsFrames: false)
        #expect(call.record.frames.count == call.framesSent)
        #expect(call.record.frames.first?.isKeyFrame == true)
        #expect(call.record.frames.dropFirst().allSatisfy { !$0.isKeyFrame })
        #expect(call.record.failures.isEmpty)
    }

    @Test(
        "A call connects and its frames are repaired despite loss, reordering and duplicates",
        arguments: [0.0, 0.05, 0.2], [UInt64(11), 12, 13])
    func lossReorderingDuplicates(
        loss: Double, seed: UInt64
    ) throws {
        let call = try SimulatedCall(conditions: Self.disturbed(loss: loss), seed: seed)
        call.run(for: .seconds(15))
        call.run(for: .seconds(2), sendsFrames: false)
        try #require(call.record.connected != nil)
        #expect(call.record.failures.isEmpty)
        let share = Double(call.record.frames.count) / Double(max(1, call.framesSent))
        let least = loss < 0.1 ? 0.99 : 0.9
        #expect(share >= least, "\(call.record.frames.count) of \(call.framesSent)")
    }

    @Test("Every delivered frame is decodable: gaps occur only before key frames")
    func decodableFrames() throws {
        let call = try SimulatedCall(conditions: Self.disturbed(loss: 0.2), seed: 21)
        call.run(for: .seconds(10))
        // Nearly 300 were sent; a gap costs a round trip and what it takes to ask.
        #expect(call.record.frames.count > 200, "\(call.record.frames.count)")
        #expect(call.record.frames.contains { !$0.isKeyFrame })
        var previous: UInt16?
        for frame in call.record.frames {
            let number = try #require(frame.pictureID?.value)
            if let previous, !frame.isKeyFrame { #expect(number == (previous + 1) & 0x7FFF) }
            previous = number
        }
    }

    @Test("The same seed gives the same link and the same packets")
    func isDeterministic() throws {
        func run() throws -> SimulatedCall.Record {
            let call = try SimulatedCall(conditions: Self.disturbed(loss: 0.05), seed: 31)
            call.run(for: .seconds(5))
            return call.record
        }
        let (first, second) = (try run(), try run())
        // ECDSA signatures differ in length by a byte or two from run to run: keys apart, sizes and times are the same.
        #expect(first.connected == second.connected)
        #expect(first.sent.count == second.sent.count)
        #expect(zip(first.sent, second.sent).allSatisfy { $0.now == $1.now && abs($0.size - $1.size) <= 4 })
        #expect(first.frames.map(\.data) == second.frames.map(\.data))
    }

    @Test("Frames are paced: any 5 ms carry at most the pacing rate and one group")
    func pacedFrame() throws {
        let call = try SimulatedCall(conditions: Self.lossless, seed: 41)
        let rates = Box<[DataRate]>([])
        call.tap = { [unowned call] _, end in
            if end == .left { rates.value.append(call.sender.bandwidth.pacer.pacingRate) }
        }
        call.run(for: .seconds(3))
        let sent = Array(zip(call.record.sent, rates.value))
        try #require(sent.count == call.record.sent.count && sent.count > 300)
        var fullest = 0.0
        for index in sent.indices {
            let start = sent[index].0.now
            let window = sent[index...].prefix { $0.0.now - start < .milliseconds(5) }
            let rate = try #require(window.map(\.1).max())
            // A group has 5 ms of the rate, or two packets. Its last packet may overrun it, and what RTP is wrapped in is not paced.
            let carried = rate.bytes(in: .milliseconds(5))
            let most = carried + max(carried, 2400) + 1500
            let bytes = window.map(\.0.size).reduce(0, +)
            #expect(bytes <= most, "\(bytes) bytes within 5 ms at \(rate)")
            fullest = max(fullest, Double(bytes) / Double(most))
        }
        #expect(fullest > 0.5, "else nothing was held back")
    }

    @Test("Closing sends a goodbye, which the other end receives")
    func closingSaysGoodbye() throws {
        let call = try SimulatedCall(conditions: Self.lossless, seed: 51)
        call.run(for: .seconds(2))
        call.sender.close(now: call.now)
        call.run(for: .seconds(1), sendsFrames: false)
        #expect(call.record.goodbyes >= 1)
        #expect(call.record.failures.isEmpty)
    }

    @Test("The statistics have W3C's names and count what was sent and received")
    func w3cStatistics() throws {
        let call = try SimulatedCall(conditions: Self.disturbed(loss: 0.05), seed: 61)
        call.run(for: .seconds(5))
        let sent = call.sender.report(now: call.now)
        let seen = call.viewer.report(now: call.now)
        let outbound = try #require(sent.outboundRTP[0]?.video)
        let inbound = try #require(seen.inboundRTP[0]?.video)
        let remote = try #require(sent.remoteInboundRTP[0])
        #expect(outbound.framesSent == UInt64(call.framesSent))
        #expect(outbound.nackCount > 0)
        #expect(outbound.retransmittedPacketsSent > 0)
        #expect(inbound.packetsReceived > 0)
        #expect(inbound.retransmittedPacketsReceived > 0)
        let trip = try #require(remote.roundTripTime)
        #expect(trip > .milliseconds(35) && trip < .milliseconds(80))
        #expect(sent.candidatePairs.contains { $0.nominated })
        #expect(sent.transport?.dtlsState == "connected")
        #expect(sent.codecs.contains { $0.mimeType == "video/VP8" })
    }
}
