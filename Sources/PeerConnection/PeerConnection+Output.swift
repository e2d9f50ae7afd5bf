internal import RTCShareCongestionControl
internal import RTCShareICE
package import RTCShareRTP
internal import RTCShareSecureTransport
package import RTCShareWireFormat

extension PeerConnection {
    /// Sends a picture: queues its packets. One that the peer can't take, now or at all, is counted and dropped, and its
    /// sender is asked for a key frame where that would help.
    package mutating func send(_ frame: PacketizedFrame, media: Int, now: Instant) {
        guard takesFrames, isSending(media: media), outbound[media].video != nil
        else {
            counts.framesDroppedBeforeConnection += 1
            return
        }
        if frame.isKeyFrame { outbound[media].video?.keyFrameRequests.keyFrameWasSent() }
        if outbound[media].video?.enqueue(frame, as: media, to: &bandwidth.pacer, now: now) != true {
            counts.framesDroppedBeforeConnection += 1
            outbound[media].video?.keyFrameRequests.frameWasRefused()
        }
        passOnKeyFrameRequests()
        // A frame may fill the queue, and its encoder is to know before the next. What the estimator has to do is done on
        // the occasion, or a timer would have to ring for it.
        applyBandwidth(now: now)
    }

    /// Sends sound, ahead of all pictures. What the peer can't take, now or at all, is counted and dropped.
    package mutating func send(_ frame: EncodedAudioFrame, media: Int, now: Instant) {
        guard takesFrames, isSending(media: media), outbound[media].audio != nil
        else {
            counts.framesDroppedBeforeConnection += 1
            return
        }
        outbound[media].audio?.enqueue(frame, as: media, to: &bandwidth.pacer, now: now)
    }

    /// Passes on what asks for key frames.
    mutating func passOnKeyFrameRequests() {
        for index in outbound.indices where outbound[index].video?.keyFrameRequests.take() == true {
            events.append(.keyFrameRequested(media: index))
        }
    }

    /// Asks the peer for a key frame: what it sent can't be decoded.
    package mutating func requestKeyFrame(ofReceiver index: Int, now: Instant) {
        receivers.requestKeyFrame(of: index, now: now)
        advance(now: now)
    }

    /// Whether packets of a frame wait to be sent.
    package var hasQueuedPackets: Bool { bandwidth.pacer.queuedPackets > 0 }

    /// Writes the next datagram that is to leave now into `memory`, or returns nil. 1280 bytes are enough for any.
    package mutating func pollTransmit(into memory: UnsafeMutableRawBufferPointer, now: Instant) -> Transmission? {
        if let own = pollAgent(into: memory) { return own }
        guard path.isThere, let way = ice.agent.nextMediaPath(), let packet = memory.inside(way.envelope) else {
            return state.isOver ? pollGoodbye(into: memory, now: now) : nil
        }
        if path.note(way) { bandwidth.allocation.isDue = true }
        while let keys = transport.outbound, let datagram = control.poll() {
            let count = packet.copy(datagram)
            guard let length = counted(count.flatMap { try? keys.protectRTCP(packet, count: $0) }) else { continue }
            return transmission(length, in: memory, on: way)
        }
        while let datagram = transport.pollTransmit() {
            guard let length = counted(packet.copy(datagram)) else { continue }
            return transmission(length, in: memory, on: way)
        }
        guard !state.isOver else { return pollGoodbye(into: memory, now: now) }
        guard canSend else { return nil }
        while let next = bandwidth.pacer.pop(now: now) {
            guard mayLeave(next, now: now) else {
                counts.packetsUnsent += 1
                continue
            }
            guard let length = counted(write(next, into: packet, now: now)) else { continue }
            return transmission(length, in: memory, on: way)
        }
        guard let length = writePadding(into: packet, now: now) else { return nil }
        return transmission(length, in: memory, on: way)
    }

    /// Builds a packet of padding where the pacer wants one; nil where it wants none, or there is nothing to make it of.
    private mutating func writePadding(into memory: UnsafeMutableRawBufferPointer, now: Instant) -> Int? {
        guard let wanted = bandwidth.pacer.paddingWanted(now: now) else { return nil }
        guard let media = paddingMedia() else {
            // Until media leave again.
            bandwidth.pacer.allowsPadding = false
            return nil
        }
        let number = bandwidth.transportSequenceNumber
        var writer = ByteWriter(memory.mutableBytes)
        do {
            let isWritten =
                try outbound[media].video?.writePadding(
                    wanted, to: &writer, transportSequenceNumber: &bandwidth.transportSequenceNumber, now: now) ?? false
            guard isWritten, let length = try transport.outbound?.protectRTP(memory, count: writer.offset) else {
                bandwidth.pacer.allowsPadding = false
                return nil
            }
            bandwidth.pacer.didPad(length, now: now)
            bandwidth.packetSent(before: number, size: length + path.overhead, now: now)
            return length
        } catch {
            bandwidth.pacer.allowsPadding = false
            counts.packetsUnsent += 1
            return nil
        }
    }

