internal import CongestionControl
internal import ICE
public import RTP
internal import SecureTransport
public import WireFormat

extension PeerConnection {
    /// Sends a picture: queues its packets. One that the peer can't take, now or at all, is counted and dropped, and its
    /// sender is asked for a key frame where that would help.
    public mutating func send(_ frame: PacketizedFrame, media: Int, now: Instant) {
        guard progress == .connected || progress == .disconnected, isSending(media: media),
            outbound[media].video != nil
        else {
            counts.framesDropped += 1
            return
        }
        if frame.isKeyFrame { outbound[media].video?.keyFrameRequests.keyFrameWasSent() }
        if outbound[media].video?.enqueue(frame, as: media, to: &pacer, now: now) != true {
            counts.framesDropped += 1
            outbound[media].video?.keyFrameRequests.request()
        }
        pollKeyFrameRequests(now: now)
    }

    /// Sends sound, ahead of all pictures. What the peer can't take, now or at all, is counted and dropped.
    public mutating func send(_ frame: EncodedAudioFrame, media: Int, now: Instant) {
        guard progress == .connected || progress == .disconnected, isSending(media: media),
            outbound[media].audio != nil
        else {
            counts.framesDropped += 1
            return
        }
        outbound[media].audio?.enqueue(frame, as: media, to: &pacer, now: now)
    }

    /// Passes on what asks for key frames, where its time has come.
    mutating func pollKeyFrameRequests(now: Instant) {
        for index in outbound.indices where outbound[index].video?.keyFrameRequests.poll(now: now) == true {
            events.append(.keyFrameRequested(media: index))
        }
    }

    /// Asks the peer for a key frame: what it sent can't be decoded.
    public mutating func requestKeyFrame(ofReceiver index: Int, now: Instant) {
        guard inbound.indices.contains(index) else { return }
        inbound[index].requestKeyFrame(now: now)
        advance(now: now)
    }

    /// Whether packets of a frame wait to be sent.
    public var hasQueuedPackets: Bool { pacer.queuedPackets > 0 }

    /// Writes the next datagram that is to leave now into `memory`, or returns nil. 1280 bytes are enough for any.
    public mutating func pollTransmit(into memory: UnsafeMutableRawBufferPointer, now: Instant) -> Transmission? {
        while let check = agent.pollTransmit() {
            guard let length = counted(memory.copy(check.bytes)) else { continue }
            return transmission(length, from: check.base, to: check.destination)
        }
        guard let path = mediaPath else { return nil }
        while let keys = transport.outbound, !control.isEmpty {
            let count = memory.copy(control.removeFirst())
            guard let length = counted(count.flatMap { try? keys.protectRTCP(memory, count: $0) }) else { continue }
            return transmission(length, from: path.source, to: path.destination)
        }
        while let datagram = transport.dtls?.pollTransmit() {
            guard let length = counted(memory.copy(datagram)) else { continue }
            return transmission(length, from: path.source, to: path.destination)
        }
        guard canSend, progress != .ended else { return nil }
        while let packet = pacer.pop(now: now) {
            guard mayLeave(packet) else {
                counts.packetsUnsent += 1
                continue
            }
            guard let length = counted(write(packet, into: memory, now: now)) else { continue }
            return transmission(length, from: path.source, to: path.destination)
        }
        return nil
    }

    /// Of a source that has said goodbye, what still waits is not sent, and a retransmission only where it is still what
    /// it was.
    private mutating func mayLeave(_ packet: PacedPacket) -> Bool {
        let isSending = isSending(media: packet.media)
        guard case .retransmission(let media, _, let sent) = packet else { return isSending }
        return outbound[media].video?.dequeue(sent) == true && isSending
    }

    /// From where to where, without a copy of the candidates and their texts.
    private var mediaPath: (source: TransportAddress, destination: TransportAddress)? {
        guard let source = selectedPair?.local.base, let destination = selectedPair?.remote.address else { return nil }
        return (source, destination)
    }

    /// A packet that can't be written or protected is counted, and holds up no other.
    private mutating func counted(_ length: Int?) -> Int? {
        if length == nil { counts.packetsUnsent += 1 }
        return length
    }

    private mutating func transmission(
        _ length: Int, from source: TransportAddress, to destination: TransportAddress
    ) -> Transmission {
        counts.packetsSent += 1
        counts.bytesSent += UInt64(length)
        return Transmission(source: source, destination: destination, byteCount: length)
    }

    /// Builds a packet in place and protects it there; its length, or nil where it could not be made.
    private mutating func write(
        _ packet: PacedPacket, into memory: UnsafeMutableRawBufferPointer, now: Instant
    ) -> Int? {
        let number = transportSequenceNumber
        var writer = ByteWriter(memory.mutableBytes)
        do {
            switch packet {
            case .sound(let media, let frame):
                try outbound[media].audio?.write(
                    frame, to: &writer, transportSequenceNumber: &transportSequenceNumber, now: now)
            case .picture(let media, let frame, let fragment):
                try outbound[media].video?.writeMedia(
                    frame, fragment: fragment, to: &writer, transportSequenceNumber: &transportSequenceNumber, now: now)
            case .retransmission(let media, let sequenceNumber, let packet):
                try outbound[media].video?.writeRetransmission(
                    of: packet, sequenceNumber: sequenceNumber, to: &writer,
                    transportSequenceNumber: &transportSequenceNumber, now: now)
            }
            let length = try transport.outbound?.protectRTP(memory, count: writer.offset)
            if let length, transportSequenceNumber != number {
                sentPackets.packetSent(number, size: length, now: now)
            }
            return length
        } catch {
            // The payload's limit leaves room for every header and tag, unless a caller cut its packets larger.
            return nil
        }
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Copies bytes to the start of this memory; their count, or nil where they don't fit.
    fileprivate func copy(_ bytes: [UInt8]) -> Int? {
        guard bytes.count <= count else { return nil }
        copyBytes(from: bytes)
        return bytes.count
    }
}
