internal import RTCShareCongestionControl
internal import RTCShareNetworkSimulation
internal import RTCSharePeerConnection
internal import RTCShareRTP
internal import RTCShareSDP
internal import RTCShareWireFormat

/// A share of a case: a complete sender and viewer, with a source that follows its target bitrate.
final class SimulatedShare {
    private static let senderAddress = TransportAddress(ip: .v4(0xC000_0201), port: 5000)
    private static let viewerAddress = TransportAddress(ip: .v4(0xC633_6401), port: 6000)

    let plan: NetworkCase.Share
    private(set) var framesReceived = 0
    private(set) var keyFrames = 0
    private(set) var failure: String?
    private(set) var sharpness: [(now: Instant, isSharp: Bool)] = []
    var framesSent: Int { video.frameCount }

    private var sender: PeerConnection
    private var viewer: PeerConnection
    private var video: SyntheticVideo
    private let start: Instant
    private var isConnected = false
    private var phase = SyntheticVideo.Phase.paused
    private var nextSound: Instant
    private var soundNumber: UInt64 = 0
    private let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1500, alignment: 16)

    /// Creates a share that starts now, in a case that started at `start`.
    init(_ plan: NetworkCase.Share, seed: UInt64, deviations: Deviations, start: Instant, now: Instant) throws {
        self.plan = plan
        self.start = start
        var random = SeededGenerator(seed: seed)
        var media: [LocalIdentity.MediaKind] = [.video(streamID: "bench#content", isContent: true)]
        if plan.hasSound { media.append(.audio(streamID: "bench#content", isContent: true)) }
        var configuration = PeerConnection.Configuration()
        configuration.maximumBitrate = .kilobitsPerSecond(max(2500, 2 * plan.maximum))
        configuration.congestionDeviations = deviations
        sender = try PeerConnection(
            as: .offerer, identity: LocalIdentity(media: media, unixTime: 1_700_000_000, random: &random),
            configuration: configuration, random: SeededGenerator(seed: seed &+ 1))
        viewer = try PeerConnection(
            as: .answerer, identity: LocalIdentity(media: [], unixTime: 1_700_000_000, random: &random),
            configuration: configuration, random: SeededGenerator(seed: seed &+ 2))
        video = SyntheticVideo(start: now, seed: seed &+ 3)
        nextSound = now
        sender.addLocalAddress(Self.senderAddress, now: now)
        viewer.addLocalAddress(Self.viewerAddress, now: now)
        let offer = try sender.makeOffer()
        let answer = try viewer.answer(offer: SessionDescription.parse(offer.description), now: now)
        viewer.endRemoteCandidates(now: now)
        let text = Self.answer(answer.description, for: plan)
        try sender.accept(answer: SessionDescription.parse(text), to: offer, now: now)
        sender.endRemoteCandidates(now: now)
        if plan.hasSound {
            let rate = DataRate.kilobitsPerSecond(20)
            sender.setDemand(BitrateDemand(minimum: rate, maximum: rate, priority: .medium), media: 1, now: now)
        }
    }

    deinit { memory.deallocate() }

    /// Returns the answer of a viewer without the features that this one lacks.
    private static func answer(_ answer: String, for plan: NetworkCase.Share) -> String {
        var lines = answer.split(separator: "\r\n").map(String.init)
        if !plan.hasTransportFeedback {
            lines.removeAll { $0.hasSuffix(" transport-cc") || $0.contains("transport-wide-cc-extensions") }
        }
        let retransmissions = plan.hasRetransmission ? [] : lines.filter { $0.hasSuffix(" rtx/90000") }
        for type in retransmissions.compactMap({ $0.split(whereSeparator: { ": ".contains($0) }).dropFirst().first }) {
            lines.removeAll { $0.hasPrefix("a=rtpmap:\(type) ") || $0.hasPrefix("a=fmtp:\(type) ") }
            for index in lines.indices where lines[index].hasPrefix("m=video ") && lines[index].hasSuffix(" \(type)") {
                lines[index].removeLast(type.count + 1)
            }
        }
        return lines.joined(separator: "\r\n") + "\r\n"
    }

    /// Returns the time of the next timer or frame.
    func nextDeadline(now: Instant) -> Instant {
        var next = Instant.distantFuture
        for due in [sender.nextDeadline(now: now), viewer.nextDeadline(now: now)] { next = min(next, due ?? next) }
        if isConnected {
            next = min(next, video.nextFrame)
            if plan.hasSound { next = min(next, nextSound) }
        }
        return max(now, next)
    }

    /// Receives a datagram at the sender or at the viewer.
    func receive(_ datagram: Datagram, atSender: Bool, now: Instant) {
        var bytes = datagram.bytes
        bytes.withUnsafeMutableBytes { memory in
            if atSender {
                sender.handle(memory, from: datagram.source, to: datagram.destination, now: now)
            } else {
                viewer.handle(memory, from: datagram.source, to: datagram.destination, now: now)
            }
        }
    }

    /// Handles expired timers, and passes the datagrams of both ends to `send`.
    func advance(now: Instant, send: (Datagram, _ bySender: Bool) -> Void) {
        sender.handleTimeout(now: now)
        viewer.handleTimeout(now: now)
        takeEvents(now: now)
        if isConnected { produce(now: now) }
        while let sent = sender.pollTransmit(into: memory, now: now) { send(datagram(sent), true) }
        while let sent = viewer.pollTransmit(into: memory, now: now) { send(datagram(sent), false) }
        takeEvents(now: now)
    }

    /// Returns the estimated bitrate of the route if there is one, otherwise the target bitrate.
    func estimate(now: Instant) -> DataRate? {
        let rate = sender.report(now: now).candidatePairs.compactMap(\.availableOutgoingBitrate).first
        if let rate { return .bitsPerSecond(Int64(rate)) }
        return isConnected ? video.target : nil
    }

    private func datagram(_ sent: Transmission) -> Datagram {
        Datagram(
            source: sent.source, destination: sent.destination,
            bytes: [UInt8](UnsafeRawBufferPointer(memory)[..<sent.byteCount]))
    }

    private func produce(now: Instant) {
        let time = (now - start).seconds
        let current = time < plan.end ? plan.content.last { $0.from <= time }?.phase ?? .paused : .paused
        if current != phase {
            phase = current
            let maximum = DataRate.kilobitsPerSecond(plan.maximum)
            sender.setDemand(
                phase == .paused
                    ? .zero : BitrateDemand(minimum: .kilobitsPerSecond(50), maximum: maximum, priority: .medium),
                media: 0, now: now)
            takeEvents(now: now)
        }
        if let frame = video.frame(phase, now: now) {
            if frame.isKeyFrame { keyFrames += 1 }
            sender.send(frame, media: 0, now: now)
        }
        if plan.hasSound, nextSound <= now {
            nextSound = now.advanced(by: .milliseconds(20))
            if time < plan.end { sender.send(sound(now: now), media: 1, now: now) }
        }
    }

    /// Returns 20 ms of audio in 50 bytes: 20 kbit/s.
    private func sound(now: Instant) -> EncodedAudioFrame {
        defer { soundNumber += 1 }
        return EncodedAudioFrame(
            payload: [9 << 3] + [UInt8](repeating: 0x55, count: 49), mediaTime: soundNumber * 960,
            captureTime: .nanoseconds(now.nanoseconds), sampleCount: 960, startsTalkspurt: soundNumber == 0)
    }

    private func takeEvents(now: Instant) {
        while let event = sender.pollEvent() {
            switch event {
            case .stateChanged(.connected): isConnected = true
            case .keyFrameRequested(0): video.requestKeyFrame()
            case .targetBitrateChanged(let target, 0):
                video.target = min(target.bitrate, .kilobitsPerSecond(plan.maximum))
                video.isQueueFull = target.isQueueFull
            case .stateChanged(.failed): failure = sender.failure.map { "\($0)" }
            default: continue
            }
        }
        while viewer.pollEvent() != nil {}
        while let received = viewer.nextReceived() {
            guard case .frame(let frame, 0) = received else { continue }
            framesReceived += 1
            // Its number is that of the frame, which begins at zero.
            let number = Int(frame.pictureID?.value ?? 0)
            let isSharp = !frame.isKeyFrame && video.sharpFrom.map { number >= $0 & 0x7FFF } == true
            if isSharp != sharpness.last?.isSharp ?? false { sharpness.append((now, isSharp)) }
        }
    }
}
