internal import RTCShareCongestionControl
internal import RTCShareICE
internal import RTCShareRTP
internal import RTCShareSDP
internal import RTCShareSecureTransport
package import RTCShareWireFormat

/// How much each media may send.
extension PeerConnection {
    /// Says what the encoder of a media could use; ``BitrateDemand/zero`` while it has nothing to send. Until it is said,
    /// pictures are taken to use all that they get, and sound what Opus is good for. An unknown index does nothing.
    package mutating func setDemand(_ demand: BitrateDemand, media: Int, now: Instant) {
        guard progress != .ended, outbound.indices.contains(media), outbound[media].demand != demand else { return }
        outbound[media].demand = demand
        bandwidth.isAllocationDue = true
        allocateBitrate(now: now)
    }

    /// Sets the most that all media together may take, in place of ``Configuration/maximumBitrate``. What is more than
    /// before is probed for.
    package mutating func setMaximumBitrate(_ rate: DataRate, now: Instant) {
        guard progress != .ended, configuration.maximumBitrate != rate else { return }
        configuration.maximumBitrate = rate
        bandwidth.setMaximum(rate, now: now)
        for index in outbound.indices { outbound[index].video?.allow(maximumBitrate: rate) }
        advance(now: now)
    }

    /// What a media's encoder may produce, as it was told last; nil before the connection stands, and where it is not
    /// sent.
    package func targetBitrate(media: Int) -> BitrateTarget? {
        outbound.indices.contains(media) ? outbound[media].target : nil
    }

    /// Does what is due in the estimator, passes its rates and probes on to the pacer, and what changed to the encoders.
    mutating func followBandwidth(now: Instant) {
        guard progress == .connected || progress == .disconnected else { return }
        if let due = bandwidth.estimator.nextDeadline, due <= now {
            bandwidth.estimator.setRemoteEstimate(remoteEstimate.estimate(now: now), now: now)
            if path.roundTripTime == nil, let trip = ice.agent.selectedRoundTripTime {
                bandwidth.estimator.setRoundTripTime(trip, now: now)
            }
            bandwidth.estimator.process(now: now)
            bandwidth.measureRetransmissions(now: now)
        }
        allocateBitrate(now: now)
        while let cluster = bandwidth.estimator.pollProbe() {
            // Without numbers nothing would come of it.
            if isNumbering { pacer.enqueue(cluster, now: now) }
        }
        let target = bandwidth.estimator.target
        let pacing = bandwidth.estimator.pacingRate
        var padding = bandwidth.estimator.paddingRate
        if padding > .zero, !isNumbering { padding = .zero }
        if let paced = bandwidth.paced, paced == (target, pacing, padding) { return }
        bandwidth.paced = (target, pacing, padding)
        pacer.setRates(target: target, pacing: pacing, padding: padding, now: now)
        allocateBitrate(now: now)
    }

    /// Whether packets have transport-wide numbers.
    private var isNumbering: Bool {
        outbound.indices.contains { outbound[$0].isActive && outbound[$0].isNumbering }
    }

    /// The media that padding is made of: the first of those that are sent over RTX and have been begun.
    func paddingMedia() -> Int? {
        outbound.indices.first { index in
            outbound[index].isActive && outbound[index].demand?.maximum != .zero
                && outbound[index].video?.canPad == true
        }
    }

    /// Takes note of a packet that leaves, of `length` bytes.
    mutating func noteSent(
        _ number: TransportSequenceNumber?, length: Int, now: Instant
    ) {
        let size = length + path.overhead
        if let number { sentPackets.packetSent(number, size: size, now: now) }
        bandwidth.estimator.packetSent(number: number, size: size, cluster: pacer.cluster, now: now)
    }

    /// A target that differs from what was told by no more than this share is not told.
    private static var toldChange: Double { 0.01 }
    /// A rise by no more than this share waits until ``refreshInterval`` has passed: an estimate that grows does so with
    /// every feedback, ten times a second, and whoever hears of it is woken for it.
    private static var toldRise: Double { 0.05 }

