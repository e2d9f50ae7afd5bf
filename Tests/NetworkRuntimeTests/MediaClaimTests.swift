import NetworkRuntime
import PeerConnection
import SDP
import Testing

/// Who takes up which media.
@Suite(.timeLimit(.minutes(1))) struct MediaClaimTests {
    private static func kinds(_ id: String) -> [LocalIdentity.MediaKind] {
        [
            .video(streamID: id, isContent: true), .video(streamID: id, isContent: false),
            .audio(streamID: id, isContent: true), .audio(streamID: id, isContent: false),
        ]
    }

    @Test("What the offer has is given first, what it has not is added, and none twice")
    func offeredMediaFirst() async throws {
        let connection = try await Loopback.open(as: .offerer)
        let known = LocalIdentity.MediaKind.video(streamID: "alice#content", isContent: true)
        #expect(try await connection.claimMedia(known, atMost: 1) == 0)
        await #expect(throws: MediaClaimError.taken) { try await connection.claimMedia(known, atMost: 9) }
        let other = LocalIdentity.MediaKind.video(streamID: "bob#content", isContent: true)
        await #expect(throws: MediaClaimError.limit(1)) { try await connection.claimMedia(other, atMost: 1) }
        #expect(await connection.localMedia.count == 1)
        #expect(try await connection.claimMedia(other, atMost: 2) == 1)
        // The limits of pictures and sound, content and not, are apart.
        for (index, kind) in Self.kinds("carol").dropFirst().enumerated() {
            #expect(try await connection.claimMedia(kind, atMost: 1) == index + 2)
        }
        await connection.close()
        await #expect(throws: MediaClaimError.closed) { try await connection.claimMedia(known, atMost: 9) }
    }

    @Test("No more are given than a connection may have")
    func claimLimit() async throws {
        let connection = try await Loopback.open(as: .offerer)
        let limit = PeerConnection.maximumMedia
        for number in 1..<limit {
            _ = try await connection.claimMedia(.audio(streamID: "a\(number)", isContent: false), atMost: 99)
        }
        await #expect(throws: MediaClaimError.limit(limit)) {
            try await connection.claimMedia(.audio(streamID: "b", isContent: false), atMost: 99)
        }
        await connection.close()
    }

    @Test("What the peer rejected can be taken up again, as new media")
    func rejectedMedia() async throws {
        let connection = try await Loopback.open(as: .offerer)
        let viewer = try await Loopback.open(as: .answerer)
        let voice = LocalIdentity.MediaKind.audio(streamID: "alice", isContent: false)
        let index = try await connection.claimMedia(voice, atMost: 1)
        let offer = try await connection.makeOffer()
        let mid = await connection.localMedia[index].mid
        let answer = try await viewer.answer(offer: offer).description
            .replacing("m=audio 9 ", with: "m=audio 0 ").replacing(" \(mid)\r\n", with: "\r\n")
        try await connection.accept(answer: SessionDescription.parse(answer), to: offer)
        #expect(await connection.agreement(media: index) == .refused)
        #expect(try await connection.claimMedia(voice, atMost: 1) == index + 1)
        #expect(await connection.agreement(media: index + 1) == .pending)
        await #expect(throws: MediaClaimError.taken) { try await connection.claimMedia(voice, atMost: 1) }
        #expect(try await connection.makeOffer().media.count == 3)
        await connection.close()
        await viewer.close()
    }
}
