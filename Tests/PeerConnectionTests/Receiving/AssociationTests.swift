import RTCShareRTP
import RTCShareSDP
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCSharePeerConnection

/// The association of packets with sections (RFC 9143 §9.2).
@Suite struct AssociationTests {
    private static let cameras: [LocalIdentity.MediaKind] = [
        .video(streamID: "alice", isContent: false), .video(streamID: "bob", isContent: false),
    ]

    private func makeCall(
        seed: UInt64, media: [LocalIdentity.MediaKind] = cameras, editOffer: @escaping (String) -> String
    ) throws -> SimulatedCall {
        var options = SimulatedCall.Options()
        options.media = media
        options.editOffer = editOffer
        return try SimulatedCall(conditions: WholeCallTests.lossless, seed: seed, options: options)
    }

    private static func without(_ prefixes: [String], _ text: String) -> String {
        text.split(separator: "\r\n").filter { line in !prefixes.contains { line.hasPrefix($0) } }
            .joined(separator: "\r\n") + "\r\n"
    }

    private static let sources = ["a=ssrc:", "a=ssrc-group:"]

    /// Has each of two sections announce the other's sources.
    private static func swapped(_ text: String) -> String {
        var sections = text.split(separator: "\r\nm=").map { $0.split(separator: "\r\n").map(String.init) }
        let own = sections.map { lines in lines.filter { line in sources.contains { line.hasPrefix($0) } } }
        for (index, other) in [(1, 2), (2, 1)] {
            sections[index].removeAll { line in sources.contains { line.hasPrefix($0) } }
            sections[index] += own[other]
        }
        return sections.map { $0.joined(separator: "\r\n") }.joined(separator: "\r\nm=") + "\r\n"
    }

    private func checkThatBothArrive(_ call: SimulatedCall) {
        call.run(for: .seconds(2))
        call.run(for: .milliseconds(500), sendsFrames: false)
        for media in 0...1 {
            #expect(call.framesSent(media: media) > 50)
            #expect(call.record.framesOf[media]?.count == call.framesSent(media: media))
            #expect(call.viewer.receivers.media[media].source?.rawValue == call.sender.localMedia[media].source)
        }
    }

    @Test("A packet's MID takes precedence over the SSRCs of a description")
    func packetsOwnWord() throws {
        checkThatBothArrive(try makeCall(seed: 821, editOffer: Self.swapped))
    }

    @Test("Sections without announced sources are distinguished by the packets' MIDs")
    func noAnnouncedSources() throws {
        checkThatBothArrive(try makeCall(seed: 822) { Self.without(Self.sources, $0) })
    }

    @Test("A payload type of only one section identifies it, until its source proves to be another's")
    func uniquePayloadType()
        throws
    {
        let call = try makeCall(seed: 823) { offer in
            Self.without(Self.sources + ["a=extmap:1 "], offer).replacing("m=video 9 ", with: "m=video 0 ")
        }
        call.run(for: .seconds(1))
        #expect(call.viewer.receivers.media.map { $0.source?.rawValue } == [call.sender.localMedia[0].source])
        #expect(call.record.frames.count > 20)
        var media = call.viewer.receivers.media[0]
        media.lose(SynchronizationSource(1))
        #expect(media.source != nil)
        media.lose(SynchronizationSource(call.sender.localMedia[0].source))
        #expect(media.source == nil && media.lastSenderReport == nil)
        #expect(media.pollActivity(now: call.now, isConnected: true) == .ended)
    }

    @Test("Retransmissions work without SSRCs and MIDs, by payload type")
    func unannouncedRetransmissions() throws {
        var options = SimulatedCall.Options()
        options.media = [Self.cameras[0]]
        options.editOffer = { Self.without(Self.sources + ["a=extmap:1 "], $0) }
        let call = try SimulatedCall(conditions: WholeCallTests.disturbed(loss: 0.05), seed: 825, options: options)
        call.run(for: .seconds(3))
        let counts = try #require(call.viewer.receivers.media.first?.video?.statistics)
        #expect(counts.retransmittedPacketsReceived > 5)
    }

    @Test("A payload type of two sections identifies neither")
    func sharedPayloadType() throws {
        let call = try makeCall(seed: 824) { Self.without(Self.sources + ["a=extmap:1 "], $0) }
        let before = call.viewer.counts.packetsUnknown
        call.run(for: .seconds(1))
        #expect(call.framesSent(media: 0) > 20 && call.record.framesOf.isEmpty)
        #expect(call.viewer.receivers.media.allSatisfy { $0.source == nil })
        #expect(call.viewer.counts.packetsUnknown - before > 50)
    }
}
