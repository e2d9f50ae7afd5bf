internal import RTCShareMedia
internal import RTCSharePeerConnection

/// The tiles of a session with their states, as a value without sinks and decoders.
///
/// A tile is added with the first frame that can be decoded without others, which has the size. It is removed if its
/// source sends an RTCP BYE, if a description removes its media section, or if the connection ends. If the source
/// starts again, it gets a new tile.
struct VideoTileList {
    enum Event: Hashable {
        case didAdd(VideoTileState)
        case didRemove(VideoTileState)
        case didPause(VideoTileState)
        case didResume(VideoTileState)
        case sizeDidChange(VideoTileState)
        case subgroupDidChange(VideoTileState)
    }

    private struct Entry {
        var state: VideoTileState
        var isPausedByUser = false
        var activity = ReceiverActivity.flowing

        var pauseState: VideoTileState.PauseState {
            if isPausedByUser { return .pausedByUser }
            return switch activity {
            case .paused: .pausedBySender
            case .lost: .pausedForPoorConnection
            case .waiting, .flowing, .ended: .unpaused
            }
        }
    }

    private var attendees: [AttendeeID?] = []
    private var subgroups: [Subgroup?] = []
    private var entries: [Int: Entry] = [:]
    private var nextID = 1

    /// The tiles, oldest first.
    var tiles: [VideoTileState] { entries.values.map(\.state).sorted { $0.tileID < $1.tileID } }

    func receiver(ofTile id: Int) -> Int? { entries.first { $0.value.state.tileID == id }?.key }

    func tile(ofReceiver receiver: Int) -> VideoTileState? { entries[receiver]?.state }

    /// Applies a change of the received media by the descriptions.
    mutating func update(_ media: [RemoteMedia]) -> [Event] {
        attendees = media.enumerated().map { index, media in
            guard media.isVideo, media.isActive else { return nil }
            return AttendeeID(ofStream: media.streamID, isContent: media.isContent, receiver: index)
        }
        subgroups = media.map { $0.subgroup.flatMap { try? Subgroup($0) } }
        return entries.keys.sorted().compactMap { isActive($0) ? setSubgroup(of: $0) : remove($0) }
    }

    private mutating func setSubgroup(of receiver: Int) -> Event? {
        guard var entry = entries[receiver], entry.state.subgroup != subgroups[receiver] else { return nil }
        entry.state.subgroup = subgroups[receiver]
        entries[receiver] = entry
        return .subgroupDidChange(entry.state)
    }

    /// Adds or resizes the tile of a frame that arrived. Key frames have a `size`.
    mutating func frameArrived(receiver: Int, size: PixelSize?) -> [Event] {
        guard let size, attendees.indices.contains(receiver), let attendee = attendees[receiver] else { return [] }
        guard var entry = entries[receiver] else {
            let state = VideoTileState(
                tileID: nextID, attendeeID: attendee, size: size, subgroup: subgroups[receiver])
            nextID += 1
            entries[receiver] = Entry(state: state)
            return [.didAdd(state)]
        }
        guard entry.state.size != size else { return [] }
        entry.state.size = size
        entries[receiver] = entry
        return [.sizeDidChange(entry.state)]
    }

    mutating func activityChanged(_ activity: ReceiverActivity, receiver: Int) -> [Event] {
        if activity == .ended { return [remove(receiver)].compactMap { $0 } }
        return change(receiver) { $0.activity = activity }
    }

    /// Pauses or resumes a tile for the viewer. Does nothing if there is no such tile.
    mutating func setPausedByUser(_ isPaused: Bool, tile: Int) -> [Event] {
        guard let receiver = receiver(ofTile: tile) else { return [] }
        return change(receiver) { $0.isPausedByUser = isPaused }
    }

    /// Removes all tiles, because the connection ended.
    mutating func end() -> [Event] {
        attendees = []
        subgroups = []
        return entries.keys.sorted().compactMap { remove($0) }
    }

    private func isActive(_ receiver: Int) -> Bool {
        attendees.indices.contains(receiver) && attendees[receiver] != nil
    }

    private mutating func remove(_ receiver: Int) -> Event? {
        entries.removeValue(forKey: receiver).map { .didRemove($0.state) }
    }

    private mutating func change(_ receiver: Int, _ body: (inout Entry) -> Void) -> [Event] {
        guard var entry = entries[receiver] else { return [] }
        body(&entry)
        let isChange = entry.state.pauseState != entry.pauseState
        entry.state.pauseState = entry.pauseState
        entries[receiver] = entry
        guard isChange else { return [] }
        return [entry.pauseState == .unpaused ? .didResume(entry.state) : .didPause(entry.state)]
    }
}

extension AttendeeID {
    /// Finds the attendee of a stream. If the peer gives no valid id, the receiver's index makes one.
    init(ofStream id: String?, isContent: Bool, receiver: Int) {
        // A stream id "-" is the lack of a stream (RFC 8830 §2).
        let named = id.flatMap { $0 == "-" ? nil : try? AttendeeID($0) }
        // A stream that the peer marks as slides is content, whatever its id is.
        let own = isContent ? named.flatMap { try? $0.content } : named
        self = own ?? .unnamed(receiver: receiver, isContent: isContent)
    }
}
