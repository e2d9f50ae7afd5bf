import RTCSharePeerConnection
import RTCShareSDP
import RTCShareWireFormat
import TestSupport
import Testing

@Suite("Answers to an offer of video and audio")
struct FourSectionTests {
    private func negotiate(_ answer: String) throws -> NegotiatedSession {
        try Negotiation.negotiate(
            offer: Samples.offer(sections: Samples.four), answer: SessionDescription.parse(answer))
    }

    @Test("Chromium accepts all four sections, and requests FEC but not stereo")
    func chromium() throws {
        let session = try negotiate(PeerDescriptions.chromiumAnswerToFour)
        let media = session.acceptedMedia
        #expect(media.map(\.mid) == ["0", "1", "2", "3"])
        #expect(media.map(\.payloadType) == [96, 109, 111, 96])
        #expect(media.map(\.rtxPayloadType) == [97, nil, nil, 97])
        #expect(media.map(\.local.ssrc) == [1111, 3333, 4444, 5555])
        #expect(media.allSatisfy { $0.direction == .sendOnly && $0.hasReducedSizeRTCP })
        #expect(
            media[1].extensionIDs == [.mid: 1, .absoluteSendTime: 2, .transportWideSequenceNumber: 3, .audioLevel: 7])
        #expect(media[1].feedback == [.transportWide])
        for sound in media[1...2] {
            let parameters = try #require(sound.opus)
            #expect(parameters.usesInbandFEC && !parameters.isStereo && !parameters.usesDTX)
            #expect(parameters.minimumPacketTime == .milliseconds(10))
        }
        #expect(session.remoteCandidates.count == 2)
    }

    @Test("aiortc accepts all four sections, and sets no Opus parameters")
    func aiortc() throws {
        let session = try negotiate(PeerDescriptions.aiortcAnswerToFour)
        let media = session.acceptedMedia
        #expect(media.map(\.payloadType) == [96, 109, 111, 96])
        #expect(media[1].codecs[0].parameters == nil && media[1].opus == OpusParameters())
        #expect(media[1].extensionIDs == [.mid: 1, .audioLevel: 7])
        #expect(session.remoteFingerprints.map(\.hashFunction) == ["sha-256", "sha-384", "sha-512"])
        #expect(session.remoteCandidates.count == 2, "the same ones stand in several sections")
    }

    @Test("a=ptime and a=maxptime are equivalent to the a=fmtp parameters and take precedence (RFC 7587 §7)")
    func packetTimes() throws {
        let answer = PeerDescriptions.chromiumAnswerToFour.replacing(
            "a=fmtp:109 ", with: "a=ptime:60\na=maxptime:1e3\na=fmtp:109 ptime=20;maxptime=80;")
        let opus = try #require(try negotiate(answer).acceptedMedia[1].opus)
        #expect(opus.packetTime == .milliseconds(60) && opus.maximumPacketTime == .milliseconds(80))
    }

    @Test("Sections beyond the supported number are rejected")
    func tooMany() throws {
        let sections = (0..<40).map { index in
            OfferedSection.audio(
                mid: "\(index)",
                source: OfferedSection.Source(
                    stream: MediaStreamAttribute(streamID: "s\(index)", trackID: nil), ssrc: UInt32(index + 1),
                    cname: "c"),
                isSlides: false)
        }
        let (answer, session) = try Negotiation.makeAnswer(to: Samples.offer(sections: sections), Samples.answering)
        #expect(answer.media.count == 40 && session.acceptedMedia.count == PeerConnection.maximumMedia)
    }

    @Test("Any sections may be rejected, including the first, but not all")
    func rejections() throws {
        let answer = PeerDescriptions.chromiumAnswerToFour
        for mask in 1..<16 {
            let mids = (0..<4).filter { mask & 1 << $0 == 0 }.map(String.init)
            var sections = answer.split(separator: "\nm=").map(String.init)
            for index in 0..<4 where mask & 1 << index != 0 {
                sections[index + 1].replace(" 9 ", with: " 0 ", maxReplacements: 1)
            }
            let bundle = mids.isEmpty ? "" : "a=group:BUNDLE \(mids.joined(separator: " "))\n"
            let text = sections.joined(separator: "\nm=").replacing("a=group:BUNDLE 0 1 2 3\n", with: bundle)
            if mask == 15 {
                let error = #expect(throws: NegotiationError.self) { try negotiate(text) }
                #expect(error?.rule == .allRejected)
            } else {
                let session = try negotiate(text)
                #expect(session.sections.map { $0.media != nil } == (0..<4).map { mask & 1 << $0 == 0 })
                #expect(session.remoteICE.usernameFragment == "cf0m")
            }
        }
    }

    @Test("A section that the offer ended cannot be accepted")
    func endedSection() throws {
        var sections = Samples.four
        let first = try Samples.offer(sections: sections)
        sections[0] = .ended(mid: "0", line: MediaLine(first.media[0]))
        let offer = try Samples.offer(sections: sections)
        #expect(offer.media[0].port == 0 && offer.media[0].formats == ["96", "97", "112", "113", "114"])
        #expect(try offer.bundle()?.mids == ["1", "2", "3"])
        #expect(try offer.media.map { try $0.candidates().count } == [0, 2, 0, 0], "the next one is the tagged one")
        let answer = try SessionDescription.parse(
            PeerDescriptions.chromiumAnswerToFour.replacing("BUNDLE 0 1 2 3", with: "BUNDLE 1 2 3"))
        let error = #expect(throws: NegotiationError.self) { try Negotiation.negotiate(offer: offer, answer: answer) }
        #expect(error?.rule == .sectionEnded || error?.rule == .outsideBundle("0"), "\(String(describing: error))")
    }

    @Test("Our own answer to four sections agrees with the offer, in stereo where that is offered")
    func loop() throws {
        let offer = try Samples.offer(sections: Samples.four)
        let (made, viewer) = try Negotiation.makeAnswer(to: offer, Samples.answering)
        let sender = try Negotiation.negotiate(offer: offer, answer: SessionDescription.parse(made.description))
        #expect(sender.acceptedMedia.map(\.payloadType) == [96, 109, 111, 96])
        #expect(viewer.acceptedMedia.map(\.payloadType) == [96, 109, 111, 96])
        #expect(sender.acceptedMedia.map(\.extensionIDs) == viewer.acceptedMedia.map(\.extensionIDs))
        #expect(sender.acceptedMedia[1].opus?.isStereo == true && sender.acceptedMedia[0].opus == nil)
        #expect(made.media.allSatisfy { $0.direction == .receiveOnly })
    }

    @Test("A truncated answer, or one with any byte changed, does not trap")
    func damage() throws {
        let offer = try Samples.offer(sections: Samples.four)
        let bytes = Array(PeerDescriptions.chromiumAnswerToFour.utf8)
        func exercise(_ bytes: [UInt8]) {
            guard let answer = try? SessionDescription.parse(utf8: bytes),
                let session = try? Negotiation.negotiate(offer: offer, answer: answer)
            else { return }
            #expect(!session.acceptedMedia.isEmpty)
            for media in session.acceptedMedia { _ = media.opus?.formatParameters }
        }
        for count in stride(from: 0, to: bytes.count, by: 5) { exercise(Array(bytes[..<count])) }
        for index in stride(from: 0, to: bytes.count, by: 2) {
            var damaged = bytes
            damaged[index] = 0x30 + UInt8(index % 10)
            exercise(damaged)
        }
    }
}
