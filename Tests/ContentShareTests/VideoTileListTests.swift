import RTCShareMedia

import Testing

@testable import RTCShareContentShare
@testable import RTCSharePeerConnection

/// The tiles of a session and their states.
@Suite struct VideoTileListTests {
    private static let small = PixelSize(width: 320, height: 180)
    private static let large = PixelSize(width: 1280, height: 720)

    private static func media(
        _ streamID: String?, isContent: Bool = false, isVideo: Bool = true, isActive: Bool = true,
        subgroup: String? = nil
    ) -> RemoteMedia {
        RemoteMedia(
            isVideo: isVideo, streamID: streamID, trackID: nil, isContent: isContent, isActive: isActive,
            subgroup: subgroup, opus: nil)
    }

    /// Returns a list with one tile of Alice's.
    private static func list() -> VideoTileList {
        var list = VideoTileList()
        _ = list.update([media("alice")])
        _ = list.frameArrived(receiver: 0, size: small)
        return list
    }

    @Test("A tile has the subgroup that the sender names, and each change is reported")
    func subgroup() throws {
        var list = VideoTileList()
        _ = list.update([Self.media("alice#content", isContent: true, subgroup: "design")])
        _ = list.frameArrived(receiver: 0, size: Self.small)
        #expect(list.tiles.first?.subgroup == (try Subgroup("design")))
        #expect(list.update([Self.media("alice#content", isContent: true, subgroup: "design")]).isEmpty)
        for (name, subgroup) in [("sales", try Subgroup("sales")), (nil, nil), ("design", try Subgroup("design"))] {
            let events = list.update([Self.media("alice#content", isContent: true, subgroup: name)])
            guard case .subgroupDidChange(let tile) = events.first, events.count == 1 else {
                Issue.record("\(events)")
                continue
            }
            #expect(tile.subgroup == subgroup && list.tiles == [tile])
        }
        // An invalid name is not a subgroup.
        _ = list.update([Self.media("alice#content", isContent: true, subgroup: "not a name")])
        #expect(list.tiles.first?.subgroup == nil)
    }

    @Test("A tile is added with the first key frame")
    func firstPicture() {
        var list = VideoTileList()
        #expect(list.frameArrived(receiver: 0, size: Self.small).isEmpty, "nobody told of the receiver")
        #expect(list.update([Self.media("alice"), Self.media("alice#content", isContent: true)]).isEmpty)
        #expect(list.frameArrived(receiver: 1, size: nil).isEmpty)
        #expect(list.activityChanged(.flowing, receiver: 1).isEmpty)
        guard case .didAdd(let tile)? = list.frameArrived(receiver: 1, size: Self.large).first else {
            Issue.record("no tile")
            return
        }
        #expect(tile.attendeeID.rawValue == "alice#content" && tile.isContent && tile.size == Self.large)
        #expect(tile.pauseState == .unpaused)
        #expect(list.tiles == [tile] && list.receiver(ofTile: tile.tileID) == 1 && list.tile(ofReceiver: 1) == tile)
        #expect(list.frameArrived(receiver: 1, size: Self.large).isEmpty)
        #expect(list.frameArrived(receiver: -1, size: Self.large).isEmpty)
        #expect(list.frameArrived(receiver: 2, size: Self.large).isEmpty)
    }

    @Test("A new size is reported once, and a frame on its side has another size")
    func newSize() {
        var list = Self.list()
        guard case .sizeDidChange(let tile)? = list.frameArrived(receiver: 0, size: Self.large).first else {
            Issue.record("no change")
            return
        }
        #expect(tile.size == Self.large)
        #expect(list.frameArrived(receiver: 0, size: Self.large).isEmpty)
        let turned = PixelSize(width: 720, height: 1280)
        #expect(list.frameArrived(receiver: 0, size: turned).count == 1)
        #expect(list.tiles.first?.size == turned)
    }