    /// What ICE has to say, to the peer and to servers.
    private mutating func pollAgent(into memory: UnsafeMutableRawBufferPointer) -> Transmission? {
        while let check = ice.agent.pollTransmit() {
            guard let length = counted(memory.copy(check.bytes)) else { continue }
            counts.packetsSent += 1
            counts.bytesSent += UInt64(length)
            return Transmission(
                source: check.base, destination: check.destination, transport: check.transport,
                isForRelay: check.isForRelay, byteCount: length)
        }
        return nil
    }

    /// Once all goodbyes have left, relayed addresses are given back.
    private mutating func pollGoodbye(into memory: UnsafeMutableRawBufferPointer, now: Instant) -> Transmission? {
        ice.agent.close(now: now)
        return pollAgent(into: memory)
    }

    /// Of a source that has said goodbye, what still waits is not sent, and a retransmission only where it is still what
    /// it was.
    private mutating func mayLeave(_ packet: PacedPacket, now: Instant) -> Bool {
        let isSending = isSending(media: packet.media)
        guard case .retransmission(_, let number, let isRepetition) = packet else { return isSending }
        return outbound[packet.media].video?.dequeue(number, isRepetition: isRepetition, now: now) == true && isSending
    }

    /// A packet that can't be written or protected is counted, and holds up no other.
    private mutating func counted(_ length: Int?) -> Int? {
        if length == nil { counts.packetsUnsent += 1 }
        return length
    }

    /// A packet that was written where its envelope leaves room for it; what stands around it is not counted, as in
    /// webrtc-stats.
    private mutating func transmission(
        _ length: Int, in memory: UnsafeMutableRawBufferPointer, on path: MediaPath
    ) -> Transmission? {
        guard let byteCount = counted(path.envelope.complete(memory, payloadByteCount: length)) else { return nil }
        counts.packetsSent += 1
        counts.bytesSent += UInt64(length)
        return Transmission(
            source: path.base, destination: path.destination, transport: path.transport,
            isForRelay: path.envelope.isForRelay, byteCount: byteCount)
    }

    /// Builds a packet in place and protects it there; its length, or nil where it could not be made.
    private mutating func write(
        _ packet: PacedPacket, into memory: UnsafeMutableRawBufferPointer, now: Instant
    ) -> Int? {
        let number = bandwidth.transportSequenceNumber
        let media = packet.media
        var writer = ByteWriter(memory.mutableBytes)
        do {
            switch packet {
            case .sound(let frame, _):
                try outbound[media].audio?.write(
                    frame, to: &writer, transportSequenceNumber: &bandwidth.transportSequenceNumber, now: now)
            case .picture(let frame, _, let fragment, let group):
                try outbound[media].video?.writeMedia(
                    frame, fragment: Int(fragment), group: group, to: &writer,
                    transportSequenceNumber: &bandwidth.transportSequenceNumber, now: now)
                if !bandwidth.pacer.allowsPadding, outbound[media].video?.canPad == true {
                    bandwidth.pacer.allowsPadding = true
                }
            case .correction(_, let index):
                guard outbound[media].video?.hasCorrection(Int(index)) == true else { return nil }
                try outbound[media].video?.writeCorrection(
                    Int(index), to: &writer, transportSequenceNumber: &bandwidth.transportSequenceNumber, now: now)
            case .retransmission(_, let sequenceNumber, _):
                guard let sent = outbound[media].video?.history.packet(sequenceNumber) else { return nil }
                try outbound[media].video?.writeRetransmission(
                    of: sent, sequenceNumber: sequenceNumber, to: &writer,
                    transportSequenceNumber: &bandwidth.transportSequenceNumber, now: now)
            }
            let length = try transport.outbound?.protectRTP(memory, count: writer.offset)
            if let length {
                bandwidth.packetSent(before: number, size: length + path.overhead, now: now)
                if case .retransmission = packet { bandwidth.countRetransmission(length) }
                let delay = bandwidth.pacer.lastSendDelay
                // Of the two senders there is one.
                outbound[media].video?.stream.statistics.totalPacketSendDelay += delay
                outbound[media].audio?.stream.statistics.totalPacketSendDelay += delay
            }
            return length
        } catch {
            // The payload's limit leaves room for every header and tag, unless a caller cut its packets larger.
            return nil
        }
    }
}

extension UnsafeMutableRawBufferPointer {
    /// The part of this memory that is left for a packet; nil where none is.
    fileprivate func inside(_ envelope: Envelope) -> UnsafeMutableRawBufferPointer? {
        let end = count - envelope.suffixByteCount
        guard envelope.prefixByteCount <= end else { return nil }
        return UnsafeMutableRawBufferPointer(rebasing: self[envelope.prefixByteCount..<end])
    }

    /// Copies bytes to the start of this memory; their count, or nil where they don't fit.
    fileprivate func copy(_ bytes: [UInt8]) -> Int? {
        guard bytes.count <= count else { return nil }
        copyBytes(from: bytes)
        return bytes.count
    }
}
