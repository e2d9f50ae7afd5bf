internal import NetworkRuntime
internal import PeerConnection

/// One media of ours, and the sections through which it goes to its viewers: what pictures and sound have in common.
/// Used by one actor.
///
/// A viewer gets it while its description takes it and it is included: a share's destination decides who is.
protocol OutgoingMedia: AnyObject {
    var links: OutgoingLinks { get set }
    /// Whether there is something to send.
    var hasTrack: Bool { get }

    /// Sends to a viewer from now on.
    func open(_ link: OutgoingLinks.Link)
    /// Sends nothing more to a viewer.
    func close(_ link: OutgoingLinks.Link)
    /// Keeps to what a viewer's description asks.
    func keepToWishes(of link: OutgoingLinks.Link)
}

extension OutgoingMedia {
    /// Whether there is a viewer who takes this.
    var hasViewer: Bool { links.all.contains { $0.isOpen } }

    /// Whether there are viewers, and all of their descriptions decline this.
    var isRefused: Bool { !links.all.isEmpty && links.all.allSatisfy { $0.agreement == .refused } }

    /// Whether the viewer at a connection declines this.
    func isRefused(on connection: Connection) -> Bool { links[connection]?.agreement == .refused }

    /// The media that this is on a connection; nil where it is not on it.
    func media(on connection: Connection) -> Int? { links[connection]?.media }

    /// Sends this over a connection too, once the viewer there asks for it.
    func add(_ connection: Connection, media: Int, isIncluded: Bool = true) {
        links[connection] = OutgoingLinks.Link(connection: connection, media: media, isIncluded: isIncluded)
        if !isIncluded { connection.setHeldBack(true, media: media) }
        // Descriptions that are still to be made have a place for it.
        if hasTrack { connection.setSending(true, media: media) }
    }

    /// Sends nothing more over a connection, whose media of this index is over.
    func remove(_ connection: Connection, media: Int) {
        guard links[connection]?.media == media else { return }
        links[connection]?.agreement = .pending
        follow(connection)
        links[connection] = nil
    }

    /// Has the viewer at a connection get this, or not: who goes out is told that it is gone.
    func setIncluded(_ isIncluded: Bool, on connection: Connection) {
        guard let link = links[connection], link.isIncluded != isIncluded else { return }
        links[connection]?.isIncluded = isIncluded
        // Held back, it has its place in the descriptions all the same.
        if isIncluded { connection.setHeldBack(false, media: link.media) }
        follow(connection)
        if !isIncluded { connection.setHeldBack(true, media: link.media) }
    }

    /// Takes what a peer's newest description says, once there is a viewer. What the descriptions have no place for waits
    /// for the next.
    func refresh(
        _ connection: Connection, isolation: isolated (any Actor)? = #isolation, unless isOver: () -> Bool
    ) async {
        guard let media = links[connection]?.media else { return }
        let agreement = await connection.agreement(media: media)
        let opus = await connection.opusParameters(media: media)
        let limits = await connection.mediaLimits(media: media)
        guard var link = links[connection], link.media == media, !isOver() else { return }
        link.agreement = agreement
        link.opus = opus
        link.limits = limits
        links[connection] = link
        if link.isOpen { keepToWishes(of: link) }
        follow(connection)
    }

    /// Has descriptions that are still to be made have a place for what begins, and for what is over none: what they
    /// agreed on is taken up again, or ended.
    func setSending(_ isSending: Bool) {
        for link in links.all where isSending || link.agreement == .agreed {
            link.connection.setSending(isSending, media: link.media)
        }
    }

    /// Begins to send over a connection, or ends it, as its viewer's description and place in the room say.
    private func follow(_ connection: Connection) {
        guard let link = links[connection], link.isOpen != link.mayOpen else { return }
        links[connection]?.isOpen = link.mayOpen
        if link.mayOpen {
            open(link)
        } else {
            close(link)
        }
    }
}

/// The sections through which one media of ours goes, by the connection.
struct OutgoingLinks {
    struct Link {
        let connection: Connection
        let media: Int
        /// Whether this viewer is to get it.
        var isIncluded: Bool
        /// What the viewer's newest description says; nothing before there is a viewer.
        var agreement = MediaAgreement.pending
        /// What it asks.
        var limits = SendingLimits()
        var opus: OpusParameters?
        /// Whether it is sent here.
        var isOpen = false

        /// Whether it should be.
        var mayOpen: Bool { isIncluded && agreement == .agreed }
    }

    private var links: [ObjectIdentifier: Link] = [:]

    subscript(connection: Connection) -> Link? {
        get { links[ObjectIdentifier(connection)] }
        set { links[ObjectIdentifier(connection)] = newValue }
    }

    var all: some Collection<Link> { links.values }
}
