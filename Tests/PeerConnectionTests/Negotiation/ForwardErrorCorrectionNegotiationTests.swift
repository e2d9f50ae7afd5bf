import RTCSharePeerConnection
import RTCShareSDP
import TestSupport
import Testing

/// The payload types of forward error correction, and the conditions for its use.
@Suite("Negotiating forward error correction")
struct ForwardErrorCorrectionNegotiationTests {
    private static let formats = ForwardErrorCorrectionFormats(red: 112, redRetransmission: 113, ulpfec: 114)

    private static func agreed(_ edit: (String) -> String) throws -> ForwardErrorCorrectionFormats? {
        let offer = try Samples.offer()
        let answer = try SessionDescription.parse(
            edit(
                PeerDescriptions.chromiumAnswer
                    .replacing("SAVPF 96 97\n", with: "SAVPF 96 97 112 113 114\n")
                    .replacing(
                        "a=rtpmap:97 rtx/90000\n",
                        with: """
                            a=rtpmap:97 rtx/90000
                            a=rtpmap:112 red/90000
                            a=rtpmap:113 rtx/90000
                            a=fmtp:113 apt=112
                            a=rtpmap:114 ulpfec/90000

                            """)))
        return try Negotiation.negotiate(offer: offer, answer: answer).acceptedMedia[0].forwardErrorCorrection
    }

    @Test("RED and ULPFEC are used when an answer accepts both, under any payload types")
    func taken() throws {
        #expect(try Self.agreed { $0 } == Self.formats)
        let others = try Self.agreed {
            $0.replacing("112 113 114", with: "122 119 123").replacing(":112 red", with: ":122 red")
                .replacing(":113 ", with: ":119 ").replacing("apt=112", with: "apt=122")
                .replacing(":114 ulpfec", with: ":123 ULPFEC")
        }
        #expect(others == ForwardErrorCorrectionFormats(red: 122, redRetransmission: 119, ulpfec: 123))
    }

    @Test(
        "Neither RED nor ULPFEC is used when an answer lacks one of them or changes the clock rate",
        arguments: [
            (" red/90000", " x-red/90000"), (" ulpfec/90000", " flexfec-03/90000"), (" red/90000", " red/48000"),
            ("96 97 112 113 114", "96 97"),
        ])
    func notTaken(text: String, replacement: String) throws {
        #expect(try Self.agreed { $0.replacing(text, with: replacement) } == nil)
    }

    @Test("RED is never selected as the codec, wherever it is listed")
    func order() throws {
        #expect(try Self.agreed { $0.replacing("96 97 112 113 114", with: "112 114 113 96 97") } == Self.formats)
    }

    private static func offer(_ edit: (String) -> String = { $0 }) throws -> SessionDescription {
        try SessionDescription.parse(edit(Samples.offer().description))
    }

    private static func answer(
        to offer: SessionDescription
    ) throws -> (answer: SessionDescription, formats: ForwardErrorCorrectionFormats?) {
        let (answer, session) = try Negotiation.makeAnswer(
            to: offer, AnswerParameters(sessionID: 1, transport: Samples.transport))
        return (answer, session.acceptedMedia[0].forwardErrorCorrection)
    }

    @Test("An offer with RED and ULPFEC is answered with both, under the offer's payload types")
    func answered() throws {
        let (answer, formats) = try Self.answer(to: Self.offer())
        #expect(formats == Self.formats)
        #expect(answer.media[0].formats == ["96", "97", "112", "113", "114"])
        let text = answer.description
        for line in ["rtpmap:112 red/90000", "rtpmap:113 rtx/90000", "fmtp:113 apt=112", "rtpmap:114 ulpfec/90000"] {
            #expect(text.contains("a=\(line)\r\n"))
        }
        let agreed = try Negotiation.negotiate(offer: Self.offer(), answer: answer)
        #expect(agreed.acceptedMedia[0].forwardErrorCorrection == Self.formats)
    }

    @Test("RED is not accepted when it has no RTX although other formats do")
    func withoutRetransmission() throws {
        let offer = try Self.offer {
            $0.replacing("a=rtpmap:113 rtx/90000\r\na=fmtp:113 apt=112\r\n", with: "").replacing(" 113", with: "")
        }
        let (answer, formats) = try Self.answer(to: offer)
        #expect(formats == nil && answer.media[0].formats == ["96", "97"])
    }
}
