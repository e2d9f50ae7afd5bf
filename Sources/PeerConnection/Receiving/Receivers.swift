internal import RTCShareRTP
internal import RTCShareSDP
internal import RTCShareWireFormat

/// What the peer sends: a receiver for each section that it has sent in, found by its index, by its section or by a packet.
struct Receivers {
    /// In the order in which the peer began to send; nothing is removed, but places are used again.
    private(set) var media: [InboundMedia] = []
    /// The index in ``media`` of each section that the peer has sent in.
    private var indices: [Int: Int] = [:]
    /// The indices in ``media`` whose sections stand for something else now, in the order in which they came to.
    private var released: [Int] = []
    /// The indices in ``media`` of what this side does not want for now.
    private var declined: Set<Int> = []
    /// What arrived, whichever receiver it was for; nil where the descriptions don't have it reported.
    private var arrivals: TransportFeedbackGenerator?

    /// How many there are before indices are used again: twice as many as can be in use, so that an index has long been
    /// told to be inactive when it stands for something else.
    static var maximumCount: Int { 2 * PeerConnection.maximumMedia }

    /// Whether indices are used again.
    var isFull: Bool { media.count >= Self.maximumCount }

    /// Whether the peer has sent in a section.
    func hasReceiver(ofSection section: Int) -> Bool { indices[section] != nil }

    /// The sections of what this side does not want for now.
    var declinedSections: Set<Int> { Set(indices.filter { declined.contains($0.value) }.keys) }

    /// Has the next description want what a receiver gets, or not; an unknown index does nothing.
    mutating func setWanted(_ isWanted: Bool, receiver: Int) {
        guard media.indices.contains(receiver) else { return }
        if isWanted { declined.remove(receiver) } else { declined.insert(receiver) }
    }

    // Descriptions.

    /// Starts, changes or stops the receiver of a section as a description has it.
    mutating func apply(_ section: NegotiatedSection, at place: Int, random: inout some RandomNumberGenerator) {
        if let index = indices[place] {
            var agreed = section.media
            // What is not sent for now is not described either (RFC 9429 §5.2.1): it is still the same media.
            if agreed?.direction.receives == false { agreed?.remote = media[index].negotiated.remote }
            media[index].update(agreed)
        } else if let agreed = section.media, agreed.direction.receives {
            indices[place] = add(agreed, random: &random)
        }
    }

    private mutating func add(_ agreed: NegotiatedMedia, random: inout some RandomNumberGenerator) -> Int {
        if isFull, !released.isEmpty {
            let index = released.removeFirst()
            // The peer knows who reports under that name, and hears its goodbye when all ends.
            media[index] = InboundMedia(agreed, localSource: media[index].localSource)
            return index
        }
        let localSource = SynchronizationSource(UInt32.random(in: 1...UInt32.max, using: &random))
        media.append(InboundMedia(agreed, localSource: localSource))
        return media.count - 1
    }

    /// A section that was rejected stands for something else from now on.
    mutating func release(section: Int) {
        guard let index = indices.removeValue(forKey: section) else { return }
        declined.remove(index)
        media[index].release()
        released.append(index)
    }

    /// Begins to report what arrives, where a description has it so. To be called after its sections were applied.
    mutating func beginTransportFeedback() {
        guard arrivals == nil,
            let source = media.first(where: { $0.negotiated.feedback.contains(.transportWide) })?.localSource
        else { return }
        arrivals = TransportFeedbackGenerator(sender: source)
    }

    // Packets.

    /// Where a packet goes.
    struct Route {
        let receiver: Int
        /// As the receiver's section numbers them.
        let extensions: HeaderExtensions
        /// The receiver that the packet's source was known for, where the packet names another section.
        var former: Int?
    }

    /// Whose packet this is (RFC 9143 §9.2): of the section that it names, else of the one that its source is known for,
    /// else of the only one that has its payload type, if no description names that section's source.
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

    /// Takes a packet where its route leads; false where it is not the media of that section.
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

    /// Whether a source is that of some receiver's media, or of its retransmissions.
    func isSource(_ source: SynchronizationSource) -> Bool { media.contains { $0.isSource(source) } }

    // Control.

    /// Takes what the peer says of its sources; returns whether any of it is new.
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

    /// Whether a source is that of some receiver's media, or was until another took its place.
    func isMediaSource(_ source: SynchronizationSource) -> Bool {
        media.contains { $0.source == source || $0.formerSource == source }
    }

    mutating func receiveGoodbye(of source: SynchronizationSource) {
        for index in media.indices where media[index].source == source { media[index].receiveGoodbye() }
    }

    /// What a receiver has to report and to ask for; nil for nothing.
    mutating func pollControl(
        of index: Int, now: Instant
    ) -> (source: SynchronizationSource, report: ReceiverReport?, feedback: [RTCPPacket])? {
        let feedback = media[index].pollFeedback(now: now)
        let report = media[index].pollReport(now: now)
        return report == nil && feedback.isEmpty ? nil : (media[index].localSource, report, feedback)
    }

    /// What is due of what arrived, and who says so; nil for nothing.
    mutating func pollTransportFeedback(
        now: Instant
    ) -> (source: SynchronizationSource, reports: [TransportFeedback])? {
        guard let source = media.first?.localSource, let reports = arrivals?.poll(now: now), !reports.isEmpty else {
            return nil
        }
        return (source, reports)
    }

    /// Has a receiver ask for a key frame; an unknown index does nothing.
    mutating func requestKeyFrame(of index: Int, now: Instant) {
        guard media.indices.contains(index) else { return }
        media[index].requestKeyFrame(now: now)
    }

    // After every input.

    mutating func setRoundTripTime(_ time: Duration) {
        for index in media.indices { media[index].setRoundTripTime(time) }
    }

    /// The next frame or packet of sound that is complete.
    mutating func nextReceived() -> PeerConnection.Received? {
        for index in media.indices {
            if let frame = media[index].pollFrame() { return .frame(frame, receiver: index) }
            if let packet = media[index].pollSound() { return .packet(packet, receiver: index) }
        }
        return nil
    }

    /// Reports which media began to come or ceased to. `isConnected`: ICE has a path that answers.
    mutating func poll(isConnected: Bool, now: Instant, into events: inout [PeerConnection.Event]) {
        for index in media.indices {
            if let activity = media[index].pollActivity(now: now, isConnected: isConnected) {
                events.append(.activityChanged(activity, receiver: index))
            }
        }
    }

    /// When polling is next worth it; nil where nothing is to come.
    func nextDeadline(now: Instant) -> Instant? {
        // One by one: an array of them would be made anew for every group of packets.
        var deadline = arrivals?.nextDeadline
        for media in media {
            if let due = media.nextDeadline(now: now) { deadline = min(deadline ?? due, due) }
        }
        return deadline
    }
}
