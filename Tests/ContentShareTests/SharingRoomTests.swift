import NIOCore
import RTCShareCapture
import RTCShareMedia
import RTCSharePeerConnection
import RTCShareSDP
import RTCShareTransport
import RTCShareVideoCoding
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCShareContentShare

/// One share for several viewers, and its destination.
@Suite(.timeLimit(.minutes(2)))
struct SharingRoomTests {
    @Test("A room's only viewer who declines the video does not end the share")
    func declinedPicture() async throws {
        let fixture = try await RoomFixture()
        let (screen, sound) = (try pattern(192, 144), BeepSource())
        try await fixture.room.contentShare.start(source: screen, audio: sound)
        let bob = try await fixture.seat("bob", media: [.content, .contentAudio], connects: false)
        let offer = try await bob.viewer.session.connection.makeOffer()
        let answer = try await bob.session.connection.answer(offer: offer).description.replacing(
            "a=recvonly", with: "a=inactive", maxReplacements: 1)
        try await bob.viewer.session.connection.accept(answer: SessionDescription.parse(answer), to: offer)
        await waitUntil { await fixture.room.refusedMedia(of: bob.viewer.id) == [.content] }
        #expect(fixture.sharing.log.entries.isEmpty)
        // The share can get another source, which the next viewer sees.
        try await fixture.room.contentShare.start(source: screen, audio: sound)
        let carol = try await fixture.seat("carol")
        await carol.tiles.waitForPictures(1)
        await fixture.end(bob, carol)
        screen.stop()
    }

    @Test("Offers and answers of a room begin with the codec of the share's parameters, and else with the first one")
    func codecOrder() async throws {
        func codecs(_ description: SessionDescription) throws -> [String] {
            try #require(description.media.first { $0.kind == "video" }).rtpMaps().map(\.encodingName)
                .filter { !["rtx", "red", "ulpfec"].contains($0) }
        }
        let names = VideoCodec.available.map(\.name)
        let last = try #require(names.last)
        let fixture = try await RoomFixture()
        let screen = try pattern(192, 144)
        try await fixture.room.contentShare.start(
            source: screen, parameters: VideoEncodingParameters(codecs: [last]))
        let bob = try await fixture.seat("bob", connects: false)
        let ordered = [last] + names.dropLast()
        #expect(try await codecs(bob.viewer.session.connection.makeOffer()) == ordered)
        let carol = try await AttendeeSession.receiving(
            as: AttendeeID("carol"), sounds: 0, configuration: Pair.configuration)
        let offer = try await carol.connection.makeOffer()
        #expect(try codecs(offer) == names)
        let (_, answer) = try await fixture.room.addViewer(
            offering: offer.description, configuration: Pair.configuration)
        #expect(try codecs(SessionDescription.parse(answer)) == ordered)
        try await fixture.room.contentShare.update(VideoEncodingParameters())
        #expect(try await codecs(bob.viewer.session.connection.makeOffer()) == names)
        await carol.leave()
        await fixture.end(bob)
        screen.stop()
    }

