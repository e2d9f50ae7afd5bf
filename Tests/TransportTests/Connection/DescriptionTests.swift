import RTCSharePeerConnection
import RTCShareSDP
import TestSupport
import Testing

@testable import RTCShareTransport

/// Descriptions as a program exchanges them.
@Suite(.timeLimit(.minutes(1))) struct DescriptionTests {
    @Test("An offer and an answer, as text, connect")
    func exchange() async throws {
        let (sender, viewer) = (
            try await Loopback.open(as: .offerer), try await Loopback.open(as: .answerer)
        )
        let offer = try await sender.createOffer()
        try await sender.setRemoteDescription(answer: viewer.createAnswer(to: offer))
        var isConnected = false
        for await signal in sender.signals {
            if case .state(.connected) = signal {
                isConnected = true
                break
            }
        }
        #expect(isConnected)
        await sender.close()
        await viewer.close()
    }

    @Test("An answer belongs to the last offer: without an offer, or a second time, it is rejected")
    func answerWithoutOffer() async throws {
        let (sender, viewer) = (
            try await Loopback.open(as: .offerer), try await Loopback.open(as: .answerer)
        )
        let answer = try await viewer.createAnswer(to: sender.makeOffer().description)
        await #expect(throws: ConnectionError.noPendingOffer) { try await sender.setRemoteDescription(answer: answer) }
        _ = try await sender.createOffer()
        await sender.rollbackOffer()
        await #expect(throws: ConnectionError.noPendingOffer) { try await sender.setRemoteDescription(answer: answer) }
        _ = try await sender.createOffer()
        // An invalid answer leaves the offer unchanged.
        await #expect(throws: SDPError.self) { try await sender.setRemoteDescription(answer: "no answer") }
        await #expect(throws: NegotiationError.self) {
            try await sender.setRemoteDescription(answer: sender.makeOffer().description)
        }
        try await sender.setRemoteDescription(answer: answer)
        await #expect(throws: ConnectionError.noPendingOffer) { try await sender.setRemoteDescription(answer: answer) }
        await #expect(throws: SDPError.self) { _ = try await viewer.createAnswer(to: "no offer") }
        await sender.close()
        await viewer.close()
    }
}
