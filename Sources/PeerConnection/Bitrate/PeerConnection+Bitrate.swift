internal import RTCShareCongestionControl
internal import RTCShareICE
internal import RTCShareRTP
internal import RTCShareSDP
internal import RTCShareSecureTransport
package import RTCShareWireFormat

/// The bitrate of each media.
extension PeerConnection {
    /// Sets the demand of a media's encoder; ``BitrateDemand/zero`` while it has nothing to send. Without a call, video
    /// uses all of its allocation, and audio the bitrates that Opus supports. An unknown index has no effect.
    package mutating func setDemand(_ demand: BitrateDemand, media: Int, now: Instant) {
        guard !state.isOver, outbound.indices.contains(media), outbound[media].target.demand != demand else {
            return
        }
        let before = maximumBitrateOfPath
        // The first target after a pause is reported, even if it is zero as in the pause: the encoder ignored that one.
        if outbound[media].target.demand?.maximum == .zero { outbound[media].target.clear() }
        outbound[media].target.demand = demand
        bandwidth.allocation.isDue = true
        let maximum = maximumBitrateOfPath
        // A layer that is paused can resume at any time.
        if demand.maximum > .zero, maximum != before { bandwidth.setMaximum(maximum, now: now) }
        allocateBitrate(now: now)
    }

    /// Sets the maximum bitrate of all media together, instead of ``Configuration/maximumBitrate``. A higher maximum
    /// causes probes.
    package mutating func setMaximumBitrate(_ rate: DataRate, now: Instant) {
        guard !state.isOver, configuration.maximumBitrate != rate else { return }
        configuration.maximumBitrate = rate
        bandwidth.setMaximum(maximumBitrateOfPath, now: now)
        for index in outbound.indices { outbound[index].video?.allow(maximumBitrate: rate) }
        advance(now: now)
    }

    /// The maximum bitrate with the further layers that the descriptions have, whose encoders can have more than usual.
    var maximumBitrateOfPath: DataRate {
        let layers = negotiated?.acceptedMedia.map(\.layers.count).max() ?? 0
        let demands = outbound.indices.filter { outbound[$0].isActive && !isLeading($0) }
            .compactMap { outbound[$0].target.demand?.maximum }
        return max(
            SimulcastLayer.bitrate(ofAll: layers, wanted: configuration.maximumBitrate),
            demands.reduce(configuration.maximumBitrate, +))
    }

    /// Returns the latest reported target of a media's encoder; nil before the connection is established, and if the
    /// media is not sent.
    package func targetBitrate(media: Int) -> BitrateTarget? {
        outbound.indices.contains(media) ? outbound[media].target.reported : nil
    }

    /// Processes the estimator, passes its rates and probes to the pacer, and reports changes to the encoders.
    mutating func applyBandwidth(now: Instant) {
        guard state.hasConnected else { return }
        if bandwidth.isDue(now: now) {
            let measured = path.reportedRoundTripTime == nil ? ice.agent.selectedRoundTripTime : nil
            bandwidth.process(roundTripTime: measured, now: now)
        }
        if let isSilent = bandwidth.silenceChange(now: now) { events.append(.feedbackStopped(isSilent)) }
        allocateBitrate(now: now)
        if bandwidth.pace(isNumbering: isNumbering, now: now) { allocateBitrate(now: now) }
    }

    /// Whether packets have transport-wide sequence numbers.
    private var isNumbering: Bool {
        outbound.indices.contains { outbound[$0].isActive && outbound[$0].isNumbering }
    }

    /// Returns the media for padding: the first one that is sent with RTX and has sent packets.
    func paddingMedia() -> Int? {
        outbound.indices.first { index in
            outbound[index].isActive && outbound[index].target.demand?.maximum != .zero
                && !isPausedByPeer(media: index) && outbound[index].video?.canPad == true
        }
    }

    /// Allocates the bitrate if necessary, and reports changes.
    mutating func allocateBitrate(now: Instant) {
        guard state.hasConnected else { return }
        let (rate, isQueueFull) = (bandwidth.mediaRate, bandwidth.pacer.isQueueFull)
        guard bandwidth.allocation.isStale(rate, isQueueFull: isQueueFull, now: now) else { return }
        if bandwidth.allocation.isDue || bandwidth.allocation.claims.count != outbound.count {
            let claims = outbound.indices.map { claim(ofMedia: $0) }
            bandwidth.allocation.claims = claims
            bandwidth.estimator.setAllocation(maximum: usableRate(claims), now: now)
        }
        let rates = bandwidth.allocation.divide(rate, isQueueFull: isQueueFull)
        for index in outbound.indices {
            guard outbound[index].isActive else {
                outbound[index].target.clear()
                continue
            }
            let share = bandwidth.allocation.claims[index] == nil ? .zero : rates[index]
            let target = giveShare(share, toMedia: index, isQueueFull: isQueueFull, now: now)
            switch outbound[index].target.take(target, now: now) {
            case .reported: events.append(.targetBitrateChanged(target, media: index))
            case .kept(let due?): bandwidth.allocation.postpone(until: due)
            case .kept: continue
            }
        }
    }

