import RTCShareSecureTransport
import TestSupport
import Testing

@testable import RTCSharePeerConnection

/// The DTLS state kept while media is sent.
@Suite struct HandshakeReleaseTests {
    @Test(
        "OpenSSL's state is released only on request, and the goodbye is received either way",
        arguments: [true, false])
    func release(isAsked: Bool) throws {
        var options = SimulatedCall.Options()
        options.sender.releasesHandshake = isAsked
        options.viewer.releasesHandshake = isAsked
        let call = try SimulatedCall(
            conditions: LinkConditions(delay: .milliseconds(20)), seed: 140, options: options)
        call.run(for: .seconds(3))
        #expect(call.record.connected != nil)
        #expect(call.sender.transport.dtls?.isResting == isAsked)
        #expect(call.viewer.transport.dtls?.isResting == isAsked)
        call.sender.close(now: call.now)
        call.run(for: .seconds(1), sendsFrames: false)
        #expect(call.record.goodbyes == 1 && call.record.failures.isEmpty)
    }
}
