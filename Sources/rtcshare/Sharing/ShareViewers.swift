internal import RTCShareContentShare
internal import RTCSharePeerConnection
internal import RTCShareSDP

/// The viewers of a running share.
@SharingActor struct ShareViewers {
    private struct Viewer {
        let session: AttendeeSession
        let name: String?
        /// The offer whose answer is waited for.
        var offer: SessionDescription?
        /// Whether the share has handled that it is connected.
        var wasConnected = false
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

    /// Adds a viewer by its number in the room. `name` is what a person knows it by, beside its number.
    mutating func add(_ viewer: RoomViewer, name: String? = nil, offer: SessionDescription? = nil) {
        viewers[viewer.id] = Viewer(session: viewer.session, name: name, offer: offer)
        countSoFar += 1
    }

    /// Whether there never was more than one, nor will be: a person needs no number then.
    private var wasOnlyOne: Bool { countSoFar == 1 && !outlivesViewers }

    /// The name of a viewer at the beginning of a sentence.
    func name(of id: Int) -> String {
        guard !wasOnlyOne else { return "The viewer" }
        return "Viewer \(id)" + (viewers[id]?.name.map { " (\($0))" } ?? "")
    }

    /// The state of a viewer's connection. It is connecting, unless the viewer's answer is waited for.
    subscript(id: Int) -> ConnectionState? {
        viewers[id].map { $0.session.state == .new && $0.offer == nil ? .connecting : $0.session.state }
    }

    /// Records that an invited viewer has answered.
    mutating func didAnswer(_ id: Int) { viewers[id]?.offer = nil }

    /// Records that a viewer is connected; returns whether this is the first time.
    mutating func didConnect(_ id: Int) -> Bool {
        guard viewers[id]?.wasConnected == false else { return false }
        viewers[id]?.wasConnected = true
        return true
    }

    /// Records that the presenter disconnects a viewer.
    mutating func willRemove(_ id: Int) { viewers[id]?.isBeingRemoved = true }

    /// Whether the presenter disconnects a viewer.
    func isBeingRemoved(_ id: Int) -> Bool { viewers[id]?.isBeingRemoved == true }

    /// Takes note that a viewer is gone; returns how many of those who answered are still there. The last to go stays
    /// here if the share ends with it, for its report.
    mutating func end(_ id: Int) -> Int {
        let others = viewers.count { $0.key != id && $0.value.offer == nil }
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
        viewers.contains { $0.value.session.state == .connected && !others.contains($0.key) }
    }

    /// Whether the share has no viewer.
    var isEmpty: Bool { viewers.isEmpty }
}
