internal import RTCShareContentShare
internal import RTCSharePeerConnection
internal import RTCShareSDP
internal import RTCShareTransport

@SharingActor struct ShareViewers {
    private struct Viewer {
        let session: AttendeeSession
        let name: String?
        /// The offer that the viewer has not answered. Nil after the answer.
        var offer: SessionDescription?
        let joined = ContinuousClock.now
        /// Whether the share has handled the viewer's first connection.
        var wasConnected = false
        /// Whether the presenter is disconnecting the viewer.
        var isBeingRemoved = false
    }

    private var viewers: [Int: Viewer] = [:]
    private var countSoFar = 0
    /// Whether the share continues without viewers.
    let outlivesViewers: Bool

    init(outlivesViewers: Bool) {
        self.outlivesViewers = outlivesViewers
    }

    /// Adds a viewer by its number in the room. Texts show `name` next to the number.
    mutating func add(_ viewer: RoomViewer, name: String? = nil, offer: SessionDescription? = nil) {
        viewers[viewer.id] = Viewer(session: viewer.session, name: name, offer: offer)
        countSoFar += 1
    }

    /// Whether there is only one viewer during the whole share, so that texts need no number.
    private var wasOnlyOne: Bool { countSoFar == 1 && !outlivesViewers }

    /// Returns the name of a viewer for the beginning of a sentence.
    func name(of id: Int) -> String {
        guard !wasOnlyOne else { return "The viewer" }
        return "Viewer \(id)" + (viewers[id]?.name.map { " (\($0))" } ?? "")
    }

    /// The state of a viewer's connection. It is connecting from the viewer's answer on.
    subscript(id: Int) -> ConnectionState? {
        viewers[id].map { $0.session.state == .new && $0.offer == nil ? .connecting : $0.session.state }
    }

    /// Records that an invited viewer has answered.
    mutating func didAnswer(_ id: Int) { viewers[id]?.offer = nil }

    /// Records that a viewer is connected. Returns whether this is the first time.
    mutating func didConnect(_ id: Int) -> Bool {
        guard viewers[id]?.wasConnected == false else { return false }
        viewers[id]?.wasConnected = true
        return true
    }

    /// Returns the reason why a viewer who leaves a served share was never connected: the page gives up after
    /// twelve seconds. Nil if the viewer was connected, or left sooner.
    func missingRoute(of id: Int) -> CommandFailure? {
        guard outlivesViewers, let viewer = viewers[id], !viewer.wasConnected,
            viewer.joined.duration(to: .now) > .seconds(10)
        else { return nil }
        return CommandFailure(
            .unavailable, "no route to it was found", try: NetworkAdvice.Setting.relayOverTCP.words)
    }

    /// Records that the presenter is disconnecting a viewer.
    mutating func willRemove(_ id: Int) { viewers[id]?.isBeingRemoved = true }

    /// Returns whether the presenter is disconnecting a viewer.
    func isBeingRemoved(_ id: Int) -> Bool { viewers[id]?.isBeingRemoved == true }

    /// Records that a viewer has left. Returns the number of remaining viewers who have answered. The last viewer is
    /// kept for its report if the share ends with it.
    mutating func end(_ id: Int) -> Int {
        let others = viewers.count { $0.key != id && $0.value.offer == nil }
        if others > 0 || outlivesViewers { viewers[id] = nil }
        return others
    }

    /// The sessions of the present viewers, or that of the last viewer, in the order in which they joined.
    var sessions: [(viewer: Int, session: AttendeeSession)] {
        viewers.sorted { $0.key < $1.key }.map { ($0.key, $0.value.session) }
    }

    func session(of id: Int) -> AttendeeSession? { viewers[id]?.session }

    /// The offers without an answer, by their viewers.
    var offers: [Int: SessionDescription] { viewers.compactMapValues(\.offer) }

    /// Returns whether a viewer that is not among `others` is connected.
    func hasConnected(besides others: Set<Int>) -> Bool {
        viewers.contains { $0.value.session.state == .connected && !others.contains($0.key) }
    }

    var isEmpty: Bool { viewers.isEmpty }
}
