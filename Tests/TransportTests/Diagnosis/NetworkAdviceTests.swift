import RTCShareWireFormat
import Testing

@testable import RTCShareTransport

/// The text that a program makes of advice.
@Suite struct NetworkAdviceTests {
    private let advice: NetworkAdvice =
        "Share with \(.address), ask \(.iceServer("stun:HOST")), or look \("closely") by \(.examination(["stun:A", "stun:B"]))."

    @Test("Advice names settings as the library does, or as a program chooses")
    func words() {
        #expect(
            advice.description
                == "Share with `addresses`, ask stun:HOST in `iceServers`, or look closely by "
                + "`NetworkDiagnosis.examine` with stun:A, stun:B.")
        #expect(advice.words { _ in "…" } == "Share with …, ask …, or look closely by ….")
        #expect(advice.settings == [.address, .iceServer("stun:HOST"), .examination(["stun:A", "stun:B"])])
    }

    @Test("An error names settings as the library does, or as a program chooses")
    func errors() throws {
        #expect(ConnectionError.noAddress.description.hasSuffix("or use `addresses`"))
        let remedy = ConnectionError.noAddress.explanation { "\($0 == .address)" }.remedy
        #expect(remedy?.hasSuffix("or use true") == true)
        let relay = ICEServerError.missingCredentials(url: "turn:relay:3478")
        #expect(relay.description.hasSuffix("give both to `ICEServer(urls:username:credential:)`"))
        #expect(relay.explanation { "\($0 == .credentials)" }.remedy == "true")
    }
}
