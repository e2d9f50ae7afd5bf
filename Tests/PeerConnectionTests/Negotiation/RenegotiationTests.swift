import RTCShareRTP
import RTCShareSDP
import RTCShareSecureTransport
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCSharePeerConnection

/// Later offers and answers of a session that stands.
@Suite struct RenegotiationTests {
    private static let screen = LocalIdentity.MediaKind.video(streamID: "alice#content", isContent: true)
    private static let camera = LocalIdentity.MediaKind.video(streamID: "alice", isContent: false)
    private static let voice = LocalIdentity.MediaKind.audio(streamID: "alice", isContent: false)

    /// A call that stands, with frames and sound flowing.
    private func makeCall(seed: UInt64, media: [LocalIdentity.MediaKind] = [screen]) throws -> SimulatedCall {
        let call = try SoundCallTests.makeCall(seed: seed, media: media)
        call.run(for: .seconds(2))
        try #require(call.record.connected != nil)
        return call
    }

    /// The SSRCs for which the sender says goodbye from now on.
    private func goodbyes(of call: SimulatedCall) throws -> Box<[UInt32]> {
        let keys = try #require(call.viewerKeys)
        let receiver = try SRTPReceiver(profile: keys.profile, masterKey: keys.remote)
        let sources = Box<[UInt32]>([])
        call.tap = { datagram, end in
            var bytes = datagram.bytes
            guard end == .left, DatagramKind(bytes.span.bytes) == .rtcp, (try? receiver.unprotectRTCP(&bytes)) != nil,
                let packets = try? RTCPPacket.parse(compound: bytes.span.bytes)
            else { return }
            for case .goodbye(let goodbye) in packets { sources.value += goodbye.sources.map(\.rawValue) }
        }
        return sources
    }

    private func version(_ description: SessionDescription) -> String? { description.origin?.sessionVersion }

    // MARK: Offers

    @Test("An unchanged offer keeps its version; a changed one has the next version")
    func offerVersions() throws {
        let call = try makeCall(seed: 601)
        let first = try call.makeOffer()
        #expect(version(first) == "1")
        #expect(try call.makeOffer() == first)
        _ = try call.sender.addMedia(Self.voice)
        let second = try call.makeOffer()
        #expect(version(second) == "2")
        #expect(try call.makeOffer() == second)
        call.sender.setSending(false, media: 0, now: call.now)
        #expect(version(try call.makeOffer()) == "3")
        #expect(first.origin?.sessionID == second.origin?.sessionID)
    }

    @Test("A later offer keeps the order of all sections and their transport, and appends new ones")
    func sectionsKeepPlaces() throws {
        let call = try makeCall(seed: 602, media: [Self.screen, Self.voice])
        let first = try call.makeOffer()
        let added = try call.sender.addMedia(Self.camera, trackID: "front")
        call.sender.setSending(false, media: 1, now: call.now)
        let second = try call.makeOffer()
        #expect(second.media.count == 3 && added == 2)
        #expect(try second.media.prefix(2).map { try $0.mid() } == first.media.map { try $0.mid() })
        #expect(second.media.map(\.direction) == [.sendOnly, .inactive, .sendOnly])
        #expect(try second.media[2].mediaStreams().first?.trackID == "front")
        for media in second.media {
            #expect(try second.iceAttributes(of: media) == first.iceAttributes(of: first.media[0]))
            #expect(try second.fingerprints(of: media) == first.fingerprints(of: first.media[0]))
            #expect(try media.setup() == .actpass)
        }
        #expect(try second.media[0].candidates() == first.media[0].candidates())
        #expect(try second.bundle()?.mids == second.media.compactMap { try $0.mid() })
        let mids = try second.media.compactMap { try $0.mid() }
        #expect(Set(mids).count == 3)
        let sources = try second.media.flatMap { Set(try $0.sources().map(\.ssrc)) }
        #expect(Set(sources).count == sources.count)
    }

    // MARK: Adding and stopping

