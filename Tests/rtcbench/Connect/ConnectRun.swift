internal import RTCShareICE
internal import RTCShareNetworkSimulation
internal import RTCSharePeerConnection
internal import RTCShareRTP
internal import RTCShareSDP
internal import RTCShareWireFormat

/// A sender and a viewer that connect over a simulated link, with the time of each step.
final class ConnectRun {
    /// The parameters of a run.
    struct Plan {
        var delay: Duration
        var loss = 0.0
        var seed: UInt64 = 1
        /// Whether the viewer offers, so that it controls ICE and the sender starts DTLS.
        var viewerOffers = false
        /// The timers of the viewer's retransmissions.
        var viewer = ViewerTimers.own
        /// Whether the video is still after its first frame.
        var isStill = false
        /// The number of the datagram that is lost, of both sides.
        var lost: Int?
    }

    /// The timers of other implementations of viewers.
    enum ViewerTimers: String, CaseIterable {
        /// Those of this library.
        case own
        /// A check every 50 ms until one is answered; DTLS after twice ICE's round trip, and at least 50 ms.
        case libwebrtc
        /// Checks after half a second, DTLS after a second.
        case openssl
    }

    /// A step, in the usual order.
    enum Step: String, CaseIterable {
        case senderPair = "pair"
        case viewerPair = "viewer's"
        case senderNomination = "nominated"
        case viewerNomination = "viewer's nomination"
        case senderKeys = "keys"
        case viewerKeys = "viewer's keys"
        case media = "media"
        case picture = "picture"
    }

    /// A datagram that was sent.
    struct Sent {
        let isSenders: Bool
        /// The time since the answer.
        let time: Duration
        let kind: String
    }

    /// The time of each step since the answer.
    private(set) var times: [Step: Duration] = [:]
    private(set) var sent: [Sent] = []
    /// The number of STUN and DTLS datagrams in the first second.
    var setupDatagrams: Int { sent.count { $0.kind != Self.mediaKind && $0.time < .seconds(1) } }

    static let mediaKind = "media"
    private static let limit = Duration.seconds(30)
    private static let senderAddress = TransportAddress(ip: .v4(0xC000_0201), port: 5000)
    private static let viewerAddress = TransportAddress(ip: .v4(0xC633_6401), port: 6000)