    /// Divides the rate where there is reason to, and tells what changed.
    mutating func allocateBitrate(now: Instant) {
        guard progress == .connected || progress == .disconnected else { return }
        let isQueueFull = pacer.isQueueFull
        if !bandwidth.isAllocationDue, let allocated = bandwidth.allocated, allocated.target == bandwidth.mediaRate,
            allocated.isQueueFull == isQueueFull, bandwidth.riseDue.map({ now < $0 }) ?? true
        {
            return
        }
        bandwidth.riseDue = nil
        // What they ask for changes seldom; what there is to divide, with every feedback.
        if bandwidth.claims.count != outbound.count { bandwidth.isAllocationDue = true }
        if bandwidth.isAllocationDue { bandwidth.claims = outbound.indices.map { claim(ofMedia: $0) } }
        let claims = bandwidth.claims
        bandwidth.allocated = (bandwidth.mediaRate, isQueueFull)
        let rates = bandwidth.allocator.allocate(bandwidth.mediaRate, among: claims)
        if bandwidth.isAllocationDue { bandwidth.estimator.setAllocation(maximum: usableRate(claims), now: now) }
        bandwidth.isAllocationDue = false
        for index in outbound.indices {
            guard outbound[index].isActive else {
                outbound[index].target = nil
                continue
            }
            let share = claims[index] == nil ? .zero : rates[index]
            tell(
                BitrateTarget(
                    bitrate: encoderRate(of: share, media: index),
                    isQueueFull: outbound[index].video != nil && isQueueFull,
                    roundTripTime: path.roundTripTime ?? ice.agent.selectedRoundTripTime,
                    fractionLost: outbound[index].stream?.reports.newest?.fractionLost ?? 0,
                    pacingRate: bandwidth.estimator.pacingRate),
                media: index, now: now)
        }
    }

    /// What all media together could use; nil where one has not said, and where none wants anything.
    private func usableRate(_ claims: [BitrateAllocator.Claim?]) -> DataRate? {
        var sum = DataRate.zero
        for (index, claim) in claims.enumerated() {
            guard let claim else { continue }
            if outbound[index].demand == nil, outbound[index].video != nil { return nil }
            sum = .bitsPerSecond(sum.bitsPerSecond.saturatingSum(claim.maximum.bitsPerSecond))
        }
        return sum > .zero ? sum : nil
    }

    /// Other delay or loss alone, and a small rise, are told no more often than this.
    private static var refreshInterval: Duration { .seconds(1) }

    private mutating func tell(_ target: BitrateTarget, media index: Int, now: Instant) {
        let refresh = outbound[index].targetTold?.advanced(by: Self.refreshInterval) ?? now
        if let told = outbound[index].target, told.isQueueFull == target.isQueueFull {
            let change = target.bitrate.change(from: told.bitrate)
            let isRise = change > Self.toldChange && change <= Self.toldRise
            if isRise, now < refresh { bandwidth.riseDue = min(bandwidth.riseDue ?? refresh, refresh) }
            let isTold = now < refresh ? abs(change) > Self.toldChange && !isRise : abs(change) > Self.toldChange
            guard isTold || now >= refresh && target.isPathNotablyOther(than: told) else { return }
        }
        outbound[index].target = target
        outbound[index].targetTold = now
        events.append(.targetBitrateChanged(target, media: index))
    }

    /// What a media takes on the wire; nil for nothing.
    private func claim(ofMedia index: Int) -> BitrateAllocator.Claim? {
        guard outbound[index].isActive else { return nil }
        let demand = demand(ofMedia: index)
        guard demand.maximum > .zero else { return nil }
        return BitrateAllocator.Claim(
            minimum: wireRate(of: demand.minimum, media: index), maximum: wireRate(of: demand.maximum, media: index),
            rank: rank(ofMedia: index), mayPause: mayPause(media: index))
    }