    @Test("A camera and a microphone are added to a running call without a gap")
    func cameraAndVoiceJoin() throws {
        let call = try makeCall(seed: 603)
        let source = call.sender.outbound[0].stream?.source
        _ = try call.sender.addMedia(Self.camera)
        _ = try call.sender.addMedia(Self.voice)
        call.run(for: .milliseconds(500))
        #expect(call.record.framesOf[1] == nil, "not before it is agreed on")
        let keyFrames = call.record.keyFrameRequestsOf[0]
        try call.renegotiate()
        call.run(for: .seconds(2))
        call.run(for: .milliseconds(500), sendsFrames: false)
        #expect(call.viewer.remoteMedia.map(\.streamID) == ["alice#content", "alice", "alice"])
        #expect(call.viewer.remoteMedia.map(\.isVideo) == [true, true, false])
        #expect(call.record.framesOf[1]?.count == call.framesSent(media: 1))
        #expect(call.framesSent(media: 1) > 50)
        #expect(try #require(call.record.soundOf[2]).count > 90)
        #expect(call.record.frames.count == call.framesSent)
        #expect(call.record.frames.filter(\.isKeyFrame).count == 1 && call.record.keyFrameRequestsOf[0] == keyFrames)
        #expect(call.sender.outbound[0].stream?.source == source)
        #expect(call.record.remoteMediaChanges == (2, 2))
        let outbound = try #require(call.sender.report(now: call.now).outboundRTP[0])
        #expect(outbound.video?.framesSent == UInt64(call.framesSent))
    }

    @Test("Media that is held back sends a goodbye, keeps its place in offers, and resumes at once")
    func mediaHeldBack() throws {
        let call = try makeCall(seed: 621, media: [Self.screen, Self.voice])
        let goodbyes = try goodbyes(of: call)
        call.sender.setHeldBack(true, media: 0, now: call.now)
        let stopped = call.framesSent
        call.run(for: .seconds(1))
        #expect(goodbyes.value == [call.sender.localMedia[0].source])
        #expect(!call.isSending(0) && call.isSending(1) && call.framesSent == stopped)
        _ = try call.sender.addMedia(Self.camera)
        try call.renegotiate()
        call.run(for: .seconds(1))
        #expect(!call.isSending(0) && call.framesSent == stopped)
        #expect(call.viewer.remoteMedia.prefix(2).map(\.isActive) == [true, true])
        #expect(call.sender.agreement(media: 0) == .agreed)

        let count = call.record.frames.count
        call.sender.setHeldBack(false, media: 0, now: call.now)
        call.run(for: .seconds(2))
        #expect(call.isSending(0) && call.framesSent > stopped)
        let frames = call.record.frames.dropFirst(count)
        #expect(frames.count > 50 && frames.first?.isKeyFrame == true)
        call.sender.setHeldBack(true, media: 9, now: call.now)
    }

    @Test("Media stopped by an offer sends a goodbye, and continues its numbering when it resumes")
    func stopByOffer()
        throws
    {
        let call = try makeCall(seed: 604, media: [Self.screen, Self.voice])
        let goodbyes = try goodbyes(of: call)
        let sequenceNumber = try #require(call.sender.outbound[0].stream?.sequenceNumber)
        call.sender.setSending(false, media: 0, now: call.now)
        try call.renegotiate()
        let stopped = call.framesSent
        call.run(for: .seconds(3))
        #expect(goodbyes.value == [call.sender.localMedia[0].source])
        #expect(!call.isSending(0) && call.isSending(1))
        #expect(call.viewer.remoteMedia.map(\.isActive) == [false, true])
        #expect(call.framesSent == stopped)
        #expect(call.record.goodbyes == 0)

        let requests = call.record.keyFrameRequestsOf[0, default: 0]
        let count = call.record.frames.count
        call.sender.setSending(true, media: 0, now: call.now)
        #expect(!call.isSending(0), "the descriptions say inactive")
        try call.renegotiate()
        call.run(for: .seconds(2))
        #expect(call.isSending(0))
        #expect(call.record.keyFrameRequestsOf[0, default: 0] == requests + 1)
        #expect(call.viewer.remoteMedia.map(\.isActive) == [true, true])
        let frames = call.record.frames.dropFirst(count)
        #expect(frames.count > 50 && frames.first?.isKeyFrame == true)
        let newNumber = try #require(call.sender.outbound[0].stream?.sequenceNumber)
        #expect((0..<1000).contains(newNumber.distance(from: sequenceNumber)))
    }

    @Test("Media can pause and resume without a description")
    func pauseWithoutOffer() throws {
        let call = try makeCall(seed: 605)
        let goodbyes = try goodbyes(of: call)
        call.sender.setSending(false, media: 0, now: call.now)
        call.run(for: .seconds(5))
        #expect(goodbyes.value == [call.sender.localMedia[0].source])
        #expect(call.record.goodbyes == 0, "its only source has ended, and yet the peer is there")
        #expect(call.record.activityOf[0]?.last == .ended)
        let count = call.record.frames.count
        call.sender.setSending(true, media: 0, now: call.now)
        call.run(for: .seconds(2))
        let frames = call.record.frames.dropFirst(count)
        #expect(frames.count > 50 && frames.first?.isKeyFrame == true)
        #expect(call.record.activityOf[0]?.last == .flowing)
        call.sender.close(now: call.now)
        call.run(for: .seconds(1), sendsFrames: false)
        #expect(call.record.goodbyes == 1)
    }

