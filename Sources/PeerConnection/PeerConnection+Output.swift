internal import RTCShareCongestionControl
internal import RTCShareICE
package import RTCShareRTP
internal import RTCShareSecureTransport
package import RTCShareWireFormat

extension PeerConnection {
    /// Queues the packets of a frame. A frame that the peer can't receive is counted and dropped, and the event
    /// ``Event/keyFrameRequested(media:)`` follows if a key frame would help.
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
        releaseLayers(now: now)
        passOnKeyFrameRequests()
        // A frame can fill the queue, which its encoder must learn before the next one. This also processes the
        // estimator, and saves a timeout for it.
        applyBandwidth(now: now)
    }

    /// Queues packets of padding for the better layers of a simulcast that have been silent for a while, before a packet of
    /// this one. A screen often rests, and then the smallest layer's packet is the first. Janus would take the silence of
    /// the others for a lack of bitrate, show this layer instead, and request key frames of all.
    private mutating func keepLayersAlive(above media: Int, now: Instant) {
        guard identity.media[media].layer != nil else { return }
        for index in identity.layers(ofMedia: media) where index < media && outbound[index].isActive {
            guard let rate = outbound[index].target.reported?.bitrate, rate > .zero else { continue }
            outbound[index].video?.enqueueKeepalive(as: index, to: &bandwidth.pacer, now: now)
        }
    }

    /// Moves the packets of layers that are due into the pacer's queue.
    mutating func releaseLayers(now: Instant) {
        guard hasLayerQueues else { return }
        for index in outbound.indices {
            while let next = outbound[index].video?.layerQueue?.pop(now: now) {
                keepLayersAlive(above: index, now: now)
                bandwidth.pacer.enqueue(next.packet, size: next.size, priority: .video, now: next.queued)
            }
            guard let isFull = outbound[index].video?.layerQueue?.isFull, let reported = outbound[index].target.reported
            else { continue }
            if reported.isQueueFull != (isFull || bandwidth.pacer.isQueueFull) { bandwidth.allocation.isDue = true }
        }
    }

    /// Sends audio before all video. Audio that the peer can't receive is counted and dropped.
    package mutating func send(_ frame: EncodedAudioFrame, media: Int, now: Instant) {
        // Audio that waits for a stream would be late, and delay everything after it.
        let isLate = path.isFull && bandwidth.pacer.soundDelay(now: now) > Self.longestSoundDelay
        guard takesFrames, isSending(media: media), outbound[media].audio != nil, !isLate
        else {
            counts.framesDroppedBeforeConnection += 1
            return
        }
        outbound[media].audio?.enqueue(frame, as: media, to: &bandwidth.pacer, now: now)
    }

    /// The time for which audio waits for a full stream before it is dropped.
    private static var longestSoundDelay: Duration { .milliseconds(400) }

    /// Reports pending requests for key frames.
    mutating func passOnKeyFrameRequests() {
        for index in outbound.indices where outbound[index].video?.keyFrameRequests.take() == true {
            events.append(.keyFrameRequested(media: index))
        }
    }

    /// Requests a key frame from the peer because its video can't be decoded.
    package mutating func requestKeyFrame(ofReceiver index: Int, now: Instant) {
        receivers.requestKeyFrame(of: index, now: now)
        advance(now: now)
    }

    /// Whether packets of a frame are queued.
    package var hasQueuedPackets: Bool {
        bandwidth.pacer.queuedPackets > 0 || outbound.contains { $0.video?.layerQueue?.isEmpty == false }
    }

    /// Writes the next datagram into `memory`, or returns nil. 1280 bytes are sufficient for any datagram.
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
        guard canSend, !path.isFull else { return nil }
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

    /// Writes a packet of padding if the pacer needs one; nil if it needs none, or there is no packet to make it of.
    private mutating func writePadding(into memory: UnsafeMutableRawBufferPointer, now: Instant) -> Int? {
        guard let wanted = bandwidth.pacer.paddingWanted(now: now) else { return nil }
        guard let media = paddingMedia() else {
            // No padding is possible until media are sent again.
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

    /// Writes the next message of ICE to the peer or to a server.
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

    /// Writes the messages that release relayed addresses, after all goodbyes.
    private mutating func pollGoodbye(into memory: UnsafeMutableRawBufferPointer, now: Instant) -> Transmission? {
        ice.agent.close(now: now)
        return pollAgent(into: memory)
    }

    /// Whether a packet can be sent: its source has not ended, and a retransmission is still valid.
    private mutating func mayLeave(_ packet: PacedPacket, now: Instant) -> Bool {
        let isSending = isSending(media: packet.media)
        guard case .retransmission(_, let number, let isRepetition) = packet else { return isSending }
        return outbound[packet.media].video?.dequeue(number, isRepetition: isRepetition, now: now) == true && isSending
    }

    /// Returns the length. A packet that can't be written or protected is counted, and does not delay others.
    private mutating func counted(_ length: Int?) -> Int? {
        if length == nil { counts.packetsUnsent += 1 }
        return length
    }

    /// Returns a written packet with its envelope. The envelope does not count in the statistics, as in webrtc-stats.
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

    /// Writes a packet and protects it in place. Returns its length; nil if that failed.
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
                let isWritten =
                    try outbound[media].video?.writeMedia(
                        frame, fragment: Int(fragment), group: group, to: &writer,
                        transportSequenceNumber: &bandwidth.transportSequenceNumber, now: now) ?? false
                guard isWritten else { return nil }
                if !bandwidth.pacer.allowsPadding, outbound[media].video?.canPad == true {
                    bandwidth.pacer.allowsPadding = true
                }
            case .correction(_, let index):
                guard outbound[media].video?.hasCorrection(Int(index)) == true else { return nil }
                try outbound[media].video?.writeCorrection(
                    Int(index), to: &writer, transportSequenceNumber: &bandwidth.transportSequenceNumber, now: now)
            case .keepalive:
                try outbound[media].video?.writeKeepalive(
                    to: &writer, transportSequenceNumber: &bandwidth.transportSequenceNumber, now: now)
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
                // Only one of the two senders exists.
                outbound[media].video?.stream.statistics.totalPacketSendDelay += delay
                outbound[media].audio?.stream.statistics.totalPacketSendDelay += delay
            }
            return length
        } catch {
            // The payload limit leaves room for all headers and tags, unless a caller uses larger packets.
            return nil
        }
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Returns the part of this memory for a packet in an envelope; nil if there is none.
    fileprivate func inside(_ envelope: Envelope) -> UnsafeMutableRawBufferPointer? {
        let end = count - envelope.suffixByteCount
        guard envelope.prefixByteCount <= end else { return nil }
        return UnsafeMutableRawBufferPointer(rebasing: self[envelope.prefixByteCount..<end])
    }

    /// Copies bytes to the start of this memory. Returns their number, or nil if they don't fit.
    fileprivate func copy(_ bytes: [UInt8]) -> Int? {
        guard bytes.count <= count else { return nil }
        copyBytes(from: bytes)
        return bytes.count
    }
}
