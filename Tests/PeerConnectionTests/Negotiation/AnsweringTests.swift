import RTCSharePeerConnection
import RTCShareSDP
import RTCShareWireFormat
import TestSupport
import Testing

@Suite("Generated answers")
struct AnsweringTests {
    private func answer(_ offer: String) throws -> (answer: SessionDescription, session: NegotiatedSession) {
        try Negotiation.makeAnswer(to: SessionDescription.parse(offer), Samples.answering)
    }

    @Test("The answer to our own offer makes both ends agree")
    func loop() throws {
        let offer = try Samples.offer()
        let (made, viewer) = try Negotiation.makeAnswer(to: offer, Samples.answering)
        let answer = try SessionDescription.parse(made.description)
        let sender = try Negotiation.negotiate(offer: offer, answer: answer)
        let sent = try #require(sender.acceptedMedia.first)
        let received = try #require(viewer.acceptedMedia.first)
        #expect(sender.localSetup == .passive && viewer.localSetup == .active)
        #expect(sent.direction == .sendOnly && received.direction == .receiveOnly)
        #expect(sent.codec == received.codec && sent.rtxPayloadType == received.rtxPayloadType)
        #expect(sent.feedback == received.feedback && sent.feedback.count == 6)
        #expect(sent.extensionIDs == received.extensionIDs && sent.extensionIDs.count == 6)
        #expect(received.remote == sent.local)
        #expect(received.remote.streams.first?.streamID == "alice#content" && received.remote.isSlides)
        #expect(received.remote.ssrc == 1111 && received.remote.rtxSSRC == 2222)
        #expect(viewer.remoteCandidates == Samples.transport.candidates && viewer.remoteHasAllCandidates)
        #expect(sender.remoteICE == Samples.answering.transport.ice)
        #expect(sender.remoteFingerprints == Samples.answering.transport.fingerprints)
        #expect(answer.media[0].port == 7000)
        #expect(SessionDescription.explain(answer.description).allSatisfy { $0.problem == nil })
    }

    @Test("VP8 and Opus are selected from a browser's offer under its payload types, and no other codec")
    func chromium() throws {
        let (answer, session) = try answer(PeerDescriptions.chromiumOffer)
        let media = try #require(session.sections[1].media)
        let sound = try #require(session.sections[0].media)
        #expect(answer.media.map(\.port) == [7000, 9])
        #expect(answer.media[0].formats == ["111"])
        #expect(answer.media[1].formats == ["96", "97"])
        #expect(try answer.bundle()?.mids == ["0", "1"])
        #expect(answer.media.map(\.direction) == [.receiveOnly, .receiveOnly])
        #expect(try answer.media[0].formatParameters(of: 111)?.text == "minptime=10;useinbandfec=1;stereo=1;usedtx=1")
        #expect(sound.extensionIDs[.audioLevel] == 14 && sound.extensionIDs[.mid] == 4)
        #expect(sound.remote.streams.first?.streamID == "bob" && sound.feedback == [.transportWide])
        #expect(OpusParameters(sound.codecs[0].parameters).usesInbandFEC)
        #expect(media.extensionIDs[.videoOrientation] == 13 && media.extensionIDs[.mid] == 4)
        #expect(media.remote.streams.first?.streamID == "bob#content" && media.remote.isSlides)
        #expect(media.remote.ssrc == 2_231_627_014 && media.remote.rtxSSRC == 632_943_048)
        #expect(media.maximumRate == .kilobitsPerSecond(2500))
        #expect(try answer.media[1].setup() == .active)
    }

    @Test("The viewer waits for DTLS when the offerer is the client")
    func passive() throws {
        let (answer, session) = try answer(
            PeerDescriptions.chromiumOffer.replacing("setup:actpass", with: "setup:active"))
        #expect(session.localSetup == .passive)
        #expect(try answer.media[1].setup() == .passive)
    }

    @Test("A section without its own transport attributes uses those of the bundle's first section")
    func bundleOnly() throws {
        let offer = try Samples.twoSections().description.replacing("\r\n", with: "\n")
        let parts = offer.split(separator: "m=video 9", maxSplits: 1).map(String.init)
        let transportLines = ["a=ice-", "a=setup", "a=fingerprint"]
        let second = parts[1].split(separator: "\n").filter { line in !transportLines.contains(where: line.hasPrefix) }
        let text =
            parts[0].replacing("a=sendonly", with: "a=recvonly") + "m=video 0"
            + second.joined(separator: "\n") + "\na=bundle-only\n"
        let (_, session) = try answer(text)
        #expect(session.sections.map { $0.media != nil } == [false, true])
        #expect(session.remoteICE.usernameFragment == "oFfR")
    }

    @Test("Candidates of the bundle's first section count if that is rejected", arguments: [false, true])
    func candidatesOfRejectedSection(isOtherTransport: Bool) throws {
        let offer = try Samples.twoSections().description.replacing("\r\n", with: "\n")
        let parts = offer.split(separator: "m=video 9", maxSplits: 1).map(String.init)
        let second = parts[1].split(separator: "\n").filter {
            !$0.hasPrefix("a=candidate:") && $0 != "a=end-of-candidates"
        }
        .map { isOtherTransport && $0.hasPrefix("a=ice-ufrag:") ? "a=ice-ufrag:other" : $0 }
        let text =
            parts[0].replacing("a=sendonly", with: "a=recvonly") + "m=video 9" + second.joined(separator: "\n") + "\n"
        let (_, session) = try answer(text)
        #expect(session.sections.map { $0.media != nil } == [false, true])
        #expect(session.remoteCandidates.isEmpty == isOtherTransport)
    }