    @Test("Packets in the pacer are discarded when their media stops")
    func queueAfterGoodbye() throws {
        let call = try makeCall(seed: 606)
        call.sendFrame(media: 0)
        let waits = call.sender.hasQueuedPackets
        #expect(waits)
        call.sender.setSending(false, media: 0, now: call.now)
        let sent = call.record.sent.count
        call.run(for: .seconds(1), sendsFrames: false)
        #expect(call.record.sent[sent...].allSatisfy { $0.size < 500 })
    }

    @Test("A rejected section keeps its place and stays rejected, and the transport continues")
    func rejectedSection() throws {
        let call = try makeCall(seed: 607, media: [Self.screen, Self.voice])
        let goodbyes = try goodbyes(of: call)
        let mids = call.sender.localMedia.map(\.mid)
        // The first section is the tagged one: its port becomes 0, and the bundle is of the other alone.
        try call.renegotiate { answer in
            var sections = answer.split(separator: "\r\nm=").map(String.init)
            sections[1].replace("video 6000 ", with: "video 0 ")
            return sections.joined(separator: "\r\nm=")
                .replacing("BUNDLE \(mids[0]) \(mids[1])", with: "BUNDLE \(mids[1])")
        }
        call.run(for: .seconds(2))
        #expect(goodbyes.value == [call.sender.localMedia[0].source])
        #expect(!call.isSending(0))
        #expect(try #require(call.record.soundOf[1]).count > 150)
        #expect(call.record.failures.isEmpty)
        let offer = try call.makeOffer()
        #expect(offer.media.map(\.port) == [0, SimulatedCall.senderAddress.port])
        #expect(try offer.bundle()?.mids == [mids[1]])
        // The viewer hears of it with the next offer.
        try call.renegotiate()
        #expect(call.viewer.remoteMedia.map(\.isActive) == [false, true])
        _ = try call.sender.addMedia(Self.camera)
        try call.renegotiate()
        call.run(for: .seconds(2))
        call.run(for: .milliseconds(500), sendsFrames: false)
        #expect(call.viewer.remoteMedia.map(\.isActive) == [false, true, true])
        #expect(call.record.framesOf[2]?.count == call.framesSent(media: 2) && call.framesSent(media: 2) > 50)
        #expect(try call.makeOffer().media.map(\.port).first == 0)
    }

    // MARK: The other side

    @Test("The viewer may offer too, and send the media that it adds")
    func viewerOffers() throws {
        let call = try makeCall(seed: 608, media: [Self.screen, Self.voice])
        let voice = try call.viewer.addMedia(.audio(streamID: "bob", isContent: false))
        let offer = try SessionDescription.parse(call.viewer.makeOffer().description)
        #expect(offer.media.map(\.direction) == [.receiveOnly, .receiveOnly, .sendOnly])
        let answer = try SessionDescription.parse(call.sender.answer(offer: offer, now: call.now).description)
        #expect(answer.media.map(\.direction) == [.sendOnly, .sendOnly, .receiveOnly])
        #expect(try answer.media[0].sources().first?.ssrc == call.sender.localMedia[0].source)
        try call.viewer.accept(answer: answer, to: offer, now: call.now)
        #expect(call.isSending(voice, at: .right))
        #expect(call.sender.remoteMedia.map(\.streamID) == ["bob"])
        // Both sides' numbers mean one thing: what the viewer offers as its voice has the number of the sender's.
        #expect(try offer.media[2].rtpMaps().first?.payloadType != offer.media[0].rtpMaps().first?.payloadType)
        let heard = Box(0)
        for _ in 0..<50 {
            let frame = call.soundFrame(marking: 7)
            call.viewer.send(frame, media: voice, now: call.now)
            call.run(for: .milliseconds(20))
            heard.value += 1
        }
        let inbound = try #require(call.sender.report(now: call.now).inboundRTP[0])
        #expect(try #require(inbound.audio).packetsReceived >= 48)
        call.run(for: .milliseconds(500), sendsFrames: false)
        #expect(call.record.frames.count == call.framesSent)
        // And back again: the sender offers, the viewer answers.
        call.sender.setSending(false, media: 1, now: call.now)
        let next = try call.makeOffer()
        #expect(next.media.map(\.direction) == [.sendOnly, .inactive, .receiveOnly])
        try call.renegotiate()
        #expect(call.isSending(voice, at: .right))
        #expect(call.viewer.remoteMedia.map(\.isActive) == [true, false])
        // What pauses is still who it was, on both sides, whoever offers.
        call.viewer.setSending(false, media: voice, now: call.now)
        try call.renegotiate()
        #expect(call.sender.remoteMedia.map(\.isActive) == [false])
        #expect(call.sender.remoteMedia.map(\.streamID) == ["bob"])
        #expect(call.viewer.remoteMedia.map(\.streamID) == ["alice#content", "alice"])
    }

