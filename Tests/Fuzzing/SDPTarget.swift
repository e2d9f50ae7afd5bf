import RTCSharePeerConnection
import RTCShareSDP
import RTCShareWireFormat
import TestSupport

/// A description is read, written, explained, and negotiated as an offer and as an answer.
struct SDPTarget: FuzzTarget {
    private let identity: LocalIdentity
    private let answering: LocalIdentity
    private let offer: SessionDescription
    private let answer: SessionDescription
    private let now = Instant(nanoseconds: 1_000_000_000)

    init() throws {
        var random = SeededGenerator(seed: 1)
        identity = try LocalIdentity(
            media: [
                .video(streamID: "alice#content", isContent: true),
                .audio(streamID: "alice#content", isContent: true),
            ], unixTime: 1_700_000_000, random: &random)
        answering = try LocalIdentity(media: [], unixTime: 1_700_000_000, random: &random)
        var offerer = try Self.end(.offerer, identity, now)
        offer = try SessionDescription.parse(offerer.makeOffer().description)
        var answerer = try Self.end(.answerer, answering, now)
        answer = try SessionDescription.parse(answerer.answer(offer: offer, now: now).description)
    }

    private static func end(
        _ part: PeerConnection.Part, _ identity: LocalIdentity, _ now: Instant
    ) throws -> PeerConnection {
        var end = try PeerConnection(
            as: part, identity: identity, configuration: PeerConnection.Configuration(),
            random: SeededGenerator(seed: 2))
        end.addLocalAddress(SimulatedCall.senderAddress, now: now)
        return end
    }

    func run(_ input: [UInt8]) throws {
        let text = String(decoding: input, as: UTF8.self)
        for line in SessionDescription.explain(text) {
            expect(line.number > 0, "explained lines have numbers")
        }
        let session = try SessionDescription.parse(utf8: input)
        let written = try? SessionDescription.parse(session.description)
        expect(written == session, "a description is the same once it was written and read")
        _ = try? session.groups()
        for media in session.media { try? readAll(media, of: session) }

        _ = try? Negotiation.negotiate(offer: offer, answer: session)
        _ = try? Negotiation.negotiate(offer: session, answer: answer)
        _ = try? Negotiation.negotiate(offer: session, answer: session)
        var offerer = try Self.end(.offerer, identity, now)
        let offer = try offerer.makeOffer()
        if (try? offerer.accept(answer: session, to: offer, now: now)) != nil {
            let next = try? SessionDescription.parse(offerer.makeOffer().description)
            expect(next != nil, "what is offered after an answer can be read")
            offerer.endRemoteCandidates(now: now)
            offerer.handleTimeout(now: now.advanced(by: .seconds(1)))
        }
        var answerer = try Self.end(.answerer, answering, now)
        let made = try answerer.answer(offer: session, now: now)
        let read = try? SessionDescription.parse(made.description)
        expect(read != nil, "an answer can be read")
        answerer.handleTimeout(now: now.advanced(by: .seconds(1)))
    }

    private func readAll(_ media: MediaDescription, of session: SessionDescription) throws(SDPError) {
        _ = try (session.iceAttributes(of: media), session.fingerprints(of: media), session.setup(of: media))
        _ = try (media.mid(), media.mediaStreams(), media.rtcp(), media.candidates(), media.rtpMaps())
        _ = try (media.formatParameters().map { $0["apt"] }, media.feedback(), media.content())
        _ = try (session.extensionMaps(of: media), media.sources(), media.sourceGroups())
    }

    func seeds() -> [String: [UInt8]] {
        [
            "offer": Array(offer.description.utf8), "answer": Array(answer.description.utf8),
            "chromium-offer": Array(PeerDescriptions.chromiumOffer.utf8),
            "chromium-answer": Array(PeerDescriptions.chromiumAnswerToFour.utf8),
            "firefox-answer": Array(PeerDescriptions.firefoxAnswer.utf8),
            "aiortc-offer": Array(PeerDescriptions.aiortcOffer.utf8),
        ]
    }
}
