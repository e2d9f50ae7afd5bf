internal import RTCShareICE
package import RTCShareNetworkSimulation
package import RTCSharePeerConnection
package import RTCShareRTP
package import RTCShareSDP
package import RTCShareSecureTransport
package import RTCShareWireFormat

/// A sender and a viewer, each a complete peer connection, on a simulated link in virtual time.
///
/// The left end offers and sends, the right end answers and receives.
package final class SimulatedCall {
    package typealias End = DuplexLink<Datagram>.End

    /// The events of one run.
    package struct Record {
        package var connected: Instant?
        /// The frames of the first receiver.
        package var frames: [AssembledFrame] { framesOf[0, default: []] }
        /// The frames by their receivers; below, audio packets and activity.
        package var framesOf: [Int: [AssembledFrame]] = [:]
        package var soundOf: [Int: [ReceivedAudioPacket]] = [:]
        package var activityOf: [Int: [ReceiverActivity]] = [:]
        /// The number of key frame requests that the sender received, for all media.
        package var keyFrameRequests = 0
        package var keyFrameRequestsOf: [Int: Int] = [:]
        /// The losses that the viewer reported, by the sender's media.
        package var lossReportsOf: [Int: [Double]] = [:]
        /// The target bitrates of the sender's media, in order.
        package var targetsOf: [Int: [(now: Instant, target: BitrateTarget)]] = [:]
        /// The number of reported changes of the peer's media, by end.
        package var remoteMediaChanges = (sender: 0, viewer: 0)
        package var failures: [PeerConnection.Failure] = []
        package var goodbyes = 0
        /// The states of the sender, in order.
        package var states: [ConnectionState] = []
        /// The sender's events about the route, in order.
        package var pathEvents: [(now: Instant, event: PathEvent)] = []
        package var silences: [(now: Instant, isSilent: Bool)] = []
        /// The sizes of everything that the sender sent, with the times: the same seed must result in the same ones.
        package var sent: [(now: Instant, size: Int)] = []
    }

    package enum PathEvent: Hashable {
        case disconnected
        case reconnected
        case restartNeeded
    }

    /// The differences to a call whose descriptions are exchanged at once and unchanged.
    package struct Options {
        package var media: [LocalIdentity.MediaKind] = [.video(streamID: "alice#content", isContent: true)]
        package var sender = PeerConnection.Configuration()
        package var viewer = PeerConnection.Configuration()
        /// The DTLS certificates of both ends; nil for new ones. They don't depend on the seed, and differ in length.
        package var certificates: (sender: Certificate, viewer: Certificate)?
        /// Changes the offer before the viewer receives it: the answer and its numbers follow from it.
        package var editOffer: (String) -> String = { $0 }
        /// Changes the answer before the sender receives it.
        package var editAnswer: (String) -> String = { $0 }
        /// Whether a gateway in front of the viewer accepts only TCP connections of the sender.
        package var isOverTCP = false
        /// Whether the viewer offers, to receive each of the sender's media.
        package var viewerOffers = false
        /// The time between the creation of the answer and its arrival at the sender.
        package var answerDelay = Duration.zero

        /// Creates options without differences.
        package init() {}
    }

    package static let senderAddress = TransportAddress(ip: .v4(0xC000_0201), port: 5000)
    package static let viewerAddress = TransportAddress(ip: .v4(0xC633_6401), port: 6000)

    package var sender: PeerConnection
    package var viewer: PeerConnection
    package var link: DuplexLink<Datagram>
    package var now = Instant(nanoseconds: 1_000_000_000)
    package var record = Record()
    /// Whether frames have the size of the sender's target bitrates, and are skipped while the queue is full. Otherwise
    /// all frames have one size.
    package var followsTargets = false
    /// Whether the link is cut, so that no datagram passes.
    package var isCut = false
    /// The viewer's address as the sender sees it: a NAT that forgets its mapping assigns another port.
    package var viewerPublicAddress = viewerAddress
    /// The SRTP keys of each end after DTLS.
    package private(set) var senderKeys: SRTPKeyingMaterial?
    package private(set) var viewerKeys: SRTPKeyingMaterial?
    /// Called with each datagram before it crosses the link.
    package var tap: ((Datagram, End) -> Void)?
    /// Determines the datagrams that are lost, in addition to the link's random losses.
    package var loses: ((Datagram, End) -> Bool)?
    private let isOverTCP: Bool
    /// The number of packets that the sender sent over TCP and, below, as datagrams.
    package var sentOverTCP = 0
    package var sentOverUDP = 0
    private var framer = RFC4571Framer()
    private var pendingAnswer: (due: Instant, answer: SessionDescription, offer: SessionDescription)?
    private var nextFrame: Instant
    private var nextSound: Instant
    private var pictures: [Int: Pictures] = [:]
    private var soundNumber: UInt64 = 0
    private var content: SeededGenerator

    /// The frames of one media.
    private struct Pictures {
        var count = 0
        var owesKeyFrame = true
        var number = FrameNumber(0x7FF0)
    }

    private let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1500, alignment: 16)

    /// Creates certificates for two ends.
    package static func makeCertificates() throws(CertificateError) -> (sender: Certificate, viewer: Certificate) {
        let validity: (Int64, Int64) = (1_700_000_000 - 86_400, 1_700_000_000 + 30 * 86_400)
        return (
            try Certificate(notBefore: validity.0, notAfter: validity.1),
            try Certificate(notBefore: validity.0, notAfter: validity.1)
        )
    }

    package init(conditions: LinkConditions, seed: UInt64, options: Options = Options()) throws {
        var random = SeededGenerator(seed: seed)
        let certificates = try options.certificates ?? Self.makeCertificates()
        let identity = LocalIdentity(
            certificate: certificates.sender, media: options.media, configuration: options.sender, random: &random)
        let viewing = LocalIdentity(certificate: certificates.viewer, media: [], random: &random)
        sender = try PeerConnection(
            as: options.viewerOffers ? .answerer : .offerer, identity: identity, configuration: options.sender,
            random: SeededGenerator(seed: seed &+ 1))
        viewer = try PeerConnection(
            as: options.viewerOffers ? .offerer : .answerer, identity: viewing, configuration: options.viewer,
            random: SeededGenerator(seed: seed &+ 2))
        link = DuplexLink(toRight: conditions, seed: seed &+ 3)
        isOverTCP = options.isOverTCP
        content = SeededGenerator(seed: seed &+ 4)
        nextFrame = now
        nextSound = now
        sender.keyObserver = { [unowned self] in senderKeys = $0 }
        viewer.keyObserver = { [unowned self] in viewerKeys = $0 }
        sender.addLocalAddress(Self.senderAddress, now: now)
        viewer.addLocalAddress(Self.viewerAddress, now: now)
        guard !options.viewerOffers else {
            try meetViewersOffer(options)
            return
        }
        let offer = try sender.makeOffer()
        let answer = try viewer.answer(
            offer: SessionDescription.parse(options.editOffer(offer.description)), now: now)
        viewer.endRemoteCandidates(now: now)
        pendingAnswer = (
            now.advanced(by: options.answerDelay),
            try SessionDescription.parse(options.editAnswer(answer.description)), offer
        )
        if options.answerDelay == .zero { try acceptAnswer() }
    }

    deinit {
        memory.deallocate()
    }

    private func meetViewersOffer(_ options: Options) throws {
        for media in options.media { try viewer.addReceivingSection(isVideo: media.isVideo) }
        let offer = try viewer.makeOffer()
        let answer = try sender.answer(
            offer: SessionDescription.parse(options.editOffer(offer.description)), now: now)
        let edited = try SessionDescription.parse(options.editAnswer(answer.description))
        try viewer.accept(answer: edited, to: offer, now: now)
        sender.endRemoteCandidates(now: now)
        viewer.endRemoteCandidates(now: now)
    }

    private func acceptAnswer() throws {
        guard let (due, answer, offer) = pendingAnswer, due <= now else { return }
        pendingAnswer = nil
        try sender.accept(answer: answer, to: offer, now: now)
        sender.endRemoteCandidates(now: now)
    }

    /// Runs for this duration. With `sendsFrames` the sender sends a frame every 33 ms when it is connected.
    package func run(for duration: Duration, sendsFrames: Bool = true) {
        let end = now.advanced(by: duration)
        while true {
            exchange()
            var next = end
            for deadline in [
                sender.nextDeadline(now: now), viewer.nextDeadline(now: now), link.nextArrival, pendingAnswer?.due,
            ] {
                if let deadline { next = min(next, max(deadline, now)) }
            }
            if sendsFrames, record.connected != nil { next = min(next, max(min(nextFrame, nextSound), now)) }
            if next >= end {
                now = end
                return
            }
            now = next
            if sendsFrames, record.connected != nil, now >= nextFrame { sendFrames() }
            if sendsFrames, record.connected != nil, now >= nextSound { sendSound() }
            do {
                try acceptAnswer()
            } catch {
                fatalError("the sender refuses the viewer's answer: \(error)")
            }
            sender.handleTimeout(now: now)
            viewer.handleTimeout(now: now)
        }
    }

    /// Transfers the packets of both ends, until neither has more at this time.
    private func exchange() {
        var isBusy = true
        while isBusy {
            isBusy = false
            while let transmission = sender.pollTransmit(into: memory, now: now) {
                record.sent.append((now, transmission.byteCount))
                carry(transmission, from: .left)
                isBusy = true
            }
            while let transmission = viewer.pollTransmit(into: memory, now: now) {
                carry(transmission, from: .right)
                isBusy = true
            }
            while let delivery = link.poll(now: now) {
                deliver(delivery)
                isBusy = true
            }
            takeEvents()
        }
    }

    private func carry(_ transmission: Transmission, from end: End) {
        var bytes = [UInt8](UnsafeRawBufferPointer(memory)[..<transmission.byteCount])
        if end == .left {
            if transmission.transport == .tcp { sentOverTCP += 1 } else { sentOverUDP += 1 }
            guard isOverTCP == (transmission.transport == .tcp) else { return }
            if isOverTCP {
                framer.append(bytes.span.bytes)
                guard let message = framer.next() else { return }
                bytes = message
            }
        }
        // The system chooses the port of a connection.
        let source = end == .left && isOverTCP ? Self.senderAddress : transmission.source
        var datagram = Datagram(source: source, destination: transmission.destination, bytes: bytes)
        switch end {
        case .right: datagram.source = viewerPublicAddress
        case .left:
            guard datagram.destination == viewerPublicAddress else { return }
            datagram.destination = Self.viewerAddress
        }
        tap?(datagram, end)
        if !isCut, loses?(datagram, end) != true { link.send(datagram, from: end, now: now) }
    }

    private func deliver(_ delivery: DuplexLink<Datagram>.Delivery) {
        var bytes = delivery.payload.bytes
        let (source, destination, now) = (delivery.payload.source, delivery.payload.destination, now)
        bytes.withUnsafeMutableBytes { datagram in
            switch delivery.end {
            case .left:
                let base = isOverTCP ? TransportAddress(ip: destination.ip, port: 0) : destination
                sender.handle(datagram, from: source, to: base, over: isOverTCP ? .tcp : .udp, now: now)
            case .right: viewer.handle(datagram, from: source, to: destination, now: now)
            }
        }
    }

    /// Passes bytes that nobody sent to an end, now.
    package func inject(_ bytes: [UInt8], like datagram: Datagram, to end: End) {
        var bytes = bytes
        let now = now
        bytes.withUnsafeMutableBytes { memory in
            switch end {
            case .left: sender.handle(memory, from: datagram.source, to: datagram.destination, now: now)
            case .right: viewer.handle(memory, from: datagram.source, to: datagram.destination, now: now)
            }
        }
    }

    private func takeEvents() {
        while let event = sender.pollEvent() {
            switch event {
            case .stateChanged(let state):
                record.states.append(state)
                switch state {
                case .connected where record.connected == nil: record.connected = now
                case .connected: record.pathEvents.append((now, .reconnected))
                case .disconnected: record.pathEvents.append((now, .disconnected))
                case .new, .connecting, .failed, .closed: takeEnd(state, sender.failure)
                }
            case .keyFrameRequested(let media):
                record.keyFrameRequests += 1
                record.keyFrameRequestsOf[media, default: 0] += 1
                pictures[media, default: Pictures()].owesKeyFrame = true
            case .lossReported(let fraction, let media): record.lossReportsOf[media, default: []].append(fraction)
            case .remoteMediaChanged: record.remoteMediaChanges.sender += 1
            case .targetBitrateChanged(let target, let media):
                record.targetsOf[media, default: []].append((now, target))
            case .restartNeeded: record.pathEvents.append((now, .restartNeeded))
            case .feedbackStopped(let isSilent): record.silences.append((now, isSilent))
            case .gatheringComplete, .serverFailed, .activityChanged, .localCandidate, .localCandidatesEnded:
                continue
            }
        }
        while let received = viewer.nextReceived() {
            switch received {
            case .frame(let frame, let receiver): record.framesOf[receiver, default: []].append(frame)
            case .packet(let packet, let receiver): record.soundOf[receiver, default: []].append(packet)
            }
        }
        while let event = viewer.pollEvent() {
            switch event {
            case .activityChanged(let activity, let receiver):
                record.activityOf[receiver, default: []].append(activity)
            case .remoteMediaChanged: record.remoteMediaChanges.viewer += 1
            case .stateChanged(let state): takeEnd(state, viewer.failure)
            default: continue
            }
        }
    }

    private func takeEnd(_ state: ConnectionState, _ failure: PeerConnection.Failure?) {
        if state == .closed { record.goodbyes += 1 }
        if let failure { record.failures.append(failure) }
    }

    private func sendFrames() {
        for (media, local) in sender.localMedia.enumerated() where local.kind.isVideo && sender.isSending(media: media)
        {
            sendFrame(media: media)
        }
        nextFrame = nextFrame < now ? now.advanced(by: .milliseconds(33)) : nextFrame.advanced(by: .milliseconds(33))
    }

    /// Sends a frame of random bytes behind the start that VP8 prescribes: 30 packets for a key frame, 4 for others.
    package func sendFrame(media: Int) {
        let target = sender.targetBitrate(media: media)
        if followsTargets, target?.isQueueFull == true || target?.bitrate == .zero { return }
        var state = pictures[media, default: Pictures()]
        let isKeyFrame = state.owesKeyFrame
        state.owesKeyFrame = false
        var size = isKeyFrame ? 30_000 : 4000
        if followsTargets, let target {
            size = max(20, target.bitrate.bytes(in: .milliseconds(33)) * (isKeyFrame ? 5 : 1))
        }
        var bytes = (0..<size).map { _ in UInt8.random(in: 0...255, using: &content) }
        // RFC 6386 §9.1: the frame tag, and for a key frame the start code and a size of 1280×720.
        let start: [UInt8] = isKeyFrame ? [0x10, 0, 0, 0x9D, 0x01, 0x2A, 0x00, 0x05, 0xD0, 0x02] : [0x11, 0, 0]
        bytes.replaceSubrange(0..<start.count, with: start)
        let frame = PacketizedFrame(
            bytes, format: .vp8, number: state.number.takeNext(), isKeyFrame: isKeyFrame,
            captureTime: .nanoseconds(now.nanoseconds), width: 1280, height: 720)
        state.count += 1
        pictures[media] = state
        sender.send(frame, media: media, now: now)
    }

    private func sendSound() {
        for (media, local) in sender.localMedia.enumerated() where !local.kind.isVideo {
            sender.send(soundFrame(marking: UInt8(media)), media: media, now: now)
        }
        soundNumber += 1
        nextSound = nextSound < now ? now.advanced(by: .milliseconds(20)) : nextSound.advanced(by: .milliseconds(20))
    }

    /// Returns 20 ms of audio: a packet of one SILK frame (RFC 6716 §3.1, configuration 9), then the mark.
    package func soundFrame(marking mark: UInt8) -> EncodedAudioFrame {
        EncodedAudioFrame(
            payload: [9 << 3, mark] + [UInt8](repeating: 0x55, count: 78), mediaTime: soundNumber * 960,
            captureTime: .nanoseconds(now.nanoseconds) - .milliseconds(20), sampleCount: 960,
            startsTalkspurt: soundNumber == 0, level: AudioLevel(level: 20, isVoice: true))
    }

    /// The number of frames that were passed to the sender for its first media.
    package var framesSent: Int { framesSent(media: 0) }

    /// Returns the number of frames that were passed to the sender for a media.
    package func framesSent(media: Int) -> Int { pictures[media]?.count ?? 0 }

    /// Returns the sender's next offer.
    package func makeOffer() throws -> SessionDescription { try sender.makeOffer() }

    /// Whether an end sends a media of its own.
    package func isSending(_ media: Int, at end: End = .left) -> Bool {
        switch end {
        case .left: sender.isSending(media: media)
        case .right: viewer.isSending(media: media)
        }
    }

    /// Returns the agreement on one of the sender's media.
    package func agreement(_ media: Int) -> MediaAgreement { sender.agreement(media: media) }

    /// Whether a media of the sender was rejected.
    package func hasEnded(_ media: Int) -> Bool { sender.hasEnded(media: media) }

    /// Makes the sender offer again, and the viewer answer, at once.
    package func renegotiate(editAnswer: (String) -> String = { $0 }) throws {
        let offer = try SessionDescription.parse(sender.makeOffer().description)
        let answer = try viewer.answer(offer: offer, now: now)
        try sender.accept(
            answer: SessionDescription.parse(editAnswer(answer.description)), to: offer, now: now)
    }

    /// Creates a viewer without any connection.
    package static func makeAnswerer(seed: UInt64) throws -> PeerConnection {
        var random = SeededGenerator(seed: seed)
        let identity = try LocalIdentity(media: [], unixTime: 1_700_000_000, random: &random)
        return try PeerConnection(
            as: .answerer, identity: identity, configuration: PeerConnection.Configuration(),
            random: SeededGenerator(seed: seed &+ 1))
    }
}