    @Test("The peer may reuse the place of a rejected section")
    func reusedSection() throws {
        let call = try makeCall(seed: 617, media: [Self.screen, Self.voice])
        let mids = call.sender.localMedia.map(\.mid)
        try call.renegotiate { answer in
            answer.replacing("m=audio 9 ", with: "m=audio 0 ")
                .replacing("BUNDLE \(mids[0]) \(mids[1])", with: "BUNDLE \(mids[0])")
        }
        _ = try call.viewer.addMedia(.audio(streamID: "bob", isContent: false))
        var offer = try SessionDescription.parse(call.viewer.makeOffer().description)
        offer.media.remove(at: 1)
        let mid = try #require(try offer.media[1].mid())
        let text = offer.description.replacing("BUNDLE \(mids[0]) \(mids[1]) \(mid)", with: "BUNDLE \(mids[0]) \(mid)")
        let answer = try call.sender.answer(offer: SessionDescription.parse(text), now: call.now)
        #expect(answer.media.map(\.direction) == [.sendOnly, .receiveOnly])
        #expect(call.sender.remoteMedia.map(\.streamID) == ["bob"])
        #expect(call.isSending(0) && !call.isSending(1))
        // The voice that was rejected is not offered again, and its place is the peer's.
        #expect(try call.makeOffer().media.map { try $0.mid() } == [mids[0], mid])
    }

    @Test("Sources of a peer that omits inactive ones from its description stay known")
    func omittedAttributes() throws {
        let call = try makeCall(seed: 615)
        call.sender.setSending(false, media: 0, now: call.now)
        let text = try call.makeOffer().description.split(separator: "\r\n")
            .filter { !$0.hasPrefix("a=msid") && !$0.hasPrefix("a=ssrc") && !$0.hasPrefix("a=content") }
        let offer = try SessionDescription.parse(text.joined(separator: "\r\n") + "\r\n")
        _ = try call.viewer.answer(offer: offer, now: call.now)
        let remote = try #require(call.viewer.remoteMedia.first)
        #expect(!remote.isActive && remote.streamID == "alice#content" && remote.isContent)
        #expect(call.viewer.receivers.media[0].source?.rawValue == call.sender.localMedia[0].source)
    }

