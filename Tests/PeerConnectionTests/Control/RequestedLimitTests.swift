import RTCShareCongestionControl
import RTCShareNetworkSimulation
import RTCShareRTP
import RTCShareSDP
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCSharePeerConnection

/// Limits that a peer requests (RFC 5104 §4.2).
@Suite struct RequestedLimitTests {
    private func makeCall(seed: UInt64) throws -> SimulatedCall {
        let call = try SimulatedCall(conditions: LinkConditions(delay: .milliseconds(20)), seed: seed)
        call.followsTargets = true
        call.run(for: .seconds(2))
        try #require(call.record.connected != nil)
        call.record.keyFrameRequests = 0
        return call
    }

    private func limit(_ rate: DataRate, overhead: UInt16 = 40, owner: UInt32 = 7, on call: SimulatedCall) {
        let entry = TemporaryMaximumBitrate.Entry(
            source: SynchronizationSource(call.sender.localMedia[0].source), bitrate: rate, overhead: overhead)
        call.receive(
            [
                .temporaryMaximumBitrate(
                    TemporaryMaximumBitrate(sender: SynchronizationSource(owner), entries: [entry]))
            ])
    }

    private func target(_ call: SimulatedCall) -> DataRate { call.sender.targetBitrate(media: 0)?.bitrate ?? .zero }

    @Test("The goodbye of the source that requested a limit lifts it")
    func goodbyeOfOwner() throws {
        let call = try makeCall(seed: 910)
        call.receive([.receiverReport(ReceiverReport(source: SynchronizationSource(7)))])
        limit(.zero, on: call)
        call.run(for: .seconds(1))
        #expect(target(call) == .zero)
        call.receive([.goodbye(Goodbye(sources: [SynchronizationSource(7)]))])
        call.run(for: .seconds(2))
        #expect(call.record.goodbyes == 0)
        #expect(target(call) > .zero)
    }

    @Test("A limit that leaves nothing for the encoder pauses like zero: no padding, and a key frame after it")
    func tinyLimit() throws {
        let call = try makeCall(seed: 911)
        limit(.kilobitsPerSecond(5), on: call)
        call.run(for: .seconds(1))
        #expect(target(call) == .zero)
        #expect(call.sender.paddingMedia() == nil)
        limit(.kilobitsPerSecond(800), on: call)
        call.run(for: .seconds(1))
        #expect(call.record.keyFrameRequests == 1)
    }

    @Test("A limit does not outlive the stream that it limits")
    func heldBack() throws {
        let call = try makeCall(seed: 914)
        limit(.zero, on: call)
        call.run(for: .seconds(1))
        call.sender.setHeldBack(true, media: 0, now: call.now)
        call.run(for: .seconds(1))
        call.sender.setHeldBack(false, media: 0, now: call.now)
        call.run(for: .seconds(2))
        #expect(target(call) > .zero)
    }
}