    private let plan: Plan
    private var sender: PeerConnection
    private var viewer: PeerConnection
    private var link: DuplexLink<Datagram>
    private var now = Instant(nanoseconds: 1_000_000_000)
    private var start: Instant
    private var video: SyntheticVideo
    private var isConnected = false
    private var pendingAnswer: (due: Instant, offer: SessionDescription, answer: SessionDescription)?
    private let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1500, alignment: 16)

    init(_ plan: Plan) throws {
        self.plan = plan
        var random = SeededGenerator(seed: plan.seed)
        let media = LocalIdentity.MediaKind.video(streamID: "bench#content", isContent: true)
        sender = try PeerConnection(
            as: plan.viewerOffers ? .answerer : .offerer,
            identity: LocalIdentity(media: [media], unixTime: 1_700_000_000, random: &random),
            configuration: .init(), random: SeededGenerator(seed: plan.seed &+ 1))
        viewer = try PeerConnection(
            as: plan.viewerOffers ? .offerer : .answerer,
            identity: LocalIdentity(media: [], unixTime: 1_700_000_000, random: &random),
            configuration: Self.configuration(plan), random: SeededGenerator(seed: plan.seed &+ 2))
        link = DuplexLink(toRight: LinkConditions(loss: plan.loss, delay: plan.delay), seed: plan.seed &+ 3)
        start = now
        video = SyntheticVideo(start: now, seed: plan.seed &+ 4)
        video.target = .kilobitsPerSecond(1000)
        sender.keyObserver = { [unowned self] _ in note(.senderKeys) }
        viewer.keyObserver = { [unowned self] _ in note(.viewerKeys) }
        sender.addLocalAddress(Self.senderAddress, now: now)
        viewer.addLocalAddress(Self.viewerAddress, now: now)
        if plan.viewerOffers {
            try viewer.addReceivingSection(isVideo: true)
            let offer = try viewer.makeOffer()
            let answer = try sender.answer(offer: SessionDescription.parse(offer.description), now: now)
            sender.endRemoteCandidates(now: now)
            pendingAnswer = (now.advanced(by: plan.delay), offer, answer)
        } else {
            let offer = try sender.makeOffer()
            let answer = try viewer.answer(offer: SessionDescription.parse(offer.description), now: now)
            viewer.endRemoteCandidates(now: now)
            start = now.advanced(by: plan.delay)
            pendingAnswer = (start, offer, answer)
        }
    }

    deinit { memory.deallocate() }

    private static func configuration(_ plan: Plan) -> PeerConnection.Configuration {
        var configuration = PeerConnection.Configuration()
        switch plan.viewer {
        case .own: break
        case .libwebrtc:
            configuration.checkRetransmission = .milliseconds(50)
            configuration.handshakeRetransmission = max(.milliseconds(50), plan.delay * 4)
        case .openssl:
            configuration.checkRetransmission = .milliseconds(500)
            configuration.handshakeRetransmission = .seconds(1)
        }
        return configuration
    }

    /// Runs until there is a frame, and for `beyond` after that.
    func run(beyond: Duration = .zero) throws {
        let end = now.advanced(by: Self.limit)
        while now < end, times[.picture].map({ now - start < $0 + beyond }) ?? true {
            try acceptAnswer()
            exchange()
            look()
            var next = min(end, pendingAnswer?.due ?? end)
            for due in [sender.nextDeadline(now: now), viewer.nextDeadline(now: now), link.nextArrival] {
                if let due { next = min(next, due) }
            }
            if isConnected { next = min(next, video.nextFrame) }
            now = max(now, next)
            if isConnected, let frame = video.frame(plan.isStill ? .still : .motion, now: now) {
                sender.send(frame, media: 0, now: now)
            }
            sender.handleTimeout(now: now)
            viewer.handleTimeout(now: now)
        }
    }

    private func acceptAnswer() throws {
        guard let (due, offer, answer) = pendingAnswer, due <= now else { return }
        pendingAnswer = nil
        let parsed = try SessionDescription.parse(answer.description)
        if plan.viewerOffers {
            try viewer.accept(answer: parsed, to: offer, now: now)
            viewer.endRemoteCandidates(now: now)
        } else {
            try sender.accept(answer: parsed, to: offer, now: now)
            sender.endRemoteCandidates(now: now)
        }
    }

    private func exchange() {
        var isBusy = true
        while isBusy {
            isBusy = false
            while let transmission = sender.pollTransmit(into: memory, now: now) { carry(transmission, from: .left) }
            while let transmission = viewer.pollTransmit(into: memory, now: now) { carry(transmission, from: .right) }
            while let delivery = link.poll(now: now) {
                deliver(delivery)
                isBusy = true
            }
            takeEvents()
        }
    }

    private func carry(_ transmission: Transmission, from end: DuplexLink<Datagram>.End) {
        let datagram = Datagram(
            source: transmission.source, destination: transmission.destination,
            bytes: [UInt8](UnsafeRawBufferPointer(memory)[..<transmission.byteCount]))
        sent.append(Sent(isSenders: end == .left, time: now - start, kind: Self.kind(datagram.bytes)))
        if plan.lost != sent.count - 1 { link.send(datagram, from: end, now: now) }
    }

    private func deliver(_ delivery: DuplexLink<Datagram>.Delivery) {
        var bytes = delivery.payload.bytes
        let (source, destination) = (delivery.payload.source, delivery.payload.destination)
        if delivery.end == .right, times[.viewerKeys] != nil, DatagramKind(bytes.span.bytes) == .rtp { note(.media) }
        bytes.withUnsafeMutableBytes { memory in
            switch delivery.end {
            case .left: sender.handle(memory, from: source, to: destination, now: now)
            case .right: viewer.handle(memory, from: source, to: destination, now: now)
            }
        }
        look()
    }

    /// Records the visible steps of ICE.
    private func look() {
        guard times[.senderNomination] == nil || times[.viewerNomination] == nil else { return }
        for pair in sender.report(now: now).candidatePairs {
            if pair.state == .succeeded { note(.senderPair) }
            if pair.nominated { note(.senderNomination) }
        }
        for pair in viewer.report(now: now).candidatePairs {
            if pair.state == .succeeded { note(.viewerPair) }
            if pair.nominated { note(.viewerNomination) }
        }
    }

    private func note(_ step: Step) {
        if times[step] == nil { times[step] = now - start }
    }

    private func takeEvents() {
        while let event = sender.pollEvent() {
            switch event {
            case .stateChanged(.connected): isConnected = true
            case .keyFrameRequested: video.requestKeyFrame()
            case .targetBitrateChanged(let target, _):
                video.target = target.bitrate
                video.isQueueFull = target.isQueueFull
            default: continue
            }
        }
        while let received = viewer.nextReceived() {
            if case .frame(let frame, _) = received, frame.isKeyFrame { note(.picture) }
        }
        while viewer.pollEvent() != nil {}
    }

    /// Returns the kind of a STUN or DTLS datagram, by its first message.
    private static func kind(_ bytes: [UInt8]) -> String {
        switch DatagramKind(bytes.span.bytes) {
        case .stun:
            guard bytes.count > 20, bytes[0] == 0, bytes[1] == 1 else { return "answer to a check" }
            var offset = 20
            while offset + 4 <= bytes.count {
                // USE-CANDIDATE (RFC 8445 §16.1).
                if bytes[offset] == 0, bytes[offset + 1] == 0x25 { return "nominating check" }
                offset += 4 + (Int(bytes[offset + 2]) << 8 + Int(bytes[offset + 3]) + 3) & ~3
            }
            return "check"
        case .dtls:
            guard bytes.count > 13, bytes[0] == 22 else { return "end of DTLS" }
            return switch bytes[13] {
            case 1: "ClientHello"
            case 2: "ServerHello"
            default: "client's certificate"
            }
        default: return mediaKind
        }
    }
}