    private func demand(ofMedia index: Int) -> BitrateDemand {
        let kind = identity.media[index].kind
        var demand =
            outbound[index].demand
            ?? (kind.isVideo
                ? BitrateDemand(
                    minimum: .kilobitsPerSecond(30), maximum: configuration.maximumBitrate,
                    priority: kind.isContent ? .medium : .low)
                : BitrateDemand(
                    minimum: .kilobitsPerSecond(kind.isContent ? 24 : 12),
                    maximum: .kilobitsPerSecond(kind.isContent ? 128 : 40), priority: kind.isContent ? .medium : .low))
        if let limit = mediaLimits(media: index).maximumBitrate { demand.maximum = min(demand.maximum, limit) }
        demand.minimum = min(demand.minimum, demand.maximum)
        return demand
    }

    /// Sound before all pictures, then by priority.
    private func rank(ofMedia index: Int) -> Int {
        demand(ofMedia: index).priority.rawValue + (identity.media[index].kind.isVideo ? 0 : 10)
    }

    /// Pictures that others go before, such as a camera's beside what is shared.
    private func mayPause(media index: Int) -> Bool {
        guard identity.media[index].kind.isVideo else { return false }
        return outbound.indices.contains { other in
            outbound[other].isActive && identity.media[other].kind.isVideo
                && rank(ofMedia: other) > rank(ofMedia: index)
                && demand(ofMedia: other).maximum > .zero
        }
    }

    /// What is put around a payload on the wire: IP and UDP, the RTP header with the extensions that every packet has,
    /// the payload descriptor, and what SRTP adds.
    private func overhead(media index: Int) -> Int {
        let headers = path.overhead + RTPHeader.fixedByteCount + Self.extensionOverhead
        return headers + (transport.dtls?.profile?.rtpOverhead ?? 0)
            + (outbound[index].video == nil ? 0 : Self.descriptorOverhead)
    }

    /// A profile's four bytes, absolute send time and transport-wide sequence number, filled up.
    private static var extensionOverhead: Int { 12 }
    /// Of VP8 with a long picture id and the index of the base layer (RFC 7741 §4.2).
    private static var descriptorOverhead: Int { 6 }
    /// What a full packet of pictures carries.
    private static var fullPayload: Int { 1140 }
    /// What pictures are taken to come at, for packets that are not full.
    private static var framesPerSecond: Int { 15 }

    private func soundPacketsPerSecond(_ index: Int) -> Int {
        outbound[index].audio?.packetsPerSecond ?? 50
    }

    /// What the headers of an encoder's output take.
    private func overheadRate(of rate: DataRate, media index: Int) -> DataRate {
        let perPacket = overhead(media: index) * 8
        guard outbound[index].video != nil else {
            return .bitsPerSecond(perPacket * soundPacketsPerSecond(index))
        }
        let full = rate * (Double(perPacket) / Double(Self.fullPayload * 8))
        return max(full, .bitsPerSecond(perPacket * Self.framesPerSecond))
    }

    /// An encoder's rate with the headers.
    private func wireRate(of rate: DataRate, media index: Int) -> DataRate {
        .bitsPerSecond(rate.bitsPerSecond.saturatingSum(overheadRate(of: rate, media: index).bitsPerSecond))
    }

    /// What is left of a rate on the wire for the encoder: the inverse of ``wireRate(of:media:)``.
    private func encoderRate(of share: DataRate, media index: Int) -> DataRate {
        let share = share.bitsPerSecond
        let perPacket = Int64(overhead(media: index) * 8)
        guard outbound[index].video != nil else {
            return .bitsPerSecond(max(0, share - perPacket * Int64(soundPacketsPerSecond(index))))
        }
        let payload = Double(Self.fullPayload * 8)
        let full = Int64(Double(share) * payload / (payload + Double(perPacket)))
        return .bitsPerSecond(max(0, min(full, share - perPacket * Int64(Self.framesPerSecond))))
    }
}

extension DataRate {
    /// The share of `before` that was gained, below zero for what was lost; infinite where one of both is zero.
    fileprivate func change(from before: DataRate) -> Double {
        guard self != before else { return 0 }
        guard min(self, before) > .zero else { return .infinity }
        return Double(bitsPerSecond - before.bitsPerSecond) / Double(before.bitsPerSecond)
    }
}

extension Int64 {
    fileprivate func saturatingSum(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
