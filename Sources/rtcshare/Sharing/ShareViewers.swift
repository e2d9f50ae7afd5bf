internal import RTCShareContentShare
internal import RTCShareSDP

/// Those to whom a running share goes, or is to go.
///
///     invited ──its answer──▶ connecting ──▶ connected ⇄ away
///        └───────────────────────┴───────────────┴────────┴──▶ ended
struct ShareViewers {
    enum State {
        /// It was made an offer, whose answer is waited for.
        case invited(SessionDescription)
        case connecting
        case connected
        /// It does not answer, and may come back.
        case away
        /// It is gone. The last to go stays here, where its leaving ends the share: there is a report to be written of it.
        case ended
    }

    private struct Viewer {
        let session: AttendeeSession
        let listener: ViewerListener
        let name: String?
        var state: State
        /// Whether the presenter disconnects it.
        var isBeingRemoved = false
    }

    private var viewers: [Int: Viewer] = [:]
    private var countSoFar = 0
    /// Whether the share goes on without viewers.
    let outlivesViewers: Bool

    init(outlivesViewers: Bool) {
        self.outlivesViewers = outlivesViewers
    }

    /// Takes note of a viewer by its number in the room; `listener` is kept for as long as it is there. `name` is what a
    /// person knows it by, beside its number.
    mutating func add(_ viewer: RoomViewer, name: String? = nil, listener: ViewerListener, state: State) {
        viewers[viewer.id] = Viewer(session: viewer.session, listener: listener, name: name, state: state)
        countSoFar += 1
    }

    /// Whether there never was more than one, nor will be: a person needs no number then.
    private var wasOnlyOne: Bool { countSoFar == 1 && !outlivesViewers }

    /// What a viewer is called, at the beginning of a sentence.
    func name(of id: Int) -> String {
        guard !wasOnlyOne else { return "The viewer" }
        return "Viewer \(id)" + (viewers[id]?.name.map { " (\($0))" } ?? "")
    }

    /// How it goes with a viewer.
    subscript(id: Int) -> State? {
        get { viewers[id]?.state }
        set { if let newValue { viewers[id]?.state = newValue } }
    }

    /// Takes note that the presenter disconnects a viewer.
    mutating func willRemove(_ id: Int) { viewers[id]?.isBeingRemoved = true }

    /// Whether the presenter disconnects a viewer.
    func isBeingRemoved(_ id: Int) -> Bool { viewers[id]?.isBeingRemoved == true }

    /// Takes note that a viewer is gone; returns how many of those who answered are still there.
    mutating func end(_ id: Int) -> Int {
        viewers[id]?.state = .ended
        let others = viewers.values.count { $0.state.hasAnswered }
        if others > 0 || outlivesViewers { viewers[id] = nil }
        return others
    }

    /// The sessions with those who are here, and where nobody is, with who was here last; in the order in which they came.
    var sessions: [(viewer: Int, session: AttendeeSession)] {
        viewers.sorted { $0.key < $1.key }.map { ($0.key, $0.value.session) }
    }

    /// The offers whose answers are waited for, by their viewers.
    var offers: [Int: SessionDescription] {
        viewers.compactMapValues { if case .invited(let offer) = $0.state { offer } else { nil } }
    }

    /// Whether a viewer that is not among `others` is connected.
    func hasConnected(besides others: Set<Int>) -> Bool {
        viewers.contains { $0.value.state.told == .connected && !others.contains($0.key) }
    }

    /// Whether nobody is there.
    var isEmpty: Bool { viewers.isEmpty }

}

extension ShareViewers.State {
    fileprivate var hasAnswered: Bool {
        switch self {
        case .invited, .ended: false
        case .connecting, .connected, .away: true
        }
    }

    /// As it is told to who asks; nil once it is over.
    var told: ControlledShare.Viewer.State? {
        switch self {
        case .invited: .invited
        case .connecting: .connecting
        case .connected: .connected
        case .away: .away
        case .ended: nil
        }
    }
}

/// Tells the share what a viewer's session tells.
final class ViewerListener: AttendeeSessionObserver {
    private let viewer: Int
    private let events: AsyncStream<Share.Occurrence>.Continuation

    init(viewer: Int, _ events: AsyncStream<Share.Occurrence>.Continuation) {
        self.viewer = viewer
        self.events = events
    }

    func sessionDidConnect() { events.yield(.viewer(viewer, .connected)) }
    func sessionDidDisconnect() { events.yield(.viewer(viewer, .disconnected)) }
    func sessionDidReconnect() { events.yield(.viewer(viewer, .reconnected)) }
    func sessionDidEnd(error: (any Error)?) { events.yield(.viewer(viewer, .ended(error))) }
}
