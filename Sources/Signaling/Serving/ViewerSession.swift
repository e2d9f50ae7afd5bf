internal import RTCShareContentShare
internal import RTCSharePeerConnection
internal import RTCShareSDP
internal import RTCShareTransport
internal import RTCShareWireFormat

/// A WHEP session of a browser or player.
@SharingActor final class ViewerSession {
    /// The secret name of the session. A client that has it can change and end the session.
    let key: String
    /// The viewer's number in the room.
    let id: Int
    let attendeeSession: AttendeeSession
    private let room: SharingRoom
    /// The viewer's membership after admission.
    let admittedMembership: RoomMembership
    /// The address of the client.
    private let client: IPAddress?
    let browser: String?
    let since: Double
    let begun = MonotonicClock.now
    /// Whether the viewer's offer was answered.
    var isAnswered = false
    /// Whether the program was notified that the viewer waits for admission.
    var isAnnounced = false
    /// The entity tag of the session's ICE credentials.
    var entityTag = EntityTag.first
    /// The latest offer, in the form in which the client would repeat it.
    var offer: SessionDescription
    var remoteFragment: String?
    /// The pages that get the state of the share, numbered in the order in which they connected.
    var pages: [Int: PageStream] = [:]
    var pagesSoFar = 0

    nonisolated init(
        key: String, viewer: RoomViewer, in room: SharingRoom, admittedMembership: RoomMembership,
        offer: SessionDescription, client: IPAddress?, browser: String?, since: Double
    ) {
        self.key = key
        (id, attendeeSession) = (viewer.id, viewer.session)
        self.room = room
        self.admittedMembership = admittedMembership
        self.offer = offer
        self.client = client
        self.browser = browser
        self.since = since
        remoteFragment = Self.fragment(of: offer)
    }

    var isWaiting: Bool { view == .waiting }

    /// The part of the share that the viewer sees.
    var view: ShareState.View {
        guard let membership = room.membership(of: id), !membership.isWaiting else { return .waiting }
        return membership.includes(room.destination) ? .sees : .seesNot
    }

    var connection: Connection { attendeeSession.connection }

    /// The state of the connection. Before the answer, it is connecting.
    var state: ConnectionState { attendeeSession.state == .new ? .connecting : attendeeSession.state }

    /// Sends a message to each page whose last message was another one.
    func send(_ message: [UInt8]) {
        for id in pages.keys { pages[id]?.send(message) }
    }

    func finishPages() {
        for page in pages.values { page.continuation.finish() }
        pages = [:]
    }

    /// Returns the user name fragment in an offer.
    nonisolated static func fragment(of offer: SessionDescription) -> String? {
        let sections: [any SDPSection] = offer.media.filter { $0.port != 0 } + [offer]
        return sections.lazy.compactMap { $0.attribute("ice-ufrag")?.attributeValue.map(String.init) }.first
    }

    var holder: ViewerPlaces.Holder {
        ViewerPlaces.Holder(
            network: client?.clientNetwork, hasConnected: state.hasConnected,
            awaySince: state == .disconnected ? attendeeSession.stateSince : nil, isPageOpen: !pages.isEmpty)
    }

    var served: ServedViewer {
        ServedViewer(
            id: id, state: state, isWaiting: isWaiting, address: client?.description,
            browser: browser, since: since)
    }
}

/// The stream of messages to one page.
struct PageStream {
    let continuation: AsyncStream<[UInt8]>.Continuation
    private var last: [UInt8]?

    init(_ continuation: AsyncStream<[UInt8]>.Continuation) { self.continuation = continuation }

    fileprivate mutating func send(_ message: [UInt8]) {
        guard message != last else { return }
        last = message
        continuation.yield(message)
    }
}
