import RTCShareCongestionControl
import RTCShareICE
import RTCShareSDP
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCSharePeerConnection

/// ICE restarts of a whole call, in virtual time.
@Suite struct RestartTests {
    private func makeCall(
        seed: UInt64, options: SimulatedCall.Options = SimulatedCall.Options()
    ) throws -> SimulatedCall {
        let call = try SimulatedCall(conditions: PathTests.clean, seed: seed, options: options)
        call.run(for: .seconds(3))
        return call
    }

    private func credentials(_ description: SessionDescription) throws -> ICEAttributes {
        let first = try #require(description.media.first)
        return try #require(try description.iceAttributes(of: first))
    }

    @Test("A restart changes the credentials on both sides and loses no frame")
    func newCredentials() throws {
        let call = try makeCall(seed: 801)
        let before = try credentials(call.makeOffer())
        let pair = call.sender.path.pair?.id
        call.sender.restartICE()
        let offer = try call.makeOffer()
        let new = try credentials(offer)
        #expect(new.usernameFragment != before.usernameFragment && new.password != before.password)
        #expect(try call.makeOffer() == offer, "the same offer until it is answered")
        let remote = try #require(call.sender.negotiated?.remoteICE)
        let answer = try call.viewer.answer(offer: offer, now: call.now)
        #expect(try credentials(answer) != remote)
        // The viewer checks under the new credentials before the answer is here, and media goes on.
        call.run(for: .milliseconds(500))
        try call.sender.accept(answer: answer, to: offer, now: call.now)
        call.run(for: .seconds(40))
        #expect(call.sender.path.pair?.id != pair && call.sender.path.pair?.isNominated == true)
        #expect(call.record.failures.isEmpty && call.record.pathEvents.isEmpty)
        #expect(call.record.frames.count >= call.framesSent - 2)
        #expect(call.record.keyFrameRequests <= 1, "of the start")
        #expect(try credentials(call.makeOffer()) == new)
    }

    @Test("A restart whose checks all fail keeps the old pair")
    func failedRestart() throws {
        let call = try makeCall(seed: 802)
        let pair = call.sender.path.pair?.id
        call.sender.restartICE()
        let offer = try call.makeOffer()
        // The peer's new candidates lead nowhere, and its checks bear credentials that nobody gave.
        let stranger = try SessionDescription.parse(
            offer.description.replacing("a=ice-ufrag:", with: "a=ice-ufrag:X"))
        let answer = try call.viewer.answer(offer: stranger, now: call.now)
        try call.sender.accept(answer: answer, to: offer, now: call.now)
        call.run(for: .seconds(60))
        #expect(call.sender.path.pair?.id == pair)
        #expect(call.record.failures.isEmpty && call.record.pathEvents.isEmpty)
        #expect(call.record.frames.count >= call.framesSent - 2)
    }

    @Test("A restart after consent has expired resumes the call with a key frame")
    func restartAfterExpiry() throws {
        var options = SimulatedCall.Options()
        options.sender.restartPatience = .seconds(30)
        options.viewer.restartPatience = .seconds(30)
        let call = try makeCall(seed: 803, options: options)
        call.isCut = true
        call.run(for: .seconds(45))
        #expect(call.record.pathEvents.map(\.event) == [.disconnected, .restartNeeded])
        #expect(call.record.failures.isEmpty && call.sender.path.pair == nil)
        let sent = call.record.sent.count
        call.run(for: .seconds(5))
        #expect(call.record.sent.count == sent, "nothing may be sent without consent")
        call.isCut = false
        let count = call.record.frames.count
        call.sender.restartICE()
        try call.renegotiate()
        let restarted = call.now
        call.run(for: .seconds(3))
        let back = try #require(call.record.pathEvents.last)
        #expect(back.event == .reconnected && back.now - restarted < .milliseconds(500))
        let frames = call.record.frames.dropFirst(count)
        #expect(frames.count > 60 && frames.first?.isKeyFrame == true)
        call.run(for: .seconds(60))
        #expect(call.record.failures.isEmpty)
    }

