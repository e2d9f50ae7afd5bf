internal import RTCShareContentShare

/// The tiles that a window shows, their positions, and its title, as a value without a window.
struct ShownTiles: Sendable {
    /// The tiles, oldest first.
    private var tiles: [VideoTileState] = []
    /// The name of the attendee whose tile was large last.
    private var name: String?
    /// Whether the sender responds.
    var isConnected = true
    /// Whether audio playback is muted.
    var isMuted = false

    /// The large tile: the newest content, or the first tile if there is no content.
    var large: VideoTileState? { tiles.last(where: \.isContent) ?? tiles.first }

    /// The tile in the corner: the camera of the attendee whose tile is large, or the first camera of another one.
    var corner: VideoTileState? {
        let others = tiles.filter { !$0.isContent && $0.tileID != large?.tileID }
        return others.first { $0.attendeeID.base == large?.attendeeID.base } ?? others.first
    }

    /// Adds or changes a tile.
    mutating func update(_ tile: VideoTileState) {
        if let index = tiles.firstIndex(where: { $0.tileID == tile.tileID }) {
            tiles[index] = tile
        } else {
            tiles.append(tile)
        }
        name = large?.attendeeID.name ?? name
    }

    mutating func remove(_ tile: VideoTileState) {
        tiles.removeAll { $0.tileID == tile.tileID }
        name = large?.attendeeID.name ?? name
    }

    /// The title: the name of the attendee, and the state of the video.
    var title: String {
        var states: [String] = []
        if let large {
            if !isConnected || large.pauseState == .pausedForPoorConnection {
                states.append("no data arrives")
            } else if large.pauseState != .unpaused {
                states.append("paused")
            }
        } else {
            states.append("shares nothing now")
        }
        if isMuted { states.append("muted") }
        let state = states.isEmpty ? "" : " (\(states.joined(separator: ", ")))"
        return "\(name ?? "nobody")\(state) - rtcshare"
    }
}
