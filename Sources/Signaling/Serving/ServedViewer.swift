internal import RTCShareContentShare
public import RTCSharePeerConnection
internal import RTCShareSDP
internal import RTCShareTransport
internal import RTCShareWireFormat

/// Somebody who came by a link.
public struct ServedViewer: Sendable, Identifiable {
    /// The viewer's number in the room.
    public let id: Int
    /// The state of its connection.
    public let state: ConnectionState
    /// Whether it waits to be admitted.
    public let isWaiting: Bool
    /// Where it asks from, as far as that is known.
    public let address: String?
    /// What its browser or player calls itself, shortened to what a person knows.
    public let browser: String?
    /// When it came, in seconds since 1 January 1970.
    public let since: Double
}

/// A session of a player.
@SharingActor final class ViewerSession {
    /// Unguessable: who has it may change and end the session.
    let key: String
    /// The viewer's number in the room.
    let id: Int
    /// The room's session with the viewer.
    let attendeeSession: AttendeeSession
    private let room: SharingRoom
    /// Where the viewer is once it is admitted.
    let admittedMembership: RoomMembership
    /// Where it asks from.
    private let client: IPAddress?
    let browser: String?
    let since: Double
    let begun = MonotonicClock.now
    /// Whether its offer was answered.
    var isAnswered = false
    /// Whether the program was notified that its viewer waits.
    var isAnnounced = false
    /// The state of its ICE credentials.
    var entityTag = EntityTag.first
    /// What it offered last, as it would offer again.
    var offer: SessionDescription
    var remoteFragment: String?
    /// The pages that are told the state of the share, by the order in which they came.
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

    /// Whether its viewer waits to be admitted.
    var isWaiting: Bool { view == .waiting }

    /// The part of the share that its viewer sees.
    var view: ShareState.View {
        guard let membership = room.membership(of: id), !membership.isWaiting else { return .waiting }
        return membership.includes(room.destination) ? .sees : .seesNot
    }

    var connection: Connection { attendeeSession.connection }

    /// The state of the connection. One that is not answered yet is connecting, too.
    var state: ConnectionState { attendeeSession.state == .new ? .connecting : attendeeSession.state }

    /// Sends a message to each page that was not sent the same one last.
    func send(_ message: [UInt8]) {
        for id in pages.keys { pages[id]?.send(message) }
    }

    /// Ends what its pages listen to.
    func finishPages() {
        for page in pages.values { page.continuation.finish() }
        pages = [:]
    }

    /// The user name fragment of an offer.
    nonisolated static func fragment(of offer: SessionDescription) -> String? {
        let sections: [any SDPSection] = offer.media.filter { $0.port != 0 } + [offer]
        return sections.lazy.compactMap { $0.attribute("ice-ufrag")?.attributeValue.map(String.init) }.first
    }

    var holder: ViewerPlaces.Holder {
        ViewerPlaces.Holder(
            network: client?.clientNetwork, hasConnected: state.hasConnected,
            awaySince: state == .disconnected ? attendeeSession.stateSince : nil, isPageOpen: !pages.isEmpty)
    }

    /// The viewer, as programs see it.
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

/// What a `User-Agent` header stands for.
enum BrowserName {
    /// A browser with its version and system, or a player's first word; nil for nothing.
    static func name(of userAgent: String?) -> String? {
        guard let userAgent, !userAgent.isEmpty else { return nil }
        let text = userAgent.prefix(300)
        let browsers = [
            ("Edg/", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("CriOS/", "Chrome"), ("FxiOS/", "Firefox"),
            ("Chrome/", "Chrome"), ("Version/", "Safari"),
        ]
        let systems = [
            ("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("Windows", "Windows"),
            ("Mac OS X", "macOS"),
            ("CrOS", "ChromeOS"), ("Linux", "Linux"),
        ]
        guard let (mark, name) = browsers.first(where: { text.contains($0.0) }), let range = text.firstRange(of: mark)
        else { return printable(text.prefix { $0 != " " && $0 != "(" }) }
        let version = text[range.upperBound...].prefix { $0.isNumber }
        let system = systems.first { text.contains($0.0) }.map { " on \($0.1)" } ?? ""
        return printable("\(name) \(version)\(system)")
    }

    private static func printable(_ text: some StringProtocol) -> String? {
        let scalars = text.unicodeScalars.filter { (0x20..<0x7F).contains($0.value) }.prefix(60)
        return scalars.isEmpty ? nil : String(String.UnicodeScalarView(scalars))
    }
}
