internal import RTCShareMedia
internal import RTCSharePeerConnection

/// Which tiles there are, and in what state: a rule book without sinks and decoders.
///
/// A tile appears with the first picture that can be decoded on its own, since its size is known then. It goes when its
/// source says goodbye, when a description takes its section away, or with the connection; a source that comes back is a
/// new tile.
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

    /// The receiver whose pictures a tile shows.
    func receiver(ofTile id: Int) -> Int? { entries.first { $0.value.state.tileID == id }?.key }

    /// The tile that shows a receiver's pictures.
    func tile(ofReceiver receiver: Int) -> VideoTileState? { entries[receiver]?.state }

    /// Takes what the descriptions say of the media that are received.
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

    /// Takes note of a picture; of one that can be decoded on its own, `size` is known.
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

    /// The viewer pauses a tile, or lets it go on; nothing where there is no such tile.
    mutating func setPausedByUser(_ isPaused: Bool, tile: Int) -> [Event] {
        guard let receiver = receiver(ofTile: tile) else { return [] }
        return change(receiver) { $0.isPausedByUser = isPaused }
    }

    /// The connection is over.
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
    /// Whose stream this is. A peer that names nobody, or not in our way, is named by the place of its media.
    init(ofStream id: String?, isContent: Bool, receiver: Int) {
        // RFC 8830 §2: "-" is no stream.
        let named = id.flatMap { $0 == "-" ? nil : try? AttendeeID($0) }
        // What a peer marks as slides is content, whatever it is called.
        let own = isContent ? named.flatMap { try? $0.content } : named
        self = own ?? .unnamed(receiver: receiver, isContent: isContent)
    }
}
