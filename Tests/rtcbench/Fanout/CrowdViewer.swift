internal import Glibc
internal import RTCShareICE
internal import RTCSharePeerConnection
internal import RTCShareRTP
internal import RTCShareSDP
internal import RTCShareSecureTransport
internal import RTCShareWireFormat

/// A viewer: a peer with its own ICE and DTLS that counts received packets, and sends reports like other viewers.
///
/// Its cost is low, because that is not measured: most viewers read only the unencrypted part of a packet.
final class CrowdViewer {
    let descriptor: Int32
    let port: UInt16
    let answer: String
    /// Whether it decrypts every packet, and measures the delay of frames.
    let looksInside: Bool

    /// Whether it ignores everything and sends nothing.
    var isUnplugged = false
    private(set) var isConnected = false
    private(set) var packets = 0
    private(set) var bytes = 0
    private(set) var padding = 0
    private(set) var forged = 0
    private(set) var feedbackSent = 0
    private(set) var delays: [Int64] = []

    private var agent: Agent
    private let dtls: DTLSConnection
    private var outbound: SRTPSender?
    private var inbound: SRTPReceiver?
    private var feedback: TransportFeedbackGenerator
    private let numberID: UInt8
    private let media: SynchronizationSource
    private let local: TransportAddress
    private var peer: TransportAddress?
    private var unwrapper = SerialNumberUnwrapper<SequenceNumber>()
    private var first: Int64?
    private var newest: Int64 = 0
    private var nextReport: Instant
    private var senderReport: (middle: NTPShortTime, arrival: Instant)?

    private static let source = SynchronizationSource(0x00C0_FFEE)
    private static let feedbackInterval = Duration.milliseconds(100)
    private static let reportInterval = Duration.seconds(1)

    /// Answers an offer from a new socket at `address`.
    init(
        offer text: String, identity: LocalIdentity, context: DTLSContext, address: IPAddress, looksInside: Bool,
        now: Instant
    ) throws {
        let socket = try CrowdSocket.open(at: address)
        (descriptor, local) = socket
        port = local.port
        self.looksInside = looksInside
        let offer = try SessionDescription.parse(text)
        // A complete peer connection creates the answer, and is not used after that.
        var speaker = try PeerConnection(
            as: .answerer, identity: identity, configuration: PeerConnection.Configuration(),
            random: SystemRandomNumberGenerator())
        speaker.addLocalAddress(local, now: now)
        let description = try speaker.answer(offer: offer, now: now)
        answer = description.description
        guard let section = offer.media.first, let attributes = try offer.iceAttributes(of: section) else {
            throw BenchmarkFailure("an offer without a picture")
        }
        let maps = try description.media.first.map { try description.extensionMaps(of: $0) } ?? []
        let number = maps.first { $0.uri == HeaderExtensionKind.transportSequenceNumber.uri }
        numberID = UInt8(clamping: number?.id ?? 0)
        media = SynchronizationSource(try Self.source(in: text))
        let fingerprints = try offer.fingerprints(of: section).compactMap { line in
            Fingerprint.Algorithm(rawValue: line.hashFunction).flatMap {
                try? Fingerprint(algorithm: $0, bytes: line.bytes)
            }
        }
        dtls = try DTLSConnection(role: .client, context: context, expectedFingerprints: fingerprints)
        agent = Agent(
            configuration: RTCShareICE.Configuration(
                role: .controlled,
                credentials: try Credentials(
                    usernameFragment: identity.iceUsernameFragment, password: identity.icePassword)),
            generator: SystemRandomNumberGenerator())
        feedback = TransportFeedbackGenerator(sender: Self.source, interval: Self.feedbackInterval)
        nextReport = now.advanced(by: Self.reportInterval)
        agent.addLocalHost(local, now: now)
        for candidate in try section.candidates() {
            guard let address = TransportAddress("\(candidate.host)", port: candidate.port) else { continue }
            agent.addRemoteCandidate(
                foundation: candidate.foundation, component: Int(candidate.component), transport: candidate.transport,
                priority: candidate.priority, address: address, type: "\(candidate.kind)", now: now)
        }
        agent.setRemote(
            credentials: try Credentials(
                usernameFragment: attributes.usernameFragment, password: attributes.password), now: now)
        agent.endOfRemoteCandidates(now: now)
        follow(now: now)
    }

    deinit { close(descriptor) }

    /// Returns the first source in a description.
    private static func source(in description: String) throws -> UInt32 {
        for line in description.split(whereSeparator: \.isNewline) where line.hasPrefix("a=ssrc:") {
            if let value = UInt32(line.dropFirst(7).prefix { $0.isNumber }) { return value }
        }
        throw BenchmarkFailure("an offer without a=ssrc")
    }

    // MARK: Counting

    /// Resets the counts.
    func reset() {
        (packets, bytes, padding, forged, feedbackSent) = (0, 0, 0, 0, 0)
        delays.removeAll(keepingCapacity: true)
        first = nil
    }

    /// The number of missing packets between the first and the newest.
    var lost: Int { first.map { max(0, Int(newest - $0) + 1 - packets) } ?? 0 }

