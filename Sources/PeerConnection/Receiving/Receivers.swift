internal import RTCShareRTP
internal import RTCShareSDP
internal import RTCShareWireFormat

/// The receivers of the peer's media: one for each section in which it has sent, found by index, section or packet.
struct Receivers {
    /// The receivers in the order in which the peer started to send. None is removed, but places are reused.
    private(set) var media: [InboundMedia] = []
    /// The index in ``media`` of each section in which the peer has sent.
    private var indices: [Int: Int] = [:]
    /// The indices in ``media`` whose sections have other media now, in order of their release.
    private var released: [Int] = []
    /// The indices in ``media`` that this side declines for now.
    private var declined: Set<Int> = []
    /// The arrivals of all receivers; nil if no description requests reports on them.
    private var arrivals: TransportFeedbackGenerator?

    /// The number of receivers from which indices are reused: twice as many as can be active, so that an index was
    /// reported as inactive long before it is reused.
    static var maximumCount: Int { 2 * PeerConnection.maximumMedia }

    /// Whether indices are reused.
    var isFull: Bool { media.count >= Self.maximumCount }

    /// Whether a section has a receiver, since the peer has sent in it.
    func hasReceiver(ofSection section: Int) -> Bool { indices[section] != nil }

    /// The sections that this side declines for now.
    var declinedSections: Set<Int> { Set(indices.filter { declined.contains($0.value) }.keys) }

    /// Sets whether the next description requests a receiver's media. An unknown index has no effect.
    mutating func setWanted(_ isWanted: Bool, receiver: Int) {
        guard media.indices.contains(receiver) else { return }
        if isWanted { declined.remove(receiver) } else { declined.insert(receiver) }
    }

    // Descriptions.

    /// Starts, changes or stops the receiver of a section according to a description.
    mutating func apply(_ section: NegotiatedSection, at place: Int, random: inout some RandomNumberGenerator) {
        if let index = indices[place] {
            var agreed = section.media
            // Paused media is not described (RFC 9429 §5.2.1), but is still the same media.
            if agreed?.direction.receives == false { agreed?.remote = media[index].negotiated.remote }
            media[index].update(agreed)
        } else if let agreed = section.media, agreed.direction.receives {
            indices[place] = add(agreed, random: &random)
        }
    }

    private mutating func add(_ agreed: NegotiatedMedia, random: inout some RandomNumberGenerator) -> Int {
        if isFull, !released.isEmpty {
            let index = released.removeFirst()
            // The peer knows this source of reports, and receives its goodbye at the end.
            media[index] = InboundMedia(agreed, localSource: media[index].localSource)
            return index
        }
        let localSource = SynchronizationSource(UInt32.random(in: 1...UInt32.max, using: &random))
        media.append(InboundMedia(agreed, localSource: localSource))
        return media.count - 1
    }

    /// Releases the receiver of a rejected section, which has other media from now on.
    mutating func release(section: Int) {
        guard let index = indices.removeValue(forKey: section) else { return }
        declined.remove(index)
        media[index].release()
        released.append(index)
    }

    /// Starts transport-wide feedback if a description requests it. Call it after its sections were applied.
    mutating func beginTransportFeedback() {
        guard arrivals == nil,
            let source = media.first(where: { $0.negotiated.feedback.contains(.transportWide) })?.localSource
        else { return }
        arrivals = TransportFeedbackGenerator(sender: source)
    }

    // Packets.

    /// The receiver of a packet.
    struct Route {
        let receiver: Int
        /// The extensions, with the ids of the receiver's section.
        let extensions: HeaderExtensions
        /// The receiver of the packet's source so far, if the packet names another section.
        var former: Int?
    }

    /// Returns the route of a packet (RFC 9143 §9.2): the section that it names, or else that of its source, or else
    /// the only one with its payload type, if no description names that section's source.
    func route(of header: RTPHeader, in packet: RawSpan) -> Route? {
        let known = media.firstIndex { $0.isActive && $0.isSource(header.source) }
        if let known {
            let extensions = HeaderExtensions(header, in: packet, map: media[known].extensions)
            let (named, own) = (extensions.mediaIdentification, media[known].negotiated.mid)
            if named == nil || named == own || own == nil { return Route(receiver: known, extensions: extensions) }
        }
        var isNamed = false
        var only: Int?
        var isAmbiguous = false
        for (index, media) in media.enumerated() where media.isActive {
            let extensions = HeaderExtensions(header, in: packet, map: media.extensions)
            if let mid = extensions.mediaIdentification {
                isNamed = true
                guard mid == media.negotiated.mid, media.takes(header, mid: mid) else { continue }
                return Route(receiver: index, extensions: extensions, former: known)
            }
            guard media.takes(header, mid: nil) else { continue }
            isAmbiguous = isAmbiguous || only != nil
            only = only ?? index
        }
        guard !isNamed, !isAmbiguous, let only, media[only].canName(header.payloadType) else { return nil }
        return Route(receiver: only, extensions: HeaderExtensions(header, in: packet, map: media[only].extensions))
    }

