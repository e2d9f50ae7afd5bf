internal import RTCSharePeerConnection
internal import RTCShareRTP
internal import RTCShareSDP
internal import RTCShareSecureTransport
internal import RTCShareWireFormat

/// Two peers connected in memory, one of which sends: the path of a packet from the frame to the datagram.
///
/// They connect as usual, with descriptions, ICE and DTLS, and send for some seconds of virtual time, until the viewer
/// has sent its reports. After that the viewer is not used. At ten gigabits per second the packets of a run take a
/// fraction of a second of virtual time, before anything else is due: only packets are timed.
final class ConnectedPath {
    private var sender: PeerConnection
    private var viewer: PeerConnection
    private var now = Instant(nanoseconds: 1_000_000_000)
    private let memory = PacketMemory()
    private var transmittedByteCount = 0
    /// The packets of this frame have the usual header: send time and transport-wide number.
    private let frame = TestPackets.frame(headerByteCount: 24, isKeyFrame: false)

    init() throws {
        var random = SystemRandomNumberGenerator()
        var configuration = PeerConnection.Configuration()
        configuration.maximumBitrate = .kilobitsPerSecond(10_000_000)
        configuration.startBitrate = configuration.maximumBitrate
        sender = try PeerConnection(
            as: .offerer,
            identity: LocalIdentity(
                media: [.video(streamID: "bench#content", isContent: true)], unixTime: 1_700_000_000, random: &random),
            configuration: configuration, random: random)
        viewer = try PeerConnection(
            as: .answerer, identity: LocalIdentity(media: [], unixTime: 1_700_000_000, random: &random),
            configuration: configuration, random: random)
        sender.addLocalAddress(TransportAddress(ip: .v4(0xC000_0201), port: 5000), now: now)
        viewer.addLocalAddress(TransportAddress(ip: .v4(0xC633_6401), port: 6000), now: now)
        let offer = try sender.makeOffer()
        let answer = try viewer.answer(offer: SessionDescription.parse(offer.description), now: now)
        try sender.accept(answer: SessionDescription.parse(answer.description), to: offer, now: now)
        viewer.endRemoteCandidates(now: now)
        sender.endRemoteCandidates(now: now)
        try connect()
        try checkSize()
    }

    /// Sends this many packets, with a new frame whenever the one before has been sent.
    func run(packets: Int) throws {
        var sent = 0
        while sent < packets {
            if let transmission = sender.pollTransmit(into: memory.bytes, now: now) {
                transmittedByteCount = transmission.byteCount
                sent += 1
            } else if !sender.hasQueuedPackets {
                sender.send(frame, media: 0, now: now)
            } else if let deadline = sender.nextDeadline(now: now) {
                now = max(now, deadline)
                sender.handleTimeout(now: now)
            } else {
                throw BenchmarkFailure("the connection ended: give fewer packets or rounds")
            }
        }
    }

    /// Sends one frame, and returns the number of its packets.
    func send(_ frame: PacketizedFrame) throws -> Int {
        sender.send(frame, media: 0, now: now)
        var sent = 0
        while true {
            if sender.pollTransmit(into: memory.bytes, now: now) != nil {
                sent += 1
            } else if !sender.hasQueuedPackets {
                return sent
            } else if let deadline = sender.nextDeadline(now: now) {
                now = max(now, deadline)
                sender.handleTimeout(now: now)
            } else {
                throw BenchmarkFailure("the connection ended: give fewer seconds")
            }
        }
    }

    /// Checks that a packet has the size for which it is compared.
    private func checkSize() throws {
        try run(packets: 10 * frame.fragmentCount)
        let size = PacketBenchmark.packetByteCount + SRTPProfile.preferred[0].rtpOverhead
        for _ in 0..<10 {
            try run(packets: 1)
            if transmittedByteCount == size { return }
        }
        throw BenchmarkFailure("the connection's packets have \(transmittedByteCount) bytes instead of \(size)")
    }

    /// Runs until the viewer has sent reports, within some seconds of the first frame.
    private func connect() throws {
        let end = now.advanced(by: .seconds(5))
        let opening = TestPackets.frame(headerByteCount: 60, isKeyFrame: true)
        var isConnected = false
        while now < end {
            exchange()
            while let event = sender.pollEvent() {
                if case .stateChanged(.connected) = event { isConnected = true }
                if let reason = sender.failure { throw BenchmarkFailure("two peers did not connect: \(reason)") }
            }
            while viewer.nextReceived() != nil {}
            while viewer.pollEvent() != nil {}
            if isConnected, !sender.hasQueuedPackets { sender.send(opening, media: 0, now: now) }
            now = now.advanced(by: .milliseconds(10))
            sender.handleTimeout(now: now)
            viewer.handleTimeout(now: now)
        }
        guard isConnected else { throw BenchmarkFailure("two peers joined in memory did not connect") }
    }

    /// The packet type of transport-wide feedback (RFC 4585 §6.2), which is not passed to the sender: it would conclude
    /// from datagrams that arrive in no time every ten milliseconds that the route is slow, and seconds of virtual
    /// time, with their reports, would pass among the packets.
    private static let transportFeedback: UInt8 = 205

    private func exchange() {
        var isBusy = true
        while isBusy {
            isBusy = false
            while let datagram = sender.pollTransmit(into: memory.bytes, now: now) {
                let bytes = UnsafeMutableRawBufferPointer(rebasing: memory.bytes[..<datagram.byteCount])
                viewer.handle(bytes, from: datagram.source, to: datagram.destination, now: now)
                isBusy = true
            }
            while let datagram = viewer.pollTransmit(into: memory.bytes, now: now) {
                let bytes = UnsafeMutableRawBufferPointer(rebasing: memory.bytes[..<datagram.byteCount])
                isBusy = true
                if bytes.count > 1, bytes[1] == Self.transportFeedback { continue }
                sender.handle(bytes, from: datagram.source, to: datagram.destination, now: now)
            }
        }
    }
}
