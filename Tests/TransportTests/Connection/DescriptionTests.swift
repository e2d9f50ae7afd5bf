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
        let offer = try await sender.offer()
        try await sender.accept(answer: viewer.answer(offer: offer))
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
        let answer = try await viewer.answer(offer: sender.makeOffer().description)
        await #expect(throws: ConnectionError.noPendingOffer) { try await sender.accept(answer: answer) }
        _ = try await sender.offer()
        await sender.rollbackOffer()
        await #expect(throws: ConnectionError.noPendingOffer) { try await sender.accept(answer: answer) }
        _ = try await sender.offer()
        // An invalid answer leaves the offer unchanged.
        await #expect(throws: SDPError.self) { try await sender.accept(answer: "no answer") }
        await #expect(throws: NegotiationError.self) {
            try await sender.accept(answer: sender.makeOffer().description)
        }
        try await sender.accept(answer: answer)
        await #expect(throws: ConnectionError.noPendingOffer) { try await sender.accept(answer: answer) }
        await #expect(throws: SDPError.self) { _ = try await viewer.answer(offer: "no offer") }
        await sender.close()
        await viewer.close()
    }
}