    @Test(
        "An ID that would break the description's lines is rejected at once and blocks no later offer",
        arguments: ["a b", "", "x\r\na=evil"])
    func malformedID(
        _ id: String
    ) throws {
        let call = try makeCall(seed: 616)
        #expect(throws: PeerConnectionError.notAToken(id)) {
            _ = try call.sender.addMedia(.audio(streamID: id, isContent: false))
        }
        #expect(throws: PeerConnectionError.notAToken(id)) {
            _ = try call.sender.addMedia(.audio(streamID: "alice", isContent: false), trackID: id)
        }
        #expect(try call.makeOffer().media.count == 1)
    }

    @Test("Numbers used by the peer's own sections are not assigned to others")
    func numbersInUse() throws {
        let call = try makeCall(seed: 609)
        _ = try call.viewer.addMedia(.audio(streamID: "bob", isContent: false))
        // The viewer's offer has its voice under 97 after renumbering, in a bundle where 96 and 97 are the screen's.
        let offer = try call.viewer.makeOffer()
        let numbers = try offer.media.flatMap { try $0.rtpMaps().map(\.payloadType) }
        #expect(numbers == [96, 97, 112, 113, 114, 111])
        let text = offer.description.replacing(" 111\r\n", with: " 109\r\n").replacing(":111 ", with: ":109 ")
            .replacing("a=extmap:7 ", with: "a=extmap:8 ")
        let renamed = try SessionDescription.parse(text)
        _ = try call.sender.answer(offer: renamed, now: call.now)
        _ = try call.sender.addMedia(.audio(streamID: "alice#content", isContent: true))
        let next = try call.makeOffer()
        // 109 is the peer's voice now, so that the content's sound has another; the audio level has one id.
        let own = try #require(next.media.last)
        #expect(try own.rtpMaps().map(\.payloadType) != [109])
        #expect(
            try next.media.map { try $0.extensionMaps().first { $0.uri.hasSuffix("audio-level") }?.id } == [nil, 8, 8])
    }

    @Test("A peer's new payload types and IDs are adopted and kept afterwards")
    func peerRenumbersEverything() throws {
        let call = try makeCall(seed: 614, media: [Self.screen, .audio(streamID: "alice#content", isContent: true)])
        _ = try call.viewer.addMedia(.video(streamID: "bob", isContent: false))
        // As aiortc does: Opus as 96, VP8 as 97 with its retransmissions as 98, whatever they were before.
        let renumbered = [
            " 96 97 ": " 97 98 ", " 109\r\n": " 96\r\n", ":97 ": ":98 ", ":96 ": ":97 ", ":109 ": ":96 ",
        ]
        var text = try call.viewer.makeOffer().description
        for from in [" 96 97 ", " 109\r\n", ":97 ", ":96 ", ":109 "] {
            text = text.replacing(from, with: renumbered[from] ?? from)
        }
        text = text.replacing("apt=96", with: "apt=97")
        let answer = try call.sender.answer(offer: SessionDescription.parse(text), now: call.now)
        let video = ["97", "98", "112", "113", "114"]
        #expect(answer.media.map(\.formats) == [video, ["96"], video])
        #expect(try answer.media[1].formatParameters(of: 96)?.text.contains("sprop-stereo=1") == true)
        #expect(call.sender.outbound[0].stream?.parameters.payloadType == PayloadType(97))
        #expect(call.sender.outbound[1].stream?.parameters.payloadType == PayloadType(96))
        let offer = try call.makeOffer()
        #expect(offer.media.map(\.formats) == [video, ["96"], video])
    }

    // MARK: DTLS roles

    @Test("A later answer with the other DTLS role keeps the association", arguments: [false, true])
    func answerWithOtherRole(restartsICE: Bool) throws {
        let call = try makeCall(seed: 622)
        _ = try call.sender.addMedia(Self.voice)
        #expect(call.sender.negotiated?.localSetup == .passive)
        if restartsICE { call.sender.restartICE() }
        try call.renegotiate { $0.replacing("setup:active", with: "setup:passive") }
        #expect(call.sender.negotiated?.localSetup == .passive && call.sender.transport.dtls?.role == .server)
        let count = call.record.frames.count
        call.run(for: .seconds(2))
        #expect(call.isSending(1) && call.record.frames.count > count + 50)
        #expect(call.record.failures.isEmpty && call.record.pathEvents.isEmpty)
        // The sender answers with the role of the association.
        let offer = try call.viewer.makeOffer()
        let answer = try call.sender.answer(offer: offer, now: call.now)
        #expect(answer.media.allSatisfy { (try? $0.setup()) == .passive })
    }

    // MARK: What is refused

    /// Changes to a later answer, and what they are refused with.
    static let refused: [(name: String, edit: @Sendable (String) -> String, error: PeerConnectionError?)] = [
        ("other ICE credentials", { $0.replacing("a=ice-pwd:", with: "a=ice-pwd:X") }, .restartNotOffered),
        ("another user", { $0.replacing("a=ice-ufrag:", with: "a=ice-ufrag:X") }, .restartNotOffered),
        (
            "another certificate",
            { text in
                text.split(separator: "\r\n").map { line in
                    line.hasPrefix("a=fingerprint:")
                        ? "a=fingerprint:sha-256 " + (0..<32).map { _ in "AB" }.joined(separator: ":") : String(line)
                }.joined(separator: "\r\n") + "\r\n"
            }, .fingerprintChanged
        ),
        ("the first of the bundle rejected", { $0.replacing(" 6000 ", with: " 0 ") }, nil),
        ("a section gone", { $0.split(separator: "m=audio").first.map { String($0) } ?? "" }, nil),
        ("another codec", { $0.replacing("opus/48000/2", with: "PCMU/8000") }, nil),
        ("no multiplexing", { $0.replacing("a=rtcp-mux\r\n", with: "") }, nil),
    ]

    @Test("An invalid later answer is rejected, and the call continues unchanged", arguments: refused.indices)
    func laterAnswerRefused(_ index: Int) throws {
        let item = Self.refused[index]
        let call = try makeCall(seed: 610)
        _ = try call.sender.addMedia(Self.voice)
        let before = call.sender.negotiated
        let error = #expect(throws: (any Error).self) { try call.renegotiate(editAnswer: item.edit) }
        if let wanted = item.error {
            #expect(error as? PeerConnectionError == wanted, "\(item.name): \(String(describing: error))")
        } else {
            #expect(error is NegotiationError, "\(item.name): \(String(describing: error))")
        }
        #expect(call.sender.negotiated == before)
        #expect(!call.isSending(1) && call.isSending(0))
        let count = call.record.frames.count
        call.run(for: .seconds(1))
        #expect(call.record.frames.count > count + 25)
        #expect(call.record.failures.isEmpty && call.record.remoteMediaChanges.sender == 1)
        // The same offer can be answered again.
        try call.renegotiate()
        #expect(call.isSending(1))
    }

    @Test("A later offer that omits or moves a section or changes the DTLS role is rejected")
    func laterOfferRefused()
        throws
    {
        let call = try makeCall(seed: 611, media: [Self.screen, Self.voice])
        let offer = try call.makeOffer()
        let before = call.viewer.negotiated
        func refusal(_ edit: (inout SessionDescription) throws -> Void) rethrows -> (any Error)? {
            var edited = offer
            try edit(&edited)
            let now = call.now
            return #expect(throws: (any Error).self) { _ = try call.viewer.answer(offer: edited, now: now) }
        }
        #expect(
            (refusal { $0.media.removeLast() } as? NegotiationError)?.rule
                == .sectionsMissing(agreed: 2, described: 1))
        #expect(
            (refusal { $0.media.swapAt(0, 1) } as? NegotiationError)?.rule
                == .sectionMoved(agreed: "video", described: "audio"))
        let mid = call.sender.localMedia[0].mid
        let moved = try refusal { edited in
            edited = try SessionDescription.parse(edited.description.replacing(mid, with: "zzz"))
        }
        #expect(
            (moved as? NegotiationError)?.rule == .sectionMoved(agreed: "mid \(mid)", described: "mid zzz"))
        let held = try refusal { edited in
            edited = try SessionDescription.parse(edited.description.replacing("setup:actpass", with: "setup:active"))
        }
        #expect(held as? PeerConnectionError == .setupChanged, "the viewer is the client already")
        #expect(call.viewer.negotiated == before)
        let answer = try call.viewer.answer(offer: offer, now: call.now)
        #expect(version(answer) == "2" && answer.media.allSatisfy { (try? $0.setup()) == .active })
    }

    @Test("A connection accepts no description after its end")
    func afterEnd() throws {
        let call = try makeCall(seed: 612)
        let offer = try call.makeOffer()
        call.sender.close(now: call.now)
        call.viewer.close(now: call.now)
        #expect(throws: PeerConnectionError.ended) { _ = try call.viewer.answer(offer: offer, now: call.now) }
        #expect(throws: PeerConnectionError.ended) { _ = try call.sender.addMedia(Self.voice) }
        #expect(throws: PeerConnectionError.ended) {
            try call.sender.accept(answer: offer, to: offer, now: call.now)
        }
    }

    @Test("A later answer that is truncated or has any byte changed does not trap or break the call")
    func damagedAnswer() throws {
        let call = try makeCall(seed: 613, media: [Self.screen, Self.voice])
        _ = try call.sender.addMedia(Self.camera)
        let offer = try call.makeOffer()
        let answer = Array(try call.viewer.answer(offer: offer, now: call.now).description.utf8)
        func exercise(_ bytes: [UInt8]) {
            guard let damaged = try? SessionDescription.parse(utf8: bytes) else { return }
            try? call.sender.accept(answer: damaged, to: offer, now: call.now)
        }
        for count in stride(from: 0, to: answer.count, by: 7) { exercise(Array(answer[..<count])) }
        for index in stride(from: 0, to: answer.count, by: 3) {
            var bytes = answer
            bytes[index] = 0x30 + UInt8(index % 10)
            exercise(bytes)
        }
        // Some of them rejected sections for good, and may have changed numbers: the transport stands all the same.
        call.run(for: .seconds(1))
        #expect(call.record.failures.isEmpty)
        #expect(call.sender.state == .connected)
    }
}