    /// Lets what protects and queues a media's packets follow its share of the bitrate, and returns its encoder's target.
    private mutating func giveShare(
        _ share: DataRate, toMedia index: Int, isQueueFull: Bool, now: Instant
    ) -> BitrateTarget {
        outbound[index].video?.protection?.policy.setRate(share)
        if negotiatedMedia(index)?.layers.isEmpty == false {
            outbound[index].video?.setLayerTarget(share, now: now)
            hasLayerQueues = true
        } else if hasLayerQueues {
            outbound[index].video?.endLayer()
        }
        let layerQueue = outbound[index].video?.layerQueue
        return BitrateTarget(
            bitrate: overhead(media: index).encoderRate(of: share),
            isQueueFull: outbound[index].video != nil && (isQueueFull || layerQueue?.isFull == true),
            roundTripTime: roundTripTime,
            fractionLost: outbound[index].stream?.reports.newest?.fractionLost ?? 0,
            pacingRate: min(bandwidth.pacingRate, layerQueue?.rate ?? bandwidth.pacingRate))
    }

    /// Returns the bitrate that all media together can use; nil if one of them is unknown, or if there is no demand.
    private func usableRate(_ claims: [BitrateAllocator.Claim?]) -> DataRate? {
        var sum = DataRate.zero
        for (index, claim) in claims.enumerated() {
            guard let claim else { continue }
            if outbound[index].target.demand == nil, outbound[index].video != nil { return nil }
            sum = .bitsPerSecond(sum.bitsPerSecond.saturatingSum(claim.maximum.bitsPerSecond))
        }
        return sum > .zero ? sum : nil
    }

    /// Returns the claim of a media on the wire; nil if it has no demand.
    private func claim(ofMedia index: Int) -> BitrateAllocator.Claim? {
        guard outbound[index].isActive else { return nil }
        let demand = demand(ofMedia: index)
        guard demand.maximum > .zero else { return nil }
        let overhead = overhead(media: index)
        // Below the next lower layer's bitrate, a better one is not worth its bits.
        let minimum = max(demand.minimum, min(lowerDemands(ofMedia: index).first ?? .zero, demand.maximum))
        return BitrateAllocator.Claim(
            minimum: overhead.wireRate(of: minimum), maximum: overhead.wireRate(of: demand.maximum),
            rank: rank(ofMedia: index), mayPause: mayPause(media: index),
            simulcast: identity.media[index].layer == nil ? nil : identity.layers(ofMedia: index)[0])
    }

    /// Returns the demands of the lower layers that are sent and whose encoders have told any, the next one first.
    private func lowerDemands(ofMedia index: Int) -> [DataRate] {
        guard identity.media[index].layer != nil else { return [] }
        return identity.layers(ofMedia: index)
            .filter { $0 > index && outbound[$0].isActive && outbound[$0].target.demand != nil }
            .map { demand(ofMedia: $0).maximum }.filter { $0 > .zero }
    }

    /// Whether the peer has requested a limit that leaves nothing for the encoder (RFC 5104 §4.2).
    func isPausedByPeer(media index: Int) -> Bool {
        outbound[index].requestedLimit.map { overhead(media: index).encoderRate(of: $0.bitrate) == .zero } ?? false
    }

    private func demand(ofMedia index: Int) -> BitrateDemand {
        let kind = identity.media[index].kind
        let layer = SimulcastLayer(index - identity.layers(ofMedia: index)[0])
        var demand =
            outbound[index].target.demand
            ?? (kind.isVideo
                ? BitrateDemand(
                    minimum: .kilobitsPerSecond(30),
                    maximum: layer.maximumBitrate(of: configuration.maximumBitrate),
                    priority: kind.isContent ? .medium : .low)
                : BitrateDemand(
                    minimum: .kilobitsPerSecond(kind.isContent ? 24 : 12),
                    maximum: .kilobitsPerSecond(kind.isContent ? 128 : 40), priority: kind.isContent ? .medium : .low))
        if let limit = mediaLimits(media: index).maximumBitrate { demand.maximum = min(demand.maximum, limit) }
        if let limit = outbound[index].requestedLimit {
            demand.maximum = min(demand.maximum, overhead(media: index).encoderRate(of: limit.bitrate))
        }
        let lower = lowerDemands(ofMedia: index)
        if let next = lower.first, let limit = negotiatedMedia(index)?.maximumRate {
            // The `b=` line of a section limits all its layers together, the lower ones last.
            let rest = DataRate.bitsPerSecond(limit.bitsPerSecond - lower.reduce(.zero, +).bitsPerSecond)
            if rest < min(next, demand.maximum) { return .zero }
            demand.maximum = min(demand.maximum, rest)
        }
        demand.minimum = min(demand.minimum, demand.maximum)
        return demand
    }

    /// Returns the rank: audio before all video, then by priority, then the lower layers of a simulcast before the better
    /// ones, so that these are paused first.
    private func rank(ofMedia index: Int) -> Int {
        let media = identity.media[index]
        let rank = demand(ofMedia: index).priority.rawValue + (media.kind.isVideo ? 0 : 10)
        return rank * Self.maximumMedia + (media.layer == nil ? 0 : index - identity.layers(ofMedia: index)[0])
    }

    /// Whether a video can be paused because another video has a higher priority, such as shared content next to a
    /// camera, or a lower layer next to a better one.
    private func mayPause(media index: Int) -> Bool {
        guard identity.media[index].kind.isVideo else { return false }
        return outbound.indices.contains { other in
            outbound[other].isActive && identity.media[other].kind.isVideo
                && rank(ofMedia: other) > rank(ofMedia: index)
                && demand(ofMedia: other).maximum > .zero
        }
    }

    private func overhead(media index: Int) -> PacketOverhead {
        PacketOverhead(
            path: path.overhead, cipher: transport.dtls?.profile?.rtpOverhead ?? 0,
            packetsPerSecond: outbound[index].video == nil ? outbound[index].audio?.packetsPerSecond ?? 50 : nil,
            protectionRatio: outbound[index].video?.protection?.policy.overhead ?? 0)
    }
}