    @Test("A full room takes a viewer who replaces another one, and no further one")
    func fullRoom() async throws {
        let room = try SharingRoom(owner: AttendeeID("alice"))
        let identity = try Loopback.makeIdentity(sends: false)
        var last: PendingViewer?
        for _ in 0..<SharingRoom.maximumViewers {
            last = try await room.register(
                Connection(unopenedAs: .answerer, identity: identity, configuration: .init()),
                membership: RoomMembership())
        }
        let replaced = try #require(last?.viewer.id)
        let next = try Connection(unopenedAs: .answerer, identity: identity, configuration: .init())
        await #expect(throws: SharingRoomError.tooManyViewers(limit: SharingRoom.maximumViewers)) {
            try await room.register(next, membership: RoomMembership())
        }
        _ = try await room.register(next, membership: RoomMembership(), replacing: replaced)
        await room.end()
    }

    /// Adds a viewer whose connection is not open yet.
    @SharingActor private func register(in room: SharingRoom) throws -> PendingViewer {
        let identity = try Loopback.makeIdentity(sends: false)
        return try room.register(
            Connection(unopenedAs: .answerer, identity: identity, configuration: .init()), membership: RoomMembership())
    }

    @Test("The reason of a failed opening is thrown, also if the viewer has left because of it")
    @SharingActor func failedOpening() async throws {
        let room = try SharingRoom(owner: AttendeeID("alice"))
        let viewer = try register(in: room)
        await #expect(throws: ConnectionError.noAddress) {
            _ = try await room.connect(viewer) { _ in
                await viewer.viewer.session.connection.close()
                await waitUntil { room.membership(of: viewer.viewer.id) == nil }
                throw ConnectionError.noAddress
            }
        }
    }

    @Test("Viewers who leave while their connection opens do not join", arguments: [false, true])
    @SharingActor func leavingViewer(roomEnds: Bool) async throws {
        let room = try SharingRoom(owner: AttendeeID("alice"))
        let viewer = try register(in: room)
        let (id, session) = (viewer.viewer.id, viewer.viewer.session)
        await #expect(throws: roomEnds ? SharingRoomError.ended : .unknownViewer(id)) {
            _ = try await room.connect(viewer) { _ in
                Task { if roomEnds { await room.end() } else { await session.leave() } }
                while !session.isOver { await Task.yield() }
            }
        }
    }

    @Test("A change of the destination removes the tile of some viewers and adds it for others")
    func destinationMovesLive() async throws {
        let room = try await RoomFixture()
        let design = try Subgroup("design")
        let ann = try await room.seat("ann")
        let bob = try await room.seat("bob", .only("design"))
        let eve = try await room.seat("eve", RoomMembership(subgroups: [design]))
        let screen = try pattern(192, 144)
        try await room.room.contentShare.start(source: screen)
        _ = await ann.tiles.wait(for: .added)
        _ = await eve.tiles.wait(for: .added)
        #expect(bob.tiles.kinds.isEmpty)
        await room.sharing.log.wait(count: 1)
        #expect(room.sharing.log.entries == [.didStart])

        await room.room.join(design)
        try await room.room.changeDestination(to: .subgroup(design))
        _ = await ann.tiles.wait(for: .removed)
        let tile = await bob.tiles.wait(for: .added)
        #expect(tile?.attendeeID.rawValue == "alice#content" && tile?.size == screen.captureFormat.size)
        await bob.tiles.waitForPictures()
        await eve.tiles.waitForPictures()
        #expect(bob.tiles.pictures.entries.allSatisfy { $0.counter != nil })
        for seat in [bob, eve] { await waitUntil { await seat.session.tiles.tiles.first?.subgroup == design } }

        try await room.room.changeDestination(to: .main)
        await waitUntil { await eve.session.tiles.tiles.first?.subgroup == nil }
        _ = await bob.tiles.wait(for: .removed)
        // A share that returns has a new tile.
        #expect(await ann.tiles.wait(for: .added, count: 2)?.tileID == 2)
        await eve.tiles.waitForPictures()
        #expect(ann.tiles.kindsButPauses == [.added, .removed, .added])
        #expect(bob.tiles.kindsButPauses == [.added, .removed])
        #expect(eve.tiles.kindsButPauses == [.added])
        // The share was not interrupted.
        #expect(room.sharing.log.entries == [.didStart])
        await room.end(ann, bob, eve)
        #expect(room.sharing.log.entries == [.didStart, .didStop(.ok)])
        #expect(ann.tiles.kindsButPauses.last == .removed)
        screen.stop()
    }

    @Test("A share starts in its subgroup in one step, and other viewers see no frame of it")
    func startInSubgroup() async throws {
        let fixture = try await RoomFixture()
        let room = fixture.room
        let design = try Subgroup("design")
        let ann = try await fixture.seat("ann")
        let bob = try await fixture.seat("bob", .only("design"))
        let (open, secret) = (try pattern(192, 144), try pattern(256, 144))
        await #expect(throws: SharingRoomError.notJoined(design)) {
            try await room.startContentShare(source: secret, to: .subgroup(design))
        }
        #expect(await room.destination == .main)
        await room.join(design)
        try await room.startContentShare(source: secret, to: .subgroup(design))
        await bob.tiles.waitForPictures()
        #expect(ann.tiles.kinds.isEmpty)
        try await room.startContentShare(source: open, to: .main)
        await ann.tiles.waitForPictures()
        _ = await bob.tiles.wait(for: .removed)
        try await room.startContentShare(source: secret, to: .subgroup(design))
        _ = await ann.tiles.wait(for: .removed)
        _ = await bob.tiles.wait(for: .added, count: 2)
        await bob.tiles.waitForPictures()
        #expect(await room.destination == .subgroup(design))
        #expect(ann.tiles.pictures.entries.allSatisfy { $0.size.width == 192 })
        #expect(bob.tiles.pictures.entries.allSatisfy { $0.size.width == 256 })
        // A start that fails does not change the destination.
        await #expect(throws: ContentShareError.self) {
            try await room.startContentShare(
                source: open, to: .main, parameters: VideoEncodingParameters(maxFramerate: 1000))
        }
        #expect(await room.destination == .subgroup(design))
        await fixture.end(ann, bob)
        open.stop()
        secret.stop()
    }

    /// Adds a viewer whose answer waits a second for a silent server, during which `change` is called.
    private func addViewer(
        to room: SharingRoom, during change: @escaping @Sendable (SharingRoom) async throws -> Void
    ) async throws -> (viewer: RoomViewer, session: AttendeeSession) {
        let silent = try await StunResponder(mapped: nil)
        var configuration = Pair.configuration
        configuration.iceServers = [try ICEServer(urls: "stun:\(silent.address)")]
        let session = try await AttendeeSession.receiving(as: AttendeeID("ann"), configuration: Pair.configuration)
        let offer = try await session.connection.offer()
        async let answered = room.addViewer(offering: offer, configuration: configuration)
        await waitUntil { await !room.viewers.isEmpty }
        try await change(room)
        let (viewer, answer) = try await answered
        try await session.connection.accept(answer: answer)
        try await silent.close()
        return (viewer, session)
    }

    @Test("A viewer who is moved before its answer is sent the media of its new membership")
    func movedBeforeAnswer() async throws {
        let fixture = try await RoomFixture()
        let screen = try pattern(192, 144)
        try await fixture.room.contentShare.start(source: screen)
        let (viewer, session) = try await addViewer(to: fixture.room) { room in
            try await room.changeMembership(of: 1, to: .only("design"))
        }
        #expect(try viewer.membership == .only("design"))
        for await state in await viewer.session.states where state == .connected { break }
        let bob = try await fixture.seat("bob")
        await bob.tiles.waitForPictures(5)
        @Sendable func framesSent() async -> Int64 {
            await viewer.session.stats().outboundRTP.values.reduce(0) { $0 + Int64($1.video?.framesSent ?? 0) }
        }
        #expect(await framesSent() == 0)
        try await fixture.room.changeMembership(of: 1, to: RoomMembership())
        await waitUntil { await framesSent() > 0 }
        await session.leave()
        await fixture.end(bob)
        screen.stop()
    }

    @Test("The destination changes with the source, after the viewers are prepared for it")
    func destinationChangesWithSource() async throws {
        let fixture = try await RoomFixture()
        let (room, design) = (fixture.room, try Subgroup("design"))
        await room.join(design)
        let ann = try await fixture.seat("ann")
        let gate = Gate()
        let screen = try pattern(192, 144)
        ann.viewer.session.connection.eventLoop.execute { gate.pass() }
        async let start: Void = room.startContentShare(source: screen, to: .subgroup(design))
        await waitUntil { gate.isReached }
        #expect(await room.destination == .main)
        gate.open()
        try await start
        #expect(await room.destination == .subgroup(design))
        await fixture.end(ann)
        screen.stop()
    }

    @Test("A viewer whose room ends before the answer gets that error")
    func endedBeforeAnswer() async throws {
        let fixture = try await RoomFixture()
        let room = fixture.room
        await #expect(throws: SharingRoomError.ended) { try await addViewer(to: room) { await $0.end() } }
        #expect(await room.viewers.isEmpty)
    }

    @Test("All viewers are sent one encode, and a later viewer starts with a key frame")
    func oneEncode() async throws {
        let room = try await RoomFixture()
        let ann = try await room.seat("ann")
        let screen = try pattern(192, 144)
        try await room.room.contentShare.start(source: screen)
        await ann.tiles.waitForPictures()
        let bob = try await room.seat("bob")
        await bob.tiles.waitForPictures()
        screen.stop()
        // Both reports are of the same encoder, which made a key frame for each viewer who joined, and not for every
        // frame.
        var encoded: [Int] = []
        for seat in [ann, bob] {
            let streams = await seat.viewer.session.stats().outboundRTP.values
            encoded.append(try #require(streams.compactMap(\.encoder).first).keyFramesEncoded)
        }
        #expect(encoded[0] == encoded[1] && (2...5).contains(encoded[0]))
        #expect(ann.tiles.kindsButPauses == [.added])
        await room.end(ann, bob)
    }

    @Test("A viewer who joins a paused share sees its last frame")
    func pausedShare() async throws {
        let room = try await RoomFixture()
        let ann = try await room.seat("ann")
        let screen = try pattern(192, 144)
        try await room.room.contentShare.start(source: screen)
        await ann.tiles.waitForPictures()
        let track = try #require(await room.room.contentShare.videoTrack)
        track.isPaused = true
        _ = await ann.tiles.wait(for: .paused)
        let bob = try await room.seat("bob")
        _ = await bob.tiles.wait(for: .added)
        _ = await bob.tiles.wait(for: .paused)
        let stands = try #require(bob.tiles.pictures.entries.first?.counter)
        #expect(bob.tiles.pictures.entries.allSatisfy { $0.counter == stands })
        track.isPaused = false
        _ = await bob.tiles.wait(for: .resumed)
        screen.stop()
        await room.end(ann, bob)
    }

    @Test("The audio of the content is sent to the same viewers as its video")
    func soundFollowsPicture() async throws {
        let room = try await RoomFixture()
        let media: Set<SharedMedia> = [.content, .contentAudio]
        let ann = try await room.seat("ann", media: media)
        let bob = try await room.seat("bob", .only("sales"), media: media)
        let screen = try pattern(192, 144)
        let music = try ToneSource(frequency: 440)
        try music.start()
        try await room.room.contentShare.start(source: screen, audio: music)
        await ann.sounds.hear(440, of: "alice#content")
        #expect(bob.sounds.log.entries.isEmpty)
        let sales = try Subgroup("sales")
        await room.room.join(sales)
        try await room.room.changeDestination(to: .subgroup(sales))
        await bob.sounds.hear(440, of: "alice#content")
        await ann.sounds.log.wait { $0 == [.added("alice#content"), .removed("alice#content")] }
        await room.end(ann, bob)
        screen.stop()
        music.stop()
    }

    @Test("Without viewers nothing is captured, and a viewer who is moved in sees the share", .timeLimit(.minutes(1)))
    func emptyDestination() async throws {
        let room = try await RoomFixture()
        let ann = try await room.seat("ann")
        let screen = try pattern(192, 144)
        try await room.room.contentShare.start(source: screen)
        _ = await ann.tiles.wait(for: .added)
        let design = try Subgroup("design")
        await room.room.join(design)
        try await room.room.changeDestination(to: .subgroup(design))
        _ = await ann.tiles.wait(for: .removed)
        await waitUntil { !screen.broadcaster.hasSinks }
        #expect(await room.room.contentShare.isSharing)
        try await room.room.changeMembership(of: ann.viewer.id, to: .only("design"))
        _ = await ann.tiles.wait(for: .added, count: 2)
        await ann.tiles.waitForPictures()
        await room.sharing.log.wait(count: 1)
        #expect(room.sharing.log.entries == [.didStart])
        await #expect(throws: SharingRoomError.unknownViewer(7)) {
            try await room.room.changeMembership(of: 7, to: RoomMembership())
        }
        await room.end(ann)
        screen.stop()
    }

    @Test("A viewer outside the destination during the offer needs no other offer to be moved in")
    func viewerElsewhere() async throws {
        let room = try await RoomFixture()
        let (ann, bob) = (try await room.seat("ann"), try await room.seat("bob", .only("design")))
        let screen = try pattern(192, 144)
        try await room.room.contentShare.start(source: screen)
        _ = await ann.tiles.wait(for: .added)
        try await bob.viewer.session.connect(to: bob.session)
        let design = try Subgroup("design")
        await room.room.join(design)
        try await room.room.changeDestination(to: .subgroup(design))
        _ = await bob.tiles.wait(for: .added)
        await bob.tiles.waitForPictures()
        #expect(bob.tiles.kindsButPauses == [.added])
        await room.end(ann, bob)
        screen.stop()
    }

    @Test("A viewer who leaves does not affect the share, which waits for the next viewer")
    func viewerLeaves() async throws {
        let room = try await RoomFixture()
        let ann = try await room.seat("ann")
        let bob = try await room.seat("bob")
        let screen = try pattern(192, 144)
        try await room.room.contentShare.start(source: screen)
        await ann.tiles.waitForPictures()
        await bob.tiles.waitForPictures()
        await bob.session.leave()
        try await bob.viewer.session.waitUntilEnd()
        await ann.tiles.waitForPictures()
        await ann.session.leave()
        try await ann.viewer.session.waitUntilEnd()
        await waitUntil { await room.room.viewers.isEmpty }
        #expect(await room.room.contentShare.isSharing)
        let eve = try await room.seat("eve")
        #expect(eve.viewer.id == 3)
        await eve.tiles.waitForPictures()
        #expect(ann.tiles.kindsButPauses == [.added, .removed])
        await room.sharing.log.wait(count: 1)
        #expect(room.sharing.log.entries == [.didStart])
        await room.end(eve)
        screen.stop()
    }

    @Test("A viewer who declines the video does not end the share for others")
    func viewerDeclinesPicture() async throws {
        let room = try await RoomFixture()
        let ann = try await room.seat("ann")
        let bob = try await room.seat("bob", connects: false)
        let screen = try pattern(192, 144)
        try await room.room.contentShare.start(source: screen)
        let offer = try await bob.viewer.session.connection.makeOffer()
        let answer = try await bob.session.connection.answer(offer: offer).description
        try await bob.viewer.session.connection.accept(
            answer: SessionDescription.parse(answer.replacing("a=recvonly", with: "a=inactive")), to: offer)
        await waitUntil { await !bob.viewer.session.refusedMedia().isEmpty }
        #expect(await ann.viewer.session.refusedMedia().isEmpty)
        await ann.tiles.waitForPictures()
        await room.sharing.log.wait(count: 1)
        #expect(room.sharing.log.entries == [.didStart])
        await room.end(ann, bob)
        screen.stop()
    }

    @Test("A subgroup must be joined before a share to it, and can't be left during the share")
    func subgroupMembership() async throws {
        let room = try await RoomFixture()
        let (design, sales) = (try Subgroup("design"), try Subgroup("sales"))
        await #expect(throws: SharingRoomError.notJoined(design)) {
            try await room.room.changeDestination(to: .subgroup(design))
        }
        await #expect(throws: SharingRoomError.notJoined(design)) { try await room.room.leave(design) }
        await room.room.join(design)
        await room.room.join(sales)
        try await room.room.changeDestination(to: .subgroup(design))
        let screen = try pattern(192, 144)
        try await room.room.contentShare.start(source: screen)
        await #expect(throws: SharingRoomError.sharingTo(design)) { try await room.room.leave(design) }
        #expect(await room.room.subgroups == [design, sales])
        try await room.room.leave(sales)
        try await room.room.changeDestination(to: .main)
        try await room.room.leave(design)
        #expect(await room.room.subgroups.isEmpty)
        // Without a share, the destination after leaving is the main room.
        await room.room.join(design)
        try await room.room.changeDestination(to: .subgroup(design))
        try await room.room.contentShare.stop()
        try await room.room.leave(design)
        #expect(await room.room.destination == .main)
        await room.end()
        await #expect(throws: SharingRoomError.ended) { try await room.room.changeDestination(to: .main) }
        await #expect(throws: ContentShareError.ended) { try await room.room.contentShare.start(source: screen) }
        screen.stop()
    }

    @Test("The bitrate limit of an open connection can be raised")
    func higherBitrate() async throws {
        let pair = try await Pair()
        let screen = try pattern(320, 180)
        try await pair.alice.contentShare.start(
            source: screen, parameters: VideoEncodingParameters(maxBitrate: .kilobitsPerSecond(500)))
        pair.alice.connection.setMaximumBitrate(.kilobitsPerSecond(500))
        await pair.tiles.waitForPictures()
        pair.alice.connection.setMaximumBitrate(.kilobitsPerSecond(6000))
        try await pair.alice.contentShare.update(VideoEncodingParameters(maxBitrate: .kilobitsPerSecond(6000)))
        while true {
            let rate = await pair.alice.stats().outboundRTP.values.compactMap(\.targetBitrate).first
            if let rate, rate > 4_000_000 { break }
            await pair.tiles.waitForPictures(1)
        }
        await pair.end()
        screen.stop()
    }

    @Test("A valid name of a subgroup is accepted", arguments: ["design", "a", "Team-1", "x.y_z", "7"])
    func subgroupNames(name: String) throws {
        #expect(try Subgroup(name).description == name)
        #expect(try ShareDestination(name) == .subgroup(Subgroup(name)))
    }

    @Test("An invalid name of a subgroup is rejected with a valid one")
    func subgroupNameRefused() throws {
        #expect(throws: SubgroupError.empty) { try Subgroup("") }
        #expect(throws: SubgroupError.reserved) { try Subgroup("main") }
        #expect(throws: SubgroupError.tooLong(length: 65)) { try Subgroup(String(repeating: "x", count: 65)) }
        for name in ["-x", ".x", "a b", "a/b", "é", "a\n", "#"] {
            #expect(throws: SubgroupError.self) { try Subgroup(name) }
        }
        #expect(try ShareDestination("main") == .main)
        #expect(throws: SharingRoomError.nowhere) { try RoomMembership(onlySubgroups: []) }
    }

    @Test("Viewers of a room with shared ports use the ports of the event loops in turn")
    func sharedPorts() async throws {
        let ports = try await SharedPorts(addresses: Pair.configuration.addresses, count: 2)
        let room = try SharingRoom(owner: AttendeeID("alice"), ports: ports)
        var addresses: [[TransportAddress]] = []
        for _ in 0..<4 {
            let viewer = try await room.addViewer()
            addresses.append(await viewer.session.connection.localAddresses)
        }
        #expect(addresses[0] == addresses[2] && addresses[1] == addresses[3])
        #expect((addresses[0] == addresses[1]) == (ports.ports.count == 1), "one a processor")
        // A viewer whose configuration has a port uses that port.
        var own = Pair.configuration
        own.sharedPort = try await SharedPort(addresses: own.addresses)
        let apart = try await room.addViewer(configuration: own)
        #expect(await !addresses.contains(apart.session.connection.localAddresses))
        await room.end()
        await ports.close()
        await own.sharedPort?.close()
    }
}