    /// Receives a datagram.
    func receive(_ datagram: UnsafeMutableRawBufferPointer, from source: TransportAddress, now: Instant) {
        let bytes = UnsafeRawBufferPointer(datagram).bytes
        switch DatagramKind(bytes) {
        case .rtp: receiveMedia(datagram, now: now)
        case .rtcp: receiveControl(datagram, now: now)
        case .stun:
            agent.handle(datagram: bytes, from: source, to: local, now: now)
            follow(now: now)
        case .dtls:
            peer = peer ?? source
            dtls.handle(datagram: bytes, now: now)
            follow(now: now)
        default: return
        }
    }

    private func receiveMedia(_ datagram: UnsafeMutableRawBufferPointer, now: Instant) {
        let packet = UnsafeRawBufferPointer(datagram).bytes
        guard isConnected, let header = try? RTPHeader(parsing: packet) else { return }
        if let number = Self.number(numberID, header, in: packet) {
            feedback.receive(number, of: header.source, now: now)
        }
        guard header.source == media else {
            padding += 1
            return
        }
        let number = unwrapper.unwrap(header.sequenceNumber)
        if first == nil {
            first = number
            newest = number
        }
        newest = max(newest, number)
        packets += 1
        bytes += datagram.count
        guard looksInside, let inbound else { return }
        guard let count = try? inbound.unprotectRTP(datagram) else {
            forged += 1
            return
        }
        guard header.marker, count > FanoutFrames.stampByteCount else { return }
        let stamp = datagram.loadUnaligned(fromByteOffset: count - FanoutFrames.stampByteCount, as: Int64.self)
        delays.append(now.nanoseconds - Int64(bigEndian: stamp))
    }

    /// Returns the transport-wide number of a packet with one-byte extensions (RFC 8285 §4.2).
    private static func number(
        _ identifier: UInt8, _ header: RTPHeader, in packet: RawSpan
    ) -> TransportSequenceNumber? {
        guard header.extensionProfile == 0xBEDE else { return nil }
        var offset = 12 + 4 * header.contributingSourceCount + 4
        while offset + 3 <= packet.byteCount {
            let byte = packet.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
            if byte == 0 {
                offset += 1
                continue
            }
            guard byte >> 4 != 15 else { return nil }
            if byte >> 4 == identifier {
                let value = packet.unsafeLoadUnaligned(fromByteOffset: offset + 1, as: UInt16.self)
                return TransportSequenceNumber(UInt16(bigEndian: value))
            }
            offset += 2 + Int(byte & 15)
        }
        return nil
    }

    private func receiveControl(_ datagram: UnsafeMutableRawBufferPointer, now: Instant) {
        guard let inbound, let count = try? inbound.unprotectRTCP(datagram) else {
            forged += isConnected ? 1 : 0
            return
        }
        let compound = UnsafeRawBufferPointer(rebasing: datagram[..<count]).bytes
        for case .senderReport(let report) in (try? RTCPPacket.parse(compound: compound)) ?? [] {
            senderReport = (report.ntpTimestamp.middle32, now)
        }
    }

    // MARK: Sending

    /// Handles expired timers.
    func tick(now: Instant) {
        if let due = agent.nextDeadline, due <= now {
            agent.handleTimeout(now: now)
            follow(now: now)
        }
        if !isConnected, let due = dtls.nextDeadline, due <= now {
            dtls.handleTimeout(now: now)
            follow(now: now)
        }
        guard isConnected else { return }
        var packets: [RTCPPacket] = []
        if let due = feedback.nextDeadline, due <= now {
            for report in feedback.poll(now: now) { packets.append(.transportFeedback(report)) }
        }
        var report: RTCPPacket?
        if nextReport <= now, first != nil {
            nextReport = now.advanced(by: Self.reportInterval)
            report = .receiverReport(receiverReport(now: now))
        }
        guard report != nil || !packets.isEmpty else { return }
        let writer = RTCPBundleWriter(source: Self.source, canonicalName: "viewer", allowsReducedSize: true)
        for datagram in writer.datagrams(report: report, feedback: packets) {
            var datagram = datagram
            guard let outbound, let peer, (try? outbound.protectRTCP(&datagram)) != nil else { continue }
            CrowdSocket.send(datagram, from: descriptor, to: peer)
            feedbackSent += 1
        }
    }

    private func receiverReport(now: Instant) -> ReceiverReport {
        ReceiverReport(
            source: Self.source,
            reportBlocks: [
                ReportBlock(
                    source: media, fractionLost: 0, cumulativeLost: Int32(clamping: lost),
                    extendedHighestSequenceNumber: UInt32(truncatingIfNeeded: newest), jitter: 0,
                    lastSenderReport: senderReport?.middle ?? NTPShortTime(0),
                    delaySinceLastSenderReport: senderReport.map { NTPShortTime(now - $0.arrival) } ?? NTPShortTime(0))
            ])
    }

    private func follow(now: Instant) {
        while let event = agent.pollEvent() {
            if case .selectedPair(let pair) = event {
                peer = pair.remote.address
                dtls.start(now: now)
            }
        }
        if !isConnected, let keys = dtls.keys {
            outbound = try? SRTPSender(profile: keys.profile, masterKey: keys.local)
            inbound = try? SRTPReceiver(profile: keys.profile, masterKey: keys.remote)
            dtls.discardKeys()
            isConnected = true
        }
        while let check = agent.pollTransmit() {
            CrowdSocket.send(check.bytes, from: descriptor, to: check.destination)
        }
        while let datagram = dtls.pollTransmit() {
            if let peer { CrowdSocket.send(datagram, from: descriptor, to: peer) }
        }
    }
}
