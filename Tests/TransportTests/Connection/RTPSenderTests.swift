import RTCSharePeerConnection
import RTCShareSDP
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCShareTransport

/// The senders of a connection and their owners.
@Suite(.timeLimit(.minutes(1))) struct RTPSenderTests {
    private static func kinds(_ id: String) -> [LocalIdentity.MediaKind] {
        [
            .video(streamID: id, isContent: true), .video(streamID: id, isContent: false),
            .audio(streamID: id, isContent: true), .audio(streamID: id, isContent: false),
        ]
    }

    @Test("A sender gets media of the offer first, then new media, and the same for each owner again")
    func offeredMediaFirst() async throws {
        let connection = try await Loopback.open(as: .offerer)
        let (owner, another) = (FeedbackLog(), FeedbackLog())
        let known = LocalIdentity.MediaKind.video(streamID: "alice#content", isContent: true)
        let first = try await connection.sender(of: known, for: owner, atMost: 1)
        #expect(first.media == 0)
        #expect(try await connection.sender(of: known, for: owner, atMost: 1) === first)
        await #expect(throws: SenderError.taken) { try await connection.sender(of: known, for: another, atMost: 9) }
        let other = LocalIdentity.MediaKind.video(streamID: "bob#content", isContent: true)
        await #expect(throws: SenderError.limit(1)) { try await connection.sender(of: other, for: owner, atMost: 1) }
        #expect(await connection.localMedia.count == 1)
        var senders = [first, try await connection.sender(of: other, for: owner, atMost: 2)]
        #expect(senders[1].media == 1)
        // Video and audio, content and not, have separate limits.
        for (index, kind) in Self.kinds("carol").dropFirst().enumerated() {
            senders.append(try await connection.sender(of: kind, for: owner, atMost: 1))
            #expect(senders.last?.media == index + 2)
        }
        await connection.close()
        await #expect(throws: SenderError.closed) { try await connection.sender(of: known, for: owner, atMost: 9) }
    }

    @Test("The media of a released sender can be used again")
    func droppedSender() async throws {
        let connection = try await Loopback.open(as: .offerer)
        let known = LocalIdentity.MediaKind.video(streamID: "alice#content", isContent: true)
        #expect(try await connection.sender(of: known, for: FeedbackLog(), atMost: 1).media == 0)
        #expect(try await connection.sender(of: known, for: FeedbackLog(), atMost: 1).media == 0)
        await connection.close()
    }

    @Test("The number of senders of a connection is limited")
    func senderLimit() async throws {
        let connection = try await Loopback.open(as: .offerer)
        let owner = FeedbackLog()
        let limit = PeerConnection.maximumMedia
        var senders: [LoggedSender] = []
        for number in 1..<limit {
            let kind = LocalIdentity.MediaKind.audio(streamID: "a\(number)", isContent: false)
            senders.append(try await connection.sender(of: kind, for: owner, atMost: 99))
        }
        await #expect(throws: SenderError.limit(limit)) {
            try await connection.sender(of: .audio(streamID: "b", isContent: false), for: owner, atMost: 99)
        }
        #expect(senders.count == limit - 1)
        await connection.close()
    }

    @Test("Rejected media can be sent again as new media")
    func rejectedMedia() async throws {
        let connection = try await Loopback.open(as: .offerer)
        let viewer = try await Loopback.open(as: .answerer)
        let owner = FeedbackLog()
        let voice = LocalIdentity.MediaKind.audio(streamID: "alice", isContent: false)
        let sender = try await connection.sender(of: voice, for: owner, atMost: 1)
        let offer = try await connection.makeOffer()
        let mid = await connection.localMedia[sender.media].mid
        let answer = try await viewer.answer(offer: offer).description
            .replacing("m=audio 9 ", with: "m=audio 0 ").replacing(" \(mid)\r\n", with: "\r\n")
        try await connection.accept(answer: SessionDescription.parse(answer), to: offer)
        #expect(await connection.agreement(of: sender).media == .refused)
        let next = try await connection.sender(of: voice, for: owner, atMost: 1)
        #expect(next.media == sender.media + 1)
        #expect(await connection.agreement(of: next).media == .pending)
        await #expect(throws: SenderError.taken) {
            try await connection.sender(of: voice, for: FeedbackLog(), atMost: 1)
        }
        #expect(try await connection.makeOffer().media.count == 3)
        await connection.close()
        await viewer.close()
    }

    @Test("Media without a sender get no part of the bitrate")
    func unusedMedia() async throws {
        let pair = try await ConnectedPair(
            [.video(streamID: "alice#content", isContent: true)],
            unused: [
                .audio(streamID: "alice#content", isContent: true), .video(streamID: "alice", isContent: false),
                .audio(streamID: "alice", isContent: false),
            ], maximumBitrate: .kilobitsPerSecond(200))
        pair.senders[0].setDemand(
            BitrateDemand(minimum: .kilobitsPerSecond(30), maximum: .kilobitsPerSecond(2000), priority: .medium))
        // The rest is the overhead of packets.
        #expect(await pair.target { $0 > .kilobitsPerSecond(170) } != nil)
        await pair.close()
    }

    @Test("A sender's owner is notified of the agreement, the bitrate and the end, each for that sender only")
    func feedback() async throws {
        let pair = try await ConnectedPair([.video(streamID: "alice#content", isContent: true)])
        var feedback = pair.feedback.stream.makeAsyncIterator()
        guard case .negotiated(let agreement)? = await feedback.next()?.0 else {
            Issue.record("nothing was said of what was agreed")
            return
        }
        #expect(agreement.media == .agreed && agreement.opus == nil)
        let sender = pair.senders[0]
        let rate = DataRate.kilobitsPerSecond(100)
        sender.setDemand(BitrateDemand(minimum: rate, maximum: rate, priority: .medium))
        #expect(await pair.target { $0 > .zero } != nil)
        await pair.sender.close()
        var isOver = false
        while !isOver, let (next, media) = await feedback.next() {
            #expect(media == 0)
            if case .ended = next { isOver = true }
        }
        #expect(isOver)
        await pair.viewer.close()
    }
}
