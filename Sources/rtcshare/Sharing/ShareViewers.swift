internal import RTCShareContentShare
internal import RTCSharePeerConnection
internal import RTCShareSDP

/// The viewers of a running share, and the states of their connections as far as the share has handled them.
struct ShareViewers {
    private struct Viewer {
        let session: AttendeeSession
        let name: String?
        /// The offer whose answer is waited for.
        var offer: SessionDescription?
        var state: ConnectionState
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

    /// Adds a viewer by its number in the room. `name` is what a person knows it by, beside its number. The viewer is
    /// connecting, unless its answer to `offer` is waited for.
    mutating func add(_ viewer: RoomViewer, name: String? = nil, offer: SessionDescription? = nil) {
        viewers[viewer.id] = Viewer(
            session: viewer.session, name: name, offer: offer, state: offer == nil ? .connecting : .new)
        countSoFar += 1
    }

    /// Whether there never was more than one, nor will be: a person needs no number then.
    private var wasOnlyOne: Bool { countSoFar == 1 && !outlivesViewers }

    /// The name of a viewer at the beginning of a sentence.
    func name(of id: Int) -> String {
        guard !wasOnlyOne else { return "The viewer" }
        return "Viewer \(id)" + (viewers[id]?.name.map { " (\($0))" } ?? "")
    }

    /// The state of a viewer's connection.
    subscript(id: Int) -> ConnectionState? {
        get { viewers[id]?.state }
        set { if let newValue { viewers[id]?.state = newValue } }
    }

    /// Records that an invited viewer has answered.
    mutating func didAnswer(_ id: Int) {
        viewers[id]?.offer = nil
        if viewers[id]?.state == .new { viewers[id]?.state = .connecting }
    }

    /// Records that the presenter disconnects a viewer.
    mutating func willRemove(_ id: Int) { viewers[id]?.isBeingRemoved = true }

    /// Whether the presenter disconnects a viewer.
    func isBeingRemoved(_ id: Int) -> Bool { viewers[id]?.isBeingRemoved == true }

    /// Takes note that a viewer is gone; returns how many of those who answered are still there. The last to go stays
    /// here if the share ends with it, for its report.
    mutating func end(_ id: Int) -> Int {
        viewers[id]?.state = .closed
        let others = viewers.values.count { $0.state != .new && !$0.state.isOver }
        if others > 0 || outlivesViewers { viewers[id] = nil }
        return others
    }

    /// The sessions with those who are here, and where nobody is, with who was here last; in the order in which they came.
    var sessions: [(viewer: Int, session: AttendeeSession)] {
        viewers.sorted { $0.key < $1.key }.map { ($0.key, $0.value.session) }
    }

    /// The session with a viewer.
    func session(of id: Int) -> AttendeeSession? { viewers[id]?.session }

    /// The offers whose answers are waited for, by their viewers.
    var offers: [Int: SessionDescription] { viewers.compactMapValues(\.offer) }

    /// Whether a viewer that is not among `others` is connected.
    func hasConnected(besides others: Set<Int>) -> Bool {
        viewers.contains { $0.value.state == .connected && !others.contains($0.key) }
    }

    /// Whether the share has no viewer.
    var isEmpty: Bool { viewers.isEmpty }
}