    @Test("Losses on a former path are neither resent nor counted against the new path")
    func interruptionBeforeRestart() throws {
        let call = try makeCall(seed: 808)
        call.run(for: .seconds(7))
        call.isCut = true
        call.run(for: .seconds(3))
        call.isCut = false
        let count = call.record.frames.count
        let sentAgain = call.sender.outbound[0].video?.history.packetsRetransmitted
        call.sender.addLocalAddress(TransportAddress(ip: .v4(0xC000_0207), port: 5002), now: call.now)
        call.sender.restartICE()
        try call.renegotiate()
        call.run(for: .milliseconds(1500))
        #expect(call.sender.bandwidth.estimator.estimate > .kilobitsPerSecond(1500))
        #expect(call.sender.outbound[0].video?.history.packetsRetransmitted == sentAgain)
        let frames = call.record.frames.dropFirst(count)
        #expect(frames.count > 30 && frames.first?.isKeyFrame == true)
        #expect(call.record.failures.isEmpty)
    }

    @Test("The connection fails without a restart in time")
    func noRestartInTime() throws {
        var options = SimulatedCall.Options()
        options.sender.restartPatience = .seconds(30)
        let call = try makeCall(seed: 804, options: options)
        call.isCut = true
        call.run(for: .seconds(50), sendsFrames: false)
        #expect(call.record.failures == [.consentExpired], "the viewer's, which has no patience")
        call.run(for: .seconds(20), sendsFrames: false)
        #expect(call.record.failures == [.consentExpired, .consentExpired])
    }

    @Test("An answer that does not restart, or is to an offer rolled back, is rejected")
    func answerWithoutRestart() throws {
        let call = try makeCall(seed: 805)
        let plain = try call.makeOffer()
        let unchanged = try call.viewer.answer(offer: plain, now: call.now)
        call.sender.restartICE()
        let offer = try call.makeOffer()
        #expect(throws: PeerConnectionError.restartNotAnswered) {
            try call.sender.accept(answer: unchanged, to: offer, now: call.now)
        }
        call.sender.rollbackOffer()
        #expect(throws: PeerConnectionError.staleOffer) {
            try call.sender.accept(answer: unchanged, to: offer, now: call.now)
        }
        #expect(try credentials(call.makeOffer()) != credentials(offer))
        try call.renegotiate()
        call.run(for: .seconds(5))
        #expect(call.record.failures.isEmpty && call.record.pathEvents.isEmpty)
    }

    @Test("The controlled side gives way when two restarts cross")
    func twoRestartsCross() throws {
        let call = try makeCall(seed: 806)
        call.sender.restartICE()
        call.viewer.restartICE()
        let ours = try call.makeOffer()
        let theirs = try call.viewer.makeOffer()
        #expect(throws: PeerConnectionError.offerOutstanding) {
            _ = try call.sender.answer(offer: theirs, now: call.now)
        }
        let answer = try call.viewer.answer(offer: ours, now: call.now)
        try call.sender.accept(answer: answer, to: ours, now: call.now)
        let pair = call.sender.path.pair?.id
        call.run(for: .seconds(5))
        #expect(call.sender.path.pair?.id != pair)
        #expect(call.record.failures.isEmpty && call.record.frames.count >= call.framesSent - 2)
    }

    @Test("The loss of a socket requires a restart, and a new socket is enough for it")
    func lostSocket() throws {
        var options = SimulatedCall.Options()
        options.sender.restartPatience = .seconds(30)
        let call = try makeCall(seed: 807, options: options)
        call.sender.removeLocalAddress(SimulatedCall.senderAddress, now: call.now)
        call.run(for: .seconds(2))
        #expect(call.record.pathEvents.map(\.event) == [.disconnected, .restartNeeded])
        call.sender.addLocalAddress(TransportAddress(ip: .v4(0xC000_0207), port: 5002), now: call.now)
        call.sender.restartICE()
        try call.renegotiate()
        call.run(for: .seconds(2))
        #expect(call.record.pathEvents.map(\.event) == [.disconnected, .restartNeeded, .reconnected])
        #expect(call.record.failures.isEmpty)
    }
}
