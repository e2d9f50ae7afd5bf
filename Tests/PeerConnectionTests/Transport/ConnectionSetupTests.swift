import RTCShareICE
import RTCShareNetworkSimulation
import RTCShareRTP
import RTCShareSecureTransport
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCSharePeerConnection

/// From the answer to keys at both ends: ICE and DTLS where datagrams are lost.
@Suite struct ConnectionSetupTests {
    /// A call whose answer takes as long as any datagram.
    private func makeCall(_ delay: Duration, viewerOffers: Bool, loss: Double = 0, seed: UInt64 = 1) throws
        -> SimulatedCall
    {
        var options = SimulatedCall.Options()
        options.viewerOffers = viewerOffers
        if !viewerOffers { options.answerDelay = delay }
        return try SimulatedCall(conditions: LinkConditions(loss: loss, delay: delay), seed: seed, options: options)
    }

    private func isOfSetup(_ datagram: Datagram) -> Bool {
        [.stun, .dtls].contains(DatagramKind(datagram.bytes.span.bytes))
    }

    /// Returns the time after which both ends have keys, in milliseconds.
    private func connect(_ call: SimulatedCall, sendsFrames: Bool = false) throws -> Duration {
        let start = call.now
        while call.senderKeys == nil || call.viewerKeys == nil {
            call.run(for: .milliseconds(1), sendsFrames: sendsFrames)
            try #require(call.now - start < .seconds(20))
        }
        return call.now - start
    }

    @Test(
        "The loss of any datagram during setup costs its round trip and little more",
        arguments: [Duration.milliseconds(20), .milliseconds(40), .milliseconds(100)], [false, true])
    func eachLost(delay: Duration, viewerOffers: Bool) throws {
        let clean = try makeCall(delay, viewerOffers: viewerOffers)
        let count = Box(0)
        clean.tap = { datagram, _ in if isOfSetup(datagram) { count.value += 1 } }
        let usual = try connect(clean)
        // Two round trips of DTLS, one of ICE, and the last flight's way.
        #expect(usual <= delay * 7 + .milliseconds(2))
        #expect(count.value >= 8)
        let trip = delay * 2
        let patience = max(.milliseconds(50), trip + max(trip / 8, .milliseconds(15)))
        for lost in 0..<count.value {
            let call = try makeCall(delay, viewerOffers: viewerOffers)
            let number = Box(0)
            call.loses = { datagram, _ in
                guard isOfSetup(datagram) else { return false }
                number.value += 1
                return number.value - 1 == lost
            }
            let cost = try connect(call) - usual
            #expect(cost <= patience + .milliseconds(2), "the loss of datagram \(lost) of \(count.value): \(cost)")
        }
    }

    @Test("Without loss only the server's last flight is sent twice", arguments: [false, true])
    func clean(viewerOffers: Bool) throws {
        let call = try makeCall(.milliseconds(20), viewerOffers: viewerOffers)
        call.run(for: .seconds(3))
        let (sender, viewer) = (call.sender.transport.dtls?.statistics, call.viewer.transport.dtls?.statistics)
        #expect(sender?.retransmissions == (viewerOffers ? 0 : 1))
        #expect(viewer?.retransmissions == (viewerOffers ? 1 : 0))
        for peer in [call.sender.report(now: call.now), call.viewer.report(now: call.now)] {
            let counts = try #require(peer.candidatePairs.first?.counts)
            #expect(counts.requestsSent == counts.responsesReceived)
        }
    }

    @Test("Ten percent loss each way delays setup by tenths of a second, not seconds", arguments: [false, true])
    func tenthLost(viewerOffers: Bool) throws {
        var times: [Double] = []
        for seed in 1...60 {
            let call = try makeCall(
                .milliseconds(40), viewerOffers: viewerOffers, loss: 0.1, seed: UInt64(seed) &* 7919)
            times.append(try connect(call).milliseconds)
        }
        let (most, nearlyAll) = (try #require(times.percentile(0.5)), try #require(times.percentile(0.95)))
        #expect(most <= 340, "\(most)")
        #expect(nearlyAll <= 800, "\(nearlyAll)")
    }
}