    /// Processes a packet on its route. Returns false if it does not belong to that section's media.
    mutating func receive(_ header: RTPHeader, in packet: RawSpan, on route: Route, now: Instant) -> Bool {
        if let number = route.extensions.transportSequenceNumber {
            arrivals?.receive(number, of: header.source, now: now)
        }
        guard media[route.receiver].receive(header, extensions: route.extensions, in: packet, now: now) else {
            return false
        }
        if let former = route.former { media[former].lose(header.source) }
        return true
    }

    /// Whether a source is that of any receiver's media or retransmissions.
    func isSource(_ source: SynchronizationSource) -> Bool { media.contains { $0.isSource(source) } }

    // Control.

    /// Processes the peer's descriptions of its sources. Returns whether any of them is new.
    mutating func receive(_ description: SourceDescription) -> Bool {
        var isNew = false
        for chunk in description.chunks {
            for index in media.indices where media[index].source == chunk.source {
                isNew = media[index].setSubgroup(chunk.subgroup) || isNew
            }
        }
        return isNew
    }

    mutating func receive(_ report: SenderReport, now: Instant) {
        for index in media.indices { media[index].receive(report, now: now) }
    }

    /// Whether a source is that of any receiver's media, or was until another one replaced it.
    func isMediaSource(_ source: SynchronizationSource) -> Bool {
        media.contains { $0.source == source || $0.formerSource == source }
    }

    mutating func receiveGoodbye(of source: SynchronizationSource) {
        for index in media.indices where media[index].source == source { media[index].receiveGoodbye() }
    }

    /// Returns a receiver's pending report and feedback; nil for none.
    mutating func pollControl(
        of index: Int, now: Instant
    ) -> (source: SynchronizationSource, report: ReceiverReport?, feedback: [RTCPPacket])? {
        let feedback = media[index].pollFeedback(now: now)
        let report = media[index].pollReport(now: now)
        return report == nil && feedback.isEmpty ? nil : (media[index].localSource, report, feedback)
    }

    /// Returns the transport-wide feedback that is due, with its source; nil for none.
    mutating func pollTransportFeedback(
        now: Instant
    ) -> (source: SynchronizationSource, reports: [TransportFeedback])? {
        guard let source = media.first?.localSource, let reports = arrivals?.poll(now: now), !reports.isEmpty else {
            return nil
        }
        return (source, reports)
    }

    /// Requests a key frame for a receiver. An unknown index has no effect.
    mutating func requestKeyFrame(of index: Int, now: Instant) {
        guard media.indices.contains(index) else { return }
        media[index].requestKeyFrame(now: now)
    }

    // Polling after every input.

    mutating func setRoundTripTime(_ time: Duration) {
        for index in media.indices { media[index].setRoundTripTime(time) }
    }

    /// Returns the next complete frame or audio packet.
    mutating func nextReceived() -> PeerConnection.Received? {
        for index in media.indices {
            if let frame = media[index].pollFrame() { return .frame(frame, receiver: index) }
            if let packet = media[index].pollSound() { return .packet(packet, receiver: index) }
        }
        return nil
    }

    /// Reports media that started or stopped arriving. `isConnected` is true while ICE has a working path.
    mutating func poll(isConnected: Bool, now: Instant, into events: inout [PeerConnection.Event]) {
        for index in media.indices {
            if let activity = media[index].pollActivity(now: now, isConnected: isConnected) {
                events.append(.activityChanged(activity, receiver: index))
            }
        }
    }

    /// Returns the next time to poll; nil if there is none.
    func nextDeadline(now: Instant) -> Instant? {
        // An array of the deadlines would be allocated for every group of packets.
        var deadline = arrivals?.nextDeadline
        for media in media {
            if let due = media.nextDeadline(now: now) { deadline = min(deadline ?? due, due) }
        }
        return deadline
    }
}
