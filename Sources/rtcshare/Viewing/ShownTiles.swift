internal import RTCShareContentShare

/// Which tiles a window shows where, and what its title says: a rule book without a window.
struct ShownTiles: Sendable {
    /// Oldest first.
    private var tiles: [VideoTileState] = []
    /// Whose picture was large last.
    private var name: String?
    /// Whether the sender answers.
    var isConnected = true
    /// Whether the sound is off.
    var isMuted = false

    /// The content that came last; where there is none, the first picture of an attendee.
    var large: VideoTileState? { tiles.last(where: \.isContent) ?? tiles.first }

    /// An attendee's own picture beside it: that of whoever shares, or else the first.
    var corner: VideoTileState? {
        let others = tiles.filter { !$0.isContent && $0.tileID != large?.tileID }
        return others.first { $0.attendeeID.base == large?.attendeeID.base } ?? others.first
    }

    /// A tile came, or is another one than it was.
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

    /// Who is to be seen, and how that stands.
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
