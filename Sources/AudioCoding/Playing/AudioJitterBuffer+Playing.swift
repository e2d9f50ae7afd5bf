internal import RTCShareMedia

extension AudioJitterBuffer {
    /// Returns the step at `position`, which is due.
    mutating func nextStep() -> Step {
        cutExcess()
        while let first = packets.first {
            resolveUnderrun(first)
            if first.timestamp > position { return stepBefore(first) }
            packets.removeFirst()
            // A packet can overlap with the concealment that replaced it.
            let overlap = position - first.timestamp
            guard overlap == 0 || delay + overlap <= target + Self.tolerance else {
                statistics.packetsDiscarded += 1
                continue
            }
            statistics.insertedSamplesForDeceleration += Int(overlap)
            position = first.timestamp
            return play(first)
        }
        return stepWithoutPackets()
    }

    /// Skips the audio of a time in which the caller was absent.
    mutating func catchUp(to now: Int64) {
        position += now - due
        due = now
        dropPackets(endingBy: position)
        underrun = nil
    }

    private mutating func play(_ packet: Packet) -> Step {
        lastSequence = packet.sequenceNumber
        lastSampleCount = packet.sampleCount
        concealedRun = 0
        isLossCounted = false
        let count = Int(packet.sampleCount)
        statistics.totalSamplesReceived += count
        statistics.jitterBufferEmittedCount += count
        statistics.jitterBufferDelay += Self.duration(max(0, due - packet.arrival)) * count
        statistics.jitterBufferTargetDelay += Self.duration(target) * count
        advance(packet.sampleCount)
        return .packet(payload: packet.payload, sampleCount: count)
    }

    private mutating func stepBefore(_ next: Packet) -> Step {
        guard let last = lastSequence, next.sequenceNumber != last + 1 else { return stepInPause(before: next) }
        let gap = next.timestamp - position
        guard next.repeatsLast, gap == next.sampleCount else {
            if !isLossCounted { statistics.concealmentEvents += 1 }
            isLossCounted = true
            let mendable = next.repeatsLast && gap > next.sampleCount ? next.sampleCount : 0
            return conceal(min(slot, gap - mendable), isPause: false)
        }
        statistics.totalSamplesReceived += Int(gap)
        concealedRun = 0
        advance(gap)
        return .recover(from: next.payload, sampleCount: Int(gap))
    }

    /// Handles a pause of the sender, whose length can be changed slightly without an audible effect.
    private mutating func stepInPause(before next: Packet) -> Step {
        let surplus = delay - target
        if surplus >= 240 {
            let skipped = min(surplus, next.timestamp - position)
            position += skipped
            statistics.removedSamplesForAcceleration += Int(skipped)
            if position == next.timestamp {
                packets.removeFirst()
                return play(next)
            }
        } else if surplus <= -240 {
            position += surplus
            statistics.insertedSamplesForDeceleration += Int(-surplus)
        }
        return conceal(min(slot, next.timestamp - position), isPause: true)
    }

    private mutating func stepWithoutPackets() -> Step {
        var state = underrun ?? (position: position, end: position, concealed: 0)
        let silentBefore = statistics.silentConcealedSamples
        let step = conceal(slot, isPause: false)
        if statistics.silentConcealedSamples == silentBefore { state.concealed += Int(slot) }
        state.end = position
        underrun = state
        return step
    }

    /// Determines with the next packet whether the underrun was a pause of the sender.
    private mutating func resolveUnderrun(_ next: Packet) {
        guard let state = underrun else { return }
        underrun = nil
        if let last = lastSequence, next.sequenceNumber == last + 1, next.timestamp >= state.end {
            statistics.silentConcealedSamples += state.concealed
        } else {
            statistics.concealmentEvents += 1
            isLossCounted = true
        }
    }

    private var slot: Int64 { min(lastSampleCount, 960) }

    private mutating func conceal(_ count: Int64, isPause: Bool) -> Step {
        concealedRun += count
        let isTooLong = concealedRun > Self.largestConcealment
        statistics.totalSamplesReceived += Int(count)
        statistics.concealedSamples += Int(count)
        if isPause || isTooLong { statistics.silentConcealedSamples += Int(count) }
        advance(count)
        return isTooLong ? .silence(sampleCount: Int(count)) : .conceal(sampleCount: Int(count))
    }

    private mutating func advance(_ count: Int64) {
        isPlaying = true
        stepTimestamp = position
        stepDue = due
        position += count
        due += count
    }

    /// Drops the oldest packets after a burst of delayed packets, when the delay is far too long.
    private mutating func cutExcess() {
        guard delay > target + Self.largestSurplus, !packets.isEmpty else { return }
        let wanted = position + delay - target
        dropPackets(endingBy: wanted)
        position = max(position, min(wanted, packets.first?.timestamp ?? wanted))
    }

    private mutating func dropPackets(endingBy end: Int64) {
        let count = packets.prefix { $0.timestamp + $0.sampleCount <= end }.count
        guard count > 0 else { return }
        lastSequence = packets[count - 1].sequenceNumber
        packets.removeFirst(count)
        statistics.packetsDiscarded += count
    }
}
