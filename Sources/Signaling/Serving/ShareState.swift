internal import FoundationEssentials

/// The state of the share that a viewer's page gets. Each event of `text/event-stream` (HTML §9.2) has the whole state.
struct ShareState: Encodable, Equatable, Sendable {
    enum Phase: String, Encodable, Sendable {
        /// The viewer waits for the presenter's admission.
        case waiting
        case live
        /// The content is paused by the presenter, or its source delivers no frames, such as a minimized window.
        case paused
        case ended
        /// The presenter removed this viewer.
        case removed
        /// The presenter removed this viewer, who was waiting for admission.
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

    /// The part of the share that a viewer sees, according to its membership.
    enum View: Hashable {
        case waiting, sees, seesNot
    }

    /// The facts that determine the states for all viewers at one time.
    struct Facts {
        var name: String
        /// The shared content and the owner's camera, as their sources deliver them.
        var content: Tile?
        var own: Tile?
        /// Whether the presenter paused the share.
        var isPaused = false
        var viewers = 0
        /// Whether the content's audio is sent, and the owner's microphone.
        var contentSound = false
        var ownSound = false
    }

    var state: Phase
    /// The attendee that shares.
    let name: String
    var tiles: [Tile] = []
    /// The number of connected viewers that are admitted.
    var viewers = 0
    /// Whether audio is sent to the viewer.
    var sound = false

    init(state: Phase, name: String) {
        self.state = state
        self.name = name
    }

    /// Creates the state for a viewer.
    init(_ facts: Facts, for view: View) {
        var (content, own) = (facts.content, facts.own)
        let isStill = facts.isPaused || content?.state == .paused
        if view != .sees { content?.state = .off } else if isStill, content?.state == .live { content?.state = .paused }
        if view == .waiting { own?.state = .off }
        state = view == .waiting ? .waiting : isStill ? .paused : .live
        name = facts.name
        tiles = [content, own].compactMap { $0 }
        viewers = facts.viewers
        sound = view == .sees && facts.contentSound || view != .waiting && facts.ownSound
    }

    /// The event's bytes.
    var message: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let data = (try? encoder.encode(self)).map { Array($0) } ?? []
        return Array("event: state\ndata: ".utf8) + data + Array("\n\n".utf8)
    }

    /// A comment in the event stream. A page that receives nothing for longer than the interval assumes that the server
    /// is gone.
    static let heartbeat = Array(":\n\n".utf8)
}
