internal import FoundationEssentials

/// How a share stands, as a viewer's page is told: all of it each time, as an event of `text/event-stream` (HTML §9.2).
struct ShareState: Encodable, Equatable, Sendable {
    enum Phase: String, Encodable, Sendable {
        /// The presenter has to let this viewer in.
        case waiting
        case live
        /// The picture stands still: the presenter paused it, or its source gives none, such as a minimised window.
        case paused
        case ended
        /// The presenter removed this viewer.
        case removed
        /// The presenter removed this viewer, who was waiting for approval.
        case declined
    }

    struct Tile: Encodable, Equatable, Sendable {
        enum State: String, Encodable, Sendable {
            case live, paused, off
        }

        /// The media stream's id, as in `a=msid`.
        let stream: String
        var state: State
    }

    /// What a viewer sees of the content, by where the viewer is in the room.
    enum View: Hashable {
        case waiting, sees, seesNot
    }

    /// What decides how a share stands, at one moment.
    struct Facts {
        var name: String
        /// The served pictures, as their sources give them: the content's and the owner's own.
        var content: Tile?
        var own: Tile?
        /// Whether the presenter paused the share.
        var isPaused = false
        var viewers = 0
        var sound = false
    }

    var state: Phase
    /// The attendee that shares.
    let name: String
    var tiles: [Tile] = []
    /// How many see it.
    var viewers = 0
    /// Whether there is anything to hear.
    var sound = false

    init(state: Phase, name: String) {
        self.state = state
        self.name = name
    }

    /// How a share stands for a viewer.
    init(_ facts: Facts, for view: View) {
        var (content, own) = (facts.content, facts.own)
        let isStill = facts.isPaused || content?.state == .paused
        if view != .sees { content?.state = .off } else if isStill, content?.state == .live { content?.state = .paused }
        if view == .waiting { own?.state = .off }
        state = view == .waiting ? .waiting : isStill ? .paused : .live
        name = facts.name
        tiles = [content, own].compactMap { $0 }
        viewers = facts.viewers
        sound = facts.sound
    }

    /// The event's bytes.
    var message: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let data = (try? encoder.encode(self)).map { Array($0) } ?? []
        return Array("event: state\ndata: ".utf8) + data + Array("\n\n".utf8)
    }

    /// A comment: whoever hears nothing for longer than the interval between two knows that the server is gone.
    static let heartbeat = Array(":\n\n".utf8)
}

/// What a server counts, for whoever watches it.
struct ServerCounts: Sendable {
    var requests = 0
    var sessions = 0
    var refusedTokens = 0
    var refusedRequests = 0
}
