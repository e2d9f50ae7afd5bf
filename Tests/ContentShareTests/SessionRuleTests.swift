import Foundation
import RTCShareCapture
import RTCShareMedia
import RTCSharePeerConnection
import RTCShareSDP
import RTCShareTransport
import Synchronization
import TestSupport
import Testing

@testable import RTCShareContentShare

/// The limits of sessions, and the release of their resources.
@Suite(.timeLimit(.minutes(2)))
struct SessionRuleTests {
    @Test("A session shares for other attendees, up to the maximum of the connection")
    func otherAttendees() async throws {
        let pair = try await Pair()
        let (mine, theirs) = (try pattern(192, 144), try pattern(320, 180))
        try await pair.alice.contentShare.start(source: mine)
        let carol = try await pair.alice.contentShare(of: AttendeeID("carol"))
        #expect(try await pair.alice.contentShare(of: AttendeeID("carol")) === carol)
        #expect(try await pair.alice.contentShare(of: AttendeeID("alice")) === pair.alice.contentShare)
        let sharing = ShareLog()
        carol.add(observer: sharing)
        try await carol.start(source: theirs)
        try await pair.alice.connect(to: pair.bob)
        await sharing.log.wait(count: 1)
        #expect(sharing.log.entries == [.didStart])
        _ = await pair.tiles.wait(for: .added, count: 2)
        #expect(await Set(pair.bob.tiles.tiles.map(\.attendeeID.rawValue)) == ["alice#content", "carol#content"])

        let dave = try await pair.alice.contentShare(of: AttendeeID("dave"))
        await #expect(throws: ContentShareError.tooManyShares(limit: ContentShareController.maximumShares)) {
            try await dave.start(source: mine)
        }
        await pair.end()
        #expect(sharing.log.entries == [.didStart, .didStop(.ok)])
        mine.stop()
        theirs.stop()
    }

    @Test("A viewer that declines the video ends the share, and one that declines the audio does not")
    func viewerDeclinesPicture() async throws {
        for (declined, kind) in [(SharedMedia.content, "m=video"), (.contentAudio, "m=audio")] {
            let pair = try await Pair([.content, .contentAudio], connects: false)
            let screen = try pattern(192, 144)
            let sound = try ToneSource(frequency: 440)
            try sound.start()
            try await pair.alice.contentShare.start(source: screen, audio: sound)
            let offer = try await pair.alice.connection.makeOffer()
            var sections = try await pair.bob.connection.answer(offer: offer).description.components(
                separatedBy: "\r\nm=")
            for index in sections.indices where "m=\(sections[index])".hasPrefix(kind) {
                sections[index].replace("a=recvonly", with: "a=inactive")
            }
            let answer = try SessionDescription.parse(sections.joined(separator: "\r\nm="))
            try await pair.alice.connection.accept(answer: answer, to: offer)
            await pair.sharing.log.wait(count: 1)
            let isPicture = declined == .content
            #expect(pair.sharing.log.entries == [isPicture ? .didStop(.refusedByPeer) : .didStart])
            await waitUntil { await !pair.alice.refusedMedia().isEmpty }
            #expect(await pair.alice.refusedMedia() == [declined])
            #expect(await pair.alice.contentShare.isSharing == !isPicture)
            if isPicture {
                await #expect(throws: ContentShareError.refusedByPeer) {
                    try await pair.alice.contentShare.start(source: screen)
                }
            }
            await pair.end()
            screen.stop()
            sound.stop()
        }
    }

    @Test("A camera that was rejected permanently can be offered again in another section", arguments: [true, false])
    func rejectedCamera(afterTheNews: Bool) async throws {
        let pair = try await Pair([.content, .camera], connects: false)
        let (screen, face) = (try pattern(192, 144), try pattern(320, 180))
        try await pair.alice.contentShare.start(source: screen)
        try await pair.alice.startCamera(source: face)
        let offer = try await pair.alice.connection.makeOffer()
        let whole = try await pair.bob.connection.answer(offer: offer)
        let mid = try #require(try whole.media[1].mid())
        var sections = 0
        let lines = whole.description.split(separator: "\r\n").map { line -> String in
            if line.hasPrefix("a=group:BUNDLE") { return String(line).replacing(" \(mid)", with: "") }
            guard line.hasPrefix("m=") else { return String(line) }
            sections += 1
            let words = line.split(separator: " ")
            return sections == 2 ? ([words[0], "0"] + words[2...]).joined(separator: " ") : String(line)
        }
        let answer = try SessionDescription.parse(lines.joined(separator: "\r\n") + "\r\n")
        try await pair.alice.connection.accept(answer: answer, to: offer)
        if afterTheNews {
            await waitUntil { await !pair.alice.refusedMedia().isEmpty }
            #expect(await pair.alice.refusedMedia() == [.camera])
        }
        try await pair.alice.startCamera(source: face)
        try await pair.alice.connect(to: pair.bob)
        _ = await pair.tiles.wait(for: .added, count: 2)
        #expect(await Set(pair.bob.tiles.tiles.map(\.attendeeID.rawValue)) == ["alice", "alice#content"])
        #expect(await pair.alice.refusedMedia().isEmpty)
        await pair.end()
        screen.stop()
        face.stop()
    }

    @Test("The id of content is rejected as an attendee's id")
    func contentIsNoAttendee() async throws {
        let content = try AttendeeID("alice#content")
        await #expect(throws: AttendeeIDError.content("alice#content")) {
            try await AttendeeSession.offering(as: content)
        }
        let pair = try await Pair(connects: false)
        await #expect(throws: AttendeeIDError.content("alice#content")) {
            try await pair.alice.contentShare(of: content)
        }
        await pair.end()
    }

    @Test("A canceled task stops waiting for the end")
    func cancelledWait() async throws {
        let pair = try await Pair(connects: false)
        let alice = pair.alice
        let waiting = Task { try await alice.waitUntilEnd() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        await pair.end()
        try await pair.alice.waitUntilEnd()
    }

    @Test("A viewer's session that is released without a call of leave has no decoder left")
    func viewerLetGo() async throws {
        var pair: Pair? = try await Pair(binds: false)
        let screen = try pattern(192, 144)
        try await pair?.alice.contentShare.start(source: screen)
        let tile = try #require(await pair?.tiles.wait(for: .added))
        let pictures = EventLog<PictureSink.Picture>()
        var sink: PictureSink? = PictureSink(pictures, of: tile.attendeeID)
        weak let observed = sink
        try await pair?.bob.tiles.bind(try #require(sink), toTile: tile.tileID)
        await pictures.wait(count: 1)
        sink = nil
        pair = nil
        // The session's task and the decoder's thread release it a short time later.
        for _ in 0..<100_000 where observed != nil { await Task.yield() }
        #expect(observed == nil)
        screen.stop()
    }
}
