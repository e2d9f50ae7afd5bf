import RTCShareRTP
import RTCShareSDP
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCSharePeerConnection

/// Codecs whose parameters decide whether both sides can use a payload type.
@Suite struct FormatParametersTests {
    private static let formats: [any VideoPayloadFormat] = [.vp8, .h264, .h264SingleUnits]

    private static func section(_ preferences: [any VideoPayloadFormat] = []) throws -> OfferedSection {
        var section = OfferedSection.video(
            codecs: NegotiableCodec.video(formats, preferring: preferences),
            source: try #require(Samples.content.source),
            isSlides: true)
        section.hasCodecPreferences = !preferences.isEmpty
        return section
    }

    private static func offer() throws -> SessionDescription { try Samples.offer(sections: [section()]) }

    private static func answer(
        _ offer: SessionDescription, _ formats: [any VideoPayloadFormat] = formats
    ) throws -> (answer: SessionDescription, media: NegotiatedMedia) {
        var parameters = Samples.answering
        parameters.codecs = NegotiableCodec.video(formats)
        let (answer, session) = try Negotiation.makeAnswer(to: offer, parameters)
        return (try SessionDescription.parse(answer.description), session.acceptedMedia[0])
    }

    private static func accepted(
        _ answer: SessionDescription, to offer: SessionDescription? = nil
    ) throws -> NegotiatedMedia {
        let offer = try offer ?? Self.offer()
        return try Negotiation.negotiate(offer: offer, answer: answer, videoFormats: formats).acceptedMedia[0]
    }

    private static func lines(_ description: SessionDescription, _ name: String) -> [String] {
        description.media[0].attributes(name).compactMap { $0.attributeValue.map(String.init) }
    }

    /// The section of an offer by Chromium 156, without the codecs that nobody here has.
    private static func chromium(_ formats: String = "96 97 102 103 104 107 108 109 114 115") throws
        -> SessionDescription
    {
        let codecs = [
            "rtpmap:96 VP8/90000", "rtpmap:97 rtx/90000", "fmtp:97 apt=96",
            "rtpmap:102 H264/90000", "fmtp:102 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42001f",
            "rtpmap:103 rtx/90000", "fmtp:103 apt=102",
            "rtpmap:104 H264/90000", "fmtp:104 level-asymmetry-allowed=1;packetization-mode=0;profile-level-id=42001f",
            "rtpmap:107 rtx/90000", "fmtp:107 apt=104",
            "rtpmap:108 H264/90000", "fmtp:108 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f",
            "rtpmap:109 rtx/90000", "fmtp:109 apt=108",
            "rtpmap:114 H264/90000", "fmtp:114 level-asymmetry-allowed=1;packetization-mode=0;profile-level-id=42e01f",
            "rtpmap:115 rtx/90000", "fmtp:115 apt=114",
        ]
        let media = try offer().media[0]
        let known = ["rtpmap", "fmtp", "rtcp-fb"].flatMap { media.attributes($0) }
        var lines = try offer().description.split(separator: "\r\n").map(String.init)
        lines.removeAll { line in known.contains { $0.description == line } }
        let place = try #require(lines.firstIndex { $0.hasPrefix("m=video") })
        lines[place] = "m=video 9 UDP/TLS/RTP/SAVPF \(formats)"
        lines += codecs.map { "a=" + $0 }
        return try SessionDescription.parse(lines.map { $0 + "\r\n" }.joined())
    }

