import RTCShareRTP
import RTCShareSDP
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCSharePeerConnection

/// Answers of the side that sends, to a viewer who offers to receive.
@Suite("Answering as the sender")
struct SendingAnswerTests {
    private static let content: [LocalIdentity.MediaKind] = [
        .video(streamID: "alice#content", isContent: true), .audio(streamID: "alice#content", isContent: true),
    ]
    private static let own: [LocalIdentity.MediaKind] = [
        .video(streamID: "alice", isContent: false), .audio(streamID: "alice", isContent: false),
    ]

    private func makeCall(_ media: [LocalIdentity.MediaKind], seed: UInt64) throws -> SimulatedCall {
        var options = SimulatedCall.Options()
        options.media = media
        options.viewerOffers = true
        return try SimulatedCall(
            conditions: LinkConditions(delay: .milliseconds(20)), seed: seed, options: options)
    }

    private func answer(_ offer: String, sending media: [LocalIdentity.MediaKind]) throws -> SessionDescription {
        var random = SeededGenerator(seed: 31)
        let identity = try LocalIdentity(media: media, unixTime: 1_700_000_000, random: &random)
        var sender = try PeerConnection(
            as: .answerer, identity: identity, configuration: PeerConnection.Configuration(), random: random)
        let now = Instant(nanoseconds: 1_000_000_000)
        sender.addLocalAddress(SimulatedCall.senderAddress, now: now)
        let answer = try sender.answer(offer: SessionDescription.parse(offer), now: now)
        return try SessionDescription.parse(answer.description)
    }

    private func streams(_ answer: SessionDescription) throws -> [String?] {
        try answer.media.map { try $0.port == 0 ? nil : $0.mediaStreams().first?.streamID }
    }

    @Test("Video and audio of two participants arrive in the sections that the viewer offered")
    func everything() throws {
        let call = try makeCall(Self.content + Self.own, seed: 901)
        call.run(for: .seconds(3))
        #expect(call.record.connected != nil && call.record.failures.isEmpty)
        #expect(
            call.viewer.remoteMedia.map(\.streamID) == ["alice#content", "alice#content", "alice", "alice"])
        #expect(call.viewer.remoteMedia.map(\.isContent) == [true, true, false, false])
        for receiver in [0, 2] { #expect(call.record.framesOf[receiver, default: []].count > 50) }
        for receiver in [1, 3] { #expect(call.record.soundOf[receiver, default: []].count > 50) }
    }

    @Test("Media without a section in the viewer's offer is not sent, and the other media is")
    func oneSection() throws {
        let offer = try makeOffer(videos: 1, sounds: 0)
        let answer = try answer(offer, sending: Self.content + Self.own)
        #expect(try streams(answer) == ["alice#content"])
        #expect(answer.media.map(\.direction) == [.sendOnly])
    }

    @Test("Sections for which there is no media are rejected")
    func moreSections() throws {
        let offer = try makeOffer(videos: 2, sounds: 1)
        let answer = try answer(offer, sending: [Self.content[0]])
        #expect(try streams(answer) == ["alice#content", nil, nil])
        #expect(answer.media.map { $0.port != 0 } == [true, false, false])
    }

    @Test("A viewer's data channel is rejected, and other codecs are skipped")
    func otherSections() throws {
        let plain = try makeOffer(videos: 1, sounds: 1)
        let mids = try SessionDescription.parse(plain).bundle()?.mids ?? []
        let bundle = "a=group:BUNDLE " + mids.joined(separator: " ")
        let offer =
            plain.replacing(bundle, with: bundle + " data")
            + "m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\nc=IN IP4 0.0.0.0\r\na=mid:data\r\na=sctp-port:5000\r\n"
        let answer = try answer(offer, sending: Self.content)
        #expect(answer.media.map { $0.port != 0 } == [true, true, false])
        #expect(try answer.bundle()?.mids == mids)
    }

    @Test("All audio of an answer has one configuration under one payload type")
    func soundParameters() throws {
        let answer = try answer(makeOffer(videos: 2, sounds: 2), sending: Self.content + Self.own)
        let sounds = answer.media.filter { $0.kind == "audio" }
        let parameters = try sounds.map { try $0.formatParameters(of: 109)?.text }
        #expect(parameters.count == 2 && parameters[0] != nil && parameters[0] == parameters[1])
    }

    @Test("An offer without VP8 is an error that leaves the sender unchanged")
    func otherCodec() throws {
        let offer = try makeOffer(videos: 1, sounds: 0).replacing("VP8/90000", with: "H264/90000")
        let error = try #require(
            #expect(throws: NegotiationError.self) { try self.answer(offer, sending: Self.content) })
        #expect(error.rule == .nothingToReceive(codecs: ["VP8", "opus"]))
    }

    @Test("A sender that answered offers its media again with the viewer's MIDs")
    func laterOffer() throws {
        let call = try makeCall(Self.content, seed: 902)
        call.run(for: .seconds(1))
        call.sender.restartICE()
        let offer = try SessionDescription.parse(call.sender.makeOffer().description)
        let answer = try SessionDescription.parse(call.viewer.answer(offer: offer, now: call.now).description)
        try call.sender.accept(answer: answer, to: offer, now: call.now)
        let before = call.record.frames.count
        call.run(for: .seconds(2))
        #expect(try streams(offer) == ["alice#content", "alice#content"])
        #expect(call.record.frames.count > before + 40 && call.record.failures.isEmpty)
    }

    private func makeOffer(videos: Int, sounds: Int) throws -> String {
        var random = SeededGenerator(seed: 30)
        let identity = try LocalIdentity(media: [], unixTime: 1_700_000_000, random: &random)
        var viewer = try PeerConnection(
            as: .offerer, identity: identity, configuration: PeerConnection.Configuration(), random: random)
        viewer.addLocalAddress(SimulatedCall.viewerAddress, now: Instant(nanoseconds: 1_000_000_000))
        for _ in 0..<videos { try viewer.addReceivingSection(isVideo: true) }
        for _ in 0..<sounds { try viewer.addReceivingSection(isVideo: false) }
        return try viewer.makeOffer().description
    }
}