    @Test("A bundled section without rtcp-mux uses that of the bundle's first section")
    func multiplexing() throws {
        let parts = try Samples.twoSections().description.replacing("\r\n", with: "\n")
            .split(separator: "m=video 9", maxSplits: 1).map(String.init)
        let text = parts[0] + "m=video 9" + parts[1].replacing("a=rtcp-mux\n", with: "")
        #expect(try answer(text).session.acceptedMedia.count == 2)
        let neither = text.replacing("a=rtcp-mux\n", with: "")
        let error = #expect(throws: NegotiationError.self) { try answer(neither) }
        #expect(error?.rule == .rtcpMuxMissing)
    }

    @Test("An answer has the transport protocol of its offer", arguments: ["RTP/SAVPF", "RTP/AVP", "UDP/TLS/RTP/SAVP"])
    func protocolName(_ name: String) throws {
        let text = try Samples.offer().description.replacing("UDP/TLS/RTP/SAVPF", with: name)
        #expect(try answer(text).answer.media.map(\.protocol) == [name])
    }

    @Test("Stream and track IDs may contain any characters but spaces")
    func streamIDs() throws {
        let text = try Samples.offer().description.replacing(
            "a=msid:alice#content screen", with: "a=msid:a/b:c= {screen}/1")
        let stream = try answer(text).session.acceptedMedia.first?.remote.streams.first
        #expect(stream == MediaStreamAttribute(streamID: "a/b:c=", trackID: "{screen}/1"))
    }

    static let wrong: [(from: String, to: String, rule: NegotiationError.Rule?)] = [
        ("VP8/90000", "VP9/90000", .nothingToReceive(codecs: ["VP8", "opus"])),
        ("a=sendonly", "a=recvonly", .nothingToReceive(codecs: ["VP8", "opus"])),
        ("m=video 6000", "m=video 0", .nothingToReceive(codecs: ["VP8", "opus"])),
        ("UDP/TLS/RTP/SAVPF", "UDP/DTLS/SCTP", .nothingToReceive(codecs: ["VP8", "opus"])),
        ("96", "72", .payloadTypeOfRTCP(72)),
        ("97", "64", .payloadTypeOfRTCP(64)),
        ("a=rtcp-mux\n", "", .rtcpMuxMissing),
        ("a=setup:actpass", "a=setup:holdconn", .setupHeld),
        ("a=fingerprint:", "a=x:", .fingerprintMissing),
        ("a=ice-ufrag:", "a=x:", .iceCredentialsMissing),
        ("a=msid:alice#content screen", "a=msid:a b c", nil),
    ]

    @Test("The error for an unusable offer names its line", arguments: wrong.indices)
    func refusals(_ index: Int) throws {
        let item = Self.wrong[index]
        let text = try Samples.offer().description.replacing("\r\n", with: "\n").replacing(item.from, with: item.to)
        let error = try #require(#expect(throws: NegotiationError.self) { try answer(text) })
        #expect(error.side == .offer && error.line > 0)
        if let rule = item.rule {
            #expect(error.rule == rule)
        } else if case .malformed = error.rule {
        } else {
            Issue.record("\(error)")
        }
    }
}

@Suite("Robustness of the negotiation")
struct NegotiationRobustnessTests {
    @Test("A truncated answer, or one with any byte changed, does not trap")
    func answers() throws {
        let offer = try Samples.offer()
        let bytes = Array(PeerDescriptions.firefoxAnswer.utf8)
        func exercise(_ bytes: [UInt8]) {
            guard let answer = try? SessionDescription.parse(utf8: bytes) else { return }
            do throws(NegotiationError) {
                let session = try Negotiation.negotiate(offer: offer, answer: answer)
                #expect(!session.acceptedMedia.isEmpty && !session.remoteFingerprints.isEmpty)
            } catch {
                #expect(!error.description.isEmpty)
            }
        }
        for count in bytes.indices { exercise(Array(bytes[..<count])) }
        for index in bytes.indices {
            for value in [0x30, bytes[index] ^ 1] {
                var damaged = bytes
                damaged[index] = value
                exercise(damaged)
            }
        }
    }

    @Test("A truncated offer, or one with any byte changed, does not trap")
    func offers() throws {
        let bytes = Array(PeerDescriptions.chromiumOffer.utf8)
        func exercise(_ bytes: [UInt8]) {
            guard let offer = try? SessionDescription.parse(utf8: bytes),
                let (answer, session) = try? Negotiation.makeAnswer(to: offer, Samples.answering)
            else { return }
            #expect(answer.media.count == offer.media.count && !session.acceptedMedia.isEmpty)
            #expect((try? SessionDescription.parse(answer.description)) != nil)
        }
        for count in stride(from: 0, to: bytes.count, by: 3) { exercise(Array(bytes[..<count])) }
        for index in bytes.indices {
            for value in [0x30 + UInt8(index % 11)] {
                var damaged = bytes
                damaged[index] = value
                exercise(damaged)
            }
        }
    }
}