    @Test("A tile has the right pause state in all combinations of user, sender and network")
    func pauses() {
        typealias Pause = VideoTileState.PauseState
        // The columns are the sender's activity, whether the user paused the tile, and the pause state.
        let table: [(ReceiverActivity, Bool, Pause)] = [
            (.flowing, false, .unpaused), (.waiting, false, .unpaused), (.paused, false, .pausedBySender),
            (.lost, false, .pausedForPoorConnection), (.flowing, true, .pausedByUser), (.waiting, true, .pausedByUser),
            (.paused, true, .pausedByUser), (.lost, true, .pausedByUser),
        ]
        for (activity, isPaused, expected) in table {
            for (before, wasPaused, shown) in table {
                var list = Self.list()
                _ = list.activityChanged(before, receiver: 0)
                _ = list.setPausedByUser(wasPaused, tile: 1)
                #expect(list.tiles.first?.pauseState == shown)
                var events = list.activityChanged(activity, receiver: 0)
                let between = list.tiles.first?.pauseState
                #expect(events.count == (between == shown ? 0 : 1))
                events = list.setPausedByUser(isPaused, tile: 1)
                #expect(events.count == (between == expected ? 0 : 1))
                #expect(list.tiles.first?.pauseState == expected)
                switch events.first {
                case .didResume(let tile): #expect(tile.pauseState == .unpaused)
                case .didPause(let tile): #expect(tile.pauseState == expected && expected != .unpaused)
                case nil: break
                default: Issue.record("\(events)")
                }
            }
        }
    }

    @Test("An RTCP BYE removes the tile, and a source that starts again has a new one")
    func goodbyeRemovesTile() {
        var list = Self.list()
        _ = list.setPausedByUser(true, tile: 1)
        guard case .didRemove(let gone)? = list.activityChanged(.ended, receiver: 0).first else {
            Issue.record("no removal")
            return
        }
        #expect(gone.tileID == 1 && list.tiles.isEmpty)
        #expect(list.activityChanged(.ended, receiver: 0).isEmpty)
        #expect(list.activityChanged(.flowing, receiver: 0).isEmpty)
        #expect(list.frameArrived(receiver: 0, size: nil).isEmpty)
        #expect(list.frameArrived(receiver: 0, size: Self.small).count == 1)
        #expect(list.tiles.map(\.tileID) == [2] && list.tiles.first?.pauseState == .unpaused)
    }

    @Test("A media section that is inactive or missing removes its tile")
    func inactiveSection() {
        var list = Self.list()
        #expect(list.update([Self.media("alice")]).isEmpty)
        #expect(list.update([Self.media("alice", isActive: false)]).count == 1)
        #expect(list.frameArrived(receiver: 0, size: Self.small).isEmpty)
        #expect(list.update([Self.media("alice")]).isEmpty)
        #expect(list.frameArrived(receiver: 0, size: Self.small).count == 1)
        #expect(list.update([]).count == 1)
        #expect(list.update([Self.media("alice", isVideo: false)]).isEmpty)
        #expect(list.frameArrived(receiver: 0, size: Self.small).isEmpty)
    }

    @Test("The end removes all tiles, the oldest first")
    func endRemovesTile() {
        var list = VideoTileList()
        _ = list.update([Self.media("alice"), Self.media("bob"), Self.media("carol")])
        for receiver in [2, 0, 1] { _ = list.frameArrived(receiver: receiver, size: Self.small) }
        #expect(list.tiles.map(\.attendeeID.rawValue) == ["carol", "alice", "bob"])
        #expect(list.end().count == 3)
        #expect(list.tiles.isEmpty && list.end().isEmpty)
        #expect(list.frameArrived(receiver: 0, size: Self.small).isEmpty)
        #expect(list.activityChanged(.paused, receiver: 0).isEmpty)
        #expect(list.setPausedByUser(true, tile: 1).isEmpty)
    }

    @Test(
        "A stream with any id has a tile with an attendee",
        arguments: [
            // These are ids that a hostile or careless peer can send.
            (nil, false, "receiver-1", false), ("", false, "receiver-1", false), ("-", false, "receiver-1", false),
            ("#content", false, "receiver-1", false), ("#content", true, "receiver-1#content", true),
            ("a#b#content", false, "a#b#content", true), ("alice", true, "alice#content", true),
            ("alice#content", true, "alice#content", true), ("a b", false, "receiver-1", false),
            ("\r\na=evil", true, "receiver-1#content", true),
            (String(repeating: "a", count: 129), false, "receiver-1", false),
            // Slides are content, even if the id has no room for #content.
            (String(repeating: "a", count: 128), true, "receiver-1#content", true), ("#", false, "#", false),
            (nil, true, "receiver-1#content", true), ("-", true, "receiver-1#content", true),
        ] as [(String?, Bool, String, Bool)])
    func streamNames(
        streamID: String?, isSlides: Bool, attendee: String, isContent: Bool
    ) {
        var list = VideoTileList()
        _ = list.update([Self.media(streamID, isContent: isSlides)])
        #expect(list.frameArrived(receiver: 0, size: Self.small).count == 1)
        #expect(list.tiles.first?.attendeeID.rawValue == attendee)
        #expect(list.tiles.first?.isContent == isContent)
    }
}