    @Test("An offer of H.264 has a payload type for each packetization mode, each with retransmission")
    func offered() throws {
        let offer = try Self.offer()
        #expect(offer.media[0].formats == ["96", "97", "98", "99", "100", "101", "112", "113", "114"])
        #expect(
            Self.lines(offer, "fmtp") == [
                "97 apt=96", "98 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f", "99 apt=98",
                "100 level-asymmetry-allowed=1;packetization-mode=0;profile-level-id=42e01f", "101 apt=100",
                "113 apt=112",
            ])
    }

    @Test("An answer takes the payload types of the same profile and mode, and repeats their parameters")
    func answered() throws {
        let offer = try Self.chromium()
        let (answer, media) = try Self.answer(offer)
        #expect(answer.media[0].formats == ["96", "97", "108", "109", "114", "115"])
        #expect(
            Self.lines(answer, "fmtp") == [
                "97 apt=96", "108 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f",
                "109 apt=108",
                "114 level-asymmetry-allowed=1;packetization-mode=0;profile-level-id=42e01f", "115 apt=114",
            ])
        let formats = media.formats
        #expect(formats.map(\.payloadType.rawValue) == [96, 108, 114])
        #expect(zip(formats, Self.formats).allSatisfy { $0.format === $1 })
        #expect(try Self.answer(offer, [.h264]).answer.media[0].formats == ["108", "109"])
    }

    @Test("An offer that has no codec of the same configuration has nothing to receive")
    func foreignOffer() throws {
        let offer = try Self.chromium("102 103 104 107")
        #expect(throws: NegotiationError.self) { try Self.answer(offer) }
    }

    @Test("An answer may have other payload types, another order, spaces and case")
    func accepted() throws {
        let (text, _) = try Self.answer(Self.offer())
        let changed = text.description.replacing("SAVPF 96 97 98 99 100 101", with: "SAVPF 35 96 97")
            .replacing(":98 ", with: ":35 ")
            .replacing(
                "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f",
                with: "profile-level-id=42C028 ; Packetization-Mode=1;x")
        let formats = try Self.accepted(.parse(changed)).formats
        #expect(
            formats.map(\.payloadType.rawValue) == [35, 96] && formats.map(\.retransmission?.rawValue) == [nil, 97])
        #expect(formats[0].format === H264PayloadFormat.h264)
    }

    @Test("An answer without a=rtpmap and a=fmtp has the configuration of the offer")
    func unnamed() throws {
        let (answer, _) = try Self.answer(Self.offer(), [.h264])
        let text = answer.description.split(separator: "\r\n").filter { !$0.hasPrefix("a=rtpmap:98") }
            .filter { !$0.hasPrefix("a=fmtp:98") }
        let media = try Self.accepted(.parse(text.map { $0 + "\r\n" }.joined()))
        #expect(media.formats.map(\.payloadType.rawValue) == [98])
    }

    /// The viewer's answer of H.264 only, with other lines for its parameters.
    private static func answer(parameters lines: String) throws -> SessionDescription {
        let (answer, _) = try Self.answer(offer(), [.h264])
        let text = answer.description.split(separator: "\r\n").filter { !$0.hasPrefix("a=fmtp:98") }
        return try .parse(text.map { $0 + "\r\n" }.joined() + lines)
    }

    @Test(
        "An answer of a server that only receives can lack the mode, and have another profile",
        arguments: [
            "", "a=fmtp:98 profile-level-id=42e01f\r\n",
            "a=fmtp:98 level-asymmetry-allowed=1\r\na=fmtp:98 profile-level-id=42C028\r\n",
            "a=fmtp:98 packetization-mode=1;profile-level-id=42001f\r\n", "a=fmtp:98 profile-level-id=4d001f\r\n",
            "a=fmtp:98 packetization-mode=1\r\na=fmtp:98 profile-level-id=640c34\r\n",
        ])
    func incomplete(lines: String) throws {
        let formats = try Self.accepted(Self.answer(parameters: lines)).formats
        #expect(formats.map(\.payloadType.rawValue) == [98] && formats[0].format === H264PayloadFormat.h264)
    }

    @Test("An answer of a peer that also sends must have the profile that this side receives")
    func incompleteAndSending() throws {
        let offer = try SessionDescription.parse(
            Self.offer().description.replacing("a=sendonly", with: "a=sendrecv"))
        func negotiate(_ profile: String) throws -> NegotiatedMedia {
            let text = try Self.answer(parameters: "a=fmtp:98 profile-level-id=\(profile)\r\n").description
            return try Self.accepted(.parse(text.replacing("a=recvonly", with: "a=sendrecv")), to: offer)
        }
        #expect(try negotiate("42e01f").formats.count == 1)
        #expect(throws: NegotiationError.self) { try negotiate("640c1f") }
    }

    @Test("An offer that only receives other profiles is answered with them, after those of the same configuration")
    func receivingOffer() throws {
        let section = try Self.section()
        var parameters = Samples.answering
        parameters.codecs = NegotiableCodec.video(Self.formats)
        parameters.sending = [0: section]
        func negotiate(_ formats: String) throws -> (SessionDescription, NegotiatedMedia) {
            let offer = try Self.chromium(formats).description.replacing("a=sendonly", with: "a=recvonly")
            let (answer, session) = try Negotiation.makeAnswer(to: .parse(offer), parameters)
            return (try .parse(answer.description), session.acceptedMedia[0])
        }
        let (answer, media) = try negotiate("96 97 102 103")
        #expect(answer.media[0].formats == ["96", "97", "102", "103"])
        #expect(
            Self.lines(answer, "fmtp") == [
                "97 apt=96", "102 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42001f",
                "103 apt=102",
            ])
        #expect(media.formats.map(\.payloadType.rawValue) == [96, 102])
        #expect(try negotiate("102 103 108 109 96 97").0.media[0].formats == ["108", "109", "96", "97"])
    }

    @Test("An answer with another mode or profile only is an error that names what the peer wants")
    func refused() throws {
        let (answer, _) = try Self.answer(Self.offer(), [.h264])
        let text = answer.description.replacing(
            "packetization-mode=1;profile-level-id=42e01f", with: "packetization-mode=2;profile-level-id=640c1f")
        let error = try #require(#expect(throws: NegotiationError.self) { try Self.accepted(.parse(text)) })
        #expect(
            error.rule
                == .noCommonCodec(
                    offered: ["VP8", "H264", "H264"],
                    answered: ["H264/90000 level-asymmetry-allowed=1;packetization-mode=2;profile-level-id=640c1f"]))
        let other = answer.description.replacing("H264", with: "VP9")
        let second = try #require(#expect(throws: NegotiationError.self) { try Self.accepted(.parse(other)) })
        #expect(second.reason == "none of this section's codecs (VP9) was offered (VP8, H264, H264)")
    }

    @Test("Preferences order and restrict the codecs of offers and answers, which keep their payload types")
    func preferences() throws {
        let section = try Self.section([.h264, .vp8])
        let offer = try Samples.offer(sections: [section])
        #expect(offer.media[0].formats == ["98", "99", "96", "97", "112", "113", "114"])
        var parameters = Samples.answering
        parameters.codecs = NegotiableCodec.video(Self.formats)
        parameters.sending = [0: section]
        let answer = try Negotiation.makeAnswer(to: Self.chromium(), parameters).answer
        #expect(answer.media[0].formats == ["108", "109", "96", "97"])
        #expect(NegotiableCodec.video(Self.formats, preferring: [TestPayloadFormat.shared]).count == 3)
    }

    @Test("Each codec has the limits of its own parameters")
    func limits() throws {
        let (answer, _) = try Self.answer(Self.offer(), [.vp8, .h264])
        let text =
            answer.description.replacing("profile-level-id=42e01f", with: "profile-level-id=42e01e")
            + "a=fmtp:96 max-fs=12288;max-fr=60\r\n"
        let formats = try Self.accepted(.parse(text)).formats
        #expect(
            formats.map(\.limits) == [
                PictureLimits(maximumMacroblocks: 12_288, maximumFramesPerSecond: 60),
                PictureLimits(maximumMacroblocks: 1620, maximumFramesPerSecond: 25),
            ])
        #expect(formats[0] != formats[1] && Set(formats).count == 2)
    }

    @Test("A connection offers the preferred codecs of a video, and knows those that the peer accepts")
    func connection() throws {
        var random = SeededGenerator(seed: 1)
        let now = Instant(nanoseconds: 0)
        func peer(_ part: PeerConnection.Part, _ media: [LocalIdentity.MediaKind]) throws -> PeerConnection {
            let identity = try LocalIdentity(media: media, unixTime: 1_700_000_000, random: &random)
            var configuration = PeerConnection.Configuration()
            configuration.videoFormats = Self.formats
            return try PeerConnection(
                as: part, identity: identity, configuration: configuration, random: SeededGenerator(seed: 2))
        }
        var sender = try peer(.offerer, [.video(streamID: "alice#content", isContent: true)])
        var viewer = try peer(.answerer, [])
        #expect(sender.videoFormats(media: 0).isEmpty && sender.videoFormats(media: 7).isEmpty)
        sender.setCodecPreferences([.h264SingleUnits, .vp8], media: 0)
        sender.setCodecPreferences([], media: 7)
        let offer = try sender.makeOffer()
        #expect(offer.media[0].formats.prefix(4) == ["100", "101", "96", "97"])
        try sender.accept(answer: viewer.answer(offer: offer, now: now), to: offer, now: now)
        #expect(sender.videoFormats(media: 0).map(\.payloadType.rawValue) == [100, 96])
        sender.setCodecPreferences([], media: 0)
        let next = try sender.makeOffer()
        #expect(next.media[0].formats.prefix(6) == ["96", "97", "98", "99", "100", "101"])
        // The peer asks for its section again, with the parameters of each payload type.
        try sender.accept(answer: viewer.answer(offer: next, now: now), to: next, now: now)
        let reversed = try viewer.makeOffer()
        #expect(Self.lines(reversed, "fmtp") == Self.lines(next, "fmtp"))
    }

    // Later offers.

    /// A sender with a video, which answers an offer to receive it whose text was changed by `edit`.
    private struct Answered: ~Copyable {
        var sender: PeerConnection
        var viewer: PeerConnection
        let offer: SessionDescription
        let answer: SessionDescription
    }

    private static func answered(_ edit: (String) -> String) throws -> Answered {
        var random = SeededGenerator(seed: 1)
        func peer(_ part: PeerConnection.Part, _ media: [LocalIdentity.MediaKind]) throws -> PeerConnection {
            let identity = try LocalIdentity(media: media, unixTime: 1_700_000_000, random: &random)
            var configuration = PeerConnection.Configuration()
            configuration.videoFormats = [.vp8, .av1, .h264]
            return try PeerConnection(
                as: part, identity: identity, configuration: configuration, random: SeededGenerator(seed: 2))
        }
        var viewer = try peer(.offerer, [])
        try viewer.addReceivingSection(isVideo: true)
        var sender = try peer(.answerer, [.video(streamID: "alice#content", isContent: true)])
        let offer = try SessionDescription.parse(edit(viewer.makeOffer().description))
        let answer = try sender.answer(offer: offer, now: Instant(nanoseconds: 0))
        return Answered(sender: sender, viewer: viewer, offer: offer, answer: answer)
    }

    /// Returns the payload types with their meaning.
    private static func numbers(_ media: MediaDescription) throws -> Set<String> {
        let lines = media.attributes("rtpmap") + media.attributes("fmtp").filter { $0.description.contains("apt=") }
        return Set(lines.map { $0.description.uppercased() })
    }

    @Test("A later offer keeps the payload types and extensions of a section that the peer offered (RFC 3264 8.3.2)")
    func keptNumbers() throws {
        // The peer's numbers are those that this side has for other codecs.
        let numbers = [
            "96": "100", "97": "101", "98": "96", "99": "97", "100": "98", "101": "99", "112": "120", "113": "121",
            "114": "122",
        ]
        var pair = try Self.answered { text in
            text.split(separator: "\r\n").map { line in
                let words = line.split(separator: " ").map { word -> String in
                    if let number = numbers[String(word)] { return number }
                    for prefix in ["a=rtpmap:", "a=fmtp:", "a=rtcp-fb:", "apt="] where word.hasPrefix(prefix) {
                        return prefix + (numbers[String(word.dropFirst(prefix.count))] ?? "?")
                    }
                    if word.hasPrefix("a=extmap:"), let id = Int(word.dropFirst(9)) { return "a=extmap:\(15 - id)" }
                    return String(word)
                }
                return words.joined(separator: " ") + "\r\n"
            }.joined()
        }
        let (offer, next) = (pair.offer, try pair.sender.makeOffer())
        #expect(try Self.numbers(next.media[0]) == Self.numbers(offer.media[0]))
        let extensions = try [offer, next].map { Set(try $0.media[0].extensionMaps()) }
        #expect(extensions[0] == extensions[1] && extensions[0].count == 7)
        // A new section has the same numbers for the same codecs.
        _ = try pair.sender.addMedia(.video(streamID: "alice", isContent: false))
        let added = try pair.sender.makeOffer()
        #expect(try Self.numbers(added.media[1]) == Self.numbers(offer.media[0]))
        #expect(try Set(added.media[1].extensionMaps()) == extensions[0])
    }

    @Test("An agreed payload type does not move for one that was offered and not agreed in another section")
    func agreedNumbers() throws {
        var random = SeededGenerator(seed: 1)
        let now = Instant(nanoseconds: 0)
        func peer(_ part: PeerConnection.Part, _ media: [LocalIdentity.MediaKind]) throws -> PeerConnection {
            let identity = try LocalIdentity(media: media, unixTime: 1_700_000_000, random: &random)
            return try PeerConnection(
                as: part, identity: identity, configuration: .init(), random: SeededGenerator(seed: 2))
        }
        func accept(_ text: String, _ offer: SessionDescription, by peer: inout PeerConnection) throws {
            try peer.accept(answer: SessionDescription.parse(text), to: offer, now: now)
        }
        func lines(_ text: String, without isUnwanted: (Substring) -> Bool) -> String {
            text.split(separator: "\r\n").filter { !isUnwanted($0) }.joined(separator: "\r\n") + "\r\n"
        }
        var sender = try peer(.offerer, [.video(streamID: "alice#content", isContent: true)])
        var viewer = try peer(.answerer, [])
        /// Returns a section without retransmissions and corrections.
        func withoutRTX(_ text: String) -> String {
            lines(text.replacing(" 96 97 112 113 114", with: " 96")) { line in
                ["apt=", "rtx/", "red/", "ulpfec/"].contains { line.contains($0) }
            }
        }
        // The viewer takes no retransmissions, so that their payload type is free.
        let offer = try sender.makeOffer()
        #expect(offer.media[0].formats.prefix(2) == ["96", "97"])
        try accept(withoutRTX(viewer.answer(offer: offer, now: now).description), offer, by: &sender)
        _ = try sender.addMedia(.video(streamID: "alice", isContent: false))
        try viewer.addReceivingSection(isVideo: true)
        let parts = try viewer.makeOffer().description.split(separator: "m=video").map(String.init)
        var sections = parts.dropFirst().map(withoutRTX)
        for prefix in ["SAVPF ", "rtpmap:", "rtcp-fb:", "fmtp:"] {
            sections[1] = sections[1].replacing("\(prefix)96", with: "\(prefix)97")
        }
        let text = parts[0] + "m=video" + sections[0] + "m=video" + sections[1]
        _ = try sender.answer(offer: SessionDescription.parse(text), now: now)
        let next = try sender.makeOffer()
        #expect(next.media[0].formats.first == "96" && next.media[1].formats.first == "97")
        #expect(try Self.numbers(next.media[0]).contains("A=RTPMAP:97 RTX/90000") == false)
    }

    @Test("A later offer keeps the profile of a section that the peer offered")
    func keptProfile() throws {
        var pair = try Self.answered { $0.replacing("42e01f", with: "42001f") }
        let numbers = pair.sender.videoFormats(media: 0).map(\.payloadType.rawValue)
        #expect(numbers == [96, 98, 100])
        let next = try pair.sender.makeOffer()
        let h264 = try #require(Self.lines(next, "fmtp").first { $0.hasPrefix("100") })
        #expect(h264.hasSuffix("profile-level-id=42001f"))
    }

    @Test("The codecs of the peer's section have the same numbers in another one")
    func sharedNumbers() throws {
        var pair = try Self.answered { $0 }
        try pair.viewer.accept(answer: pair.answer, to: pair.offer, now: Instant(nanoseconds: 0))
        _ = try pair.viewer.addMedia(.video(streamID: "bob", isContent: false))
        let (offer, next) = (pair.offer, try pair.viewer.makeOffer())
        #expect(next.media[1].formats == next.media[0].formats && next.media[0].formats == offer.media[0].formats)
    }

    @Test("Any number of codecs has payload types that nothing else has")
    func manyCodecs() {
        let codecs = NegotiableCodec.video(Array(repeating: .vp8, count: 20))
        let numbers = codecs.flatMap { [$0.map.payloadType, $0.rtxPayloadType].compactMap { $0 } }
        let audio = [NegotiableCodec.opusContent, .opusVoice, .opusReceived].map(\.map.payloadType)
        #expect(numbers.count == 40 && Set(numbers).count == 40 && numbers.prefix(2) == [96, 97])
        #expect(Set(numbers).isDisjoint(with: audio + [112, 113, 114]))
        #expect(numbers.allSatisfy { (96...127).contains($0) || (35...63).contains($0) })
    }
}
