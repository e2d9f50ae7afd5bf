import RTCSharePeerConnection
import RTCShareSDP
import RTCShareWireFormat

/// The offer that the tests negotiate, and what goes into descriptions.
enum Samples {
    static let fingerprint = FingerprintAttribute(hashFunction: "sha-256", bytes: (0..<32).map { UInt8($0 &* 7) })

    static let transport = TransportParameters(
        ice: ICEAttributes(usernameFragment: "oFfR", password: "offererPassword0123456789"),
        fingerprints: [fingerprint],
        candidates: [
            CandidateAttribute(
                foundation: "1", priority: 2_130_706_431, host: .address(.v4(0xC0A8_0105)), port: 5000, kind: .host),
            CandidateAttribute(
                foundation: "2", priority: 1_694_498_815, host: .address(.v4(0xCB00_7107)), port: 6000,
                kind: .serverReflexive, relatedHost: .address(.v4(0xC0A8_0105)), relatedPort: 5000),
        ])

    static let content = OfferedSection.video(
        source: OfferedSection.Source(
            stream: MediaStreamAttribute(streamID: "alice#content", trackID: "screen"), ssrc: 1111, rtxSSRC: 2222,
            cname: "cname1"), isSlides: true)

    static func offer(sections: [OfferedSection] = [content]) throws -> SessionDescription {
        // Through text, as it is when offering and sending are two commands: lines get their numbers.
        try SessionDescription.parse(
            Negotiation.makeOffer(OfferParameters(sessionID: 4711, transport: transport, sections: sections))
                .description)
    }

    /// Two videos and their answer.
    static func twoSections() throws -> SessionDescription {
        let camera = OfferedSection.video(
            mid: "cam",
            source: OfferedSection.Source(
                stream: MediaStreamAttribute(streamID: "alice", trackID: "camera"), ssrc: 3333, rtxSSRC: 4444,
                cname: "cname1"), isSlides: false)
        return try offer(sections: [content, camera])
    }

    static let answering = AnswerParameters(
        sessionID: 9,
        transport: TransportParameters(
            ice: ICEAttributes(usernameFragment: "aNsW", password: "answererPassword0123456789"),
            fingerprints: [FingerprintAttribute(hashFunction: "sha-384", bytes: [UInt8](repeating: 1, count: 48))],
            candidates: [
                CandidateAttribute(
                    foundation: "1", priority: 5, host: .address(.v4(0x7F00_0001)), port: 7000, kind: .host)
            ]))
}

extension Samples {
    /// Shared content with its audio, and the participant's own voice and camera.
    static let four: [OfferedSection] = [
        content,
        .audio(mid: "1", source: source("alice#content", "sound", 3333), isSlides: true),
        .audio(mid: "2", source: source("alice", "voice", 4444), isSlides: false),
        .video(mid: "3", source: source("alice", "camera", 5555, 6666), isSlides: false),
    ]

    private static func source(
        _ stream: String, _ track: String, _ ssrc: UInt32, _ rtxSSRC: UInt32? = nil
    ) -> OfferedSection.Source {
        OfferedSection.Source(
            stream: MediaStreamAttribute(streamID: stream, trackID: track), ssrc: ssrc, rtxSSRC: rtxSSRC,
            cname: "cname1")
    }
}
