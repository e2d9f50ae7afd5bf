package import RTCShareWireFormat

/// Gathers packets that were sent within 5 ms into groups and tells how the spacing of two groups changed on the way.
///
/// Source: libwebrtc, `goog_cc/inter_arrival_delta`; draft-ietf-rmcat-gcc-02 5.2 (arrival-time model, pre-filtering).
/// Deviations: none in the arithmetic; times are nanoseconds and durations of any fineness, not whole milliseconds.
package struct InterArrivalDelta: Sendable {
    /// How a group of packets differs from the group before it.
    package struct Delta: Hashable, Sendable {
        /// Between the last packets of both as they were sent; positive.
        package let send: Duration
        /// Between the last packets of both as they arrived; not negative.
        package let arrival: Duration
        /// Bytes that the later group has more than the earlier one.
        package let size: Int

        /// A difference of these amounts.
        package init(send: Duration, arrival: Duration, size: Int) {
            self.send = send
            self.arrival = arrival
            self.size = size
        }
    }

    private struct Group: Sendable {
        let firstSent: Instant
        var lastSent: Instant
        let firstArrival: Duration
        var lastArrival: Duration
        var feedbackTime: Instant
        var size: Int
    }

    /// Packets sent within this time of a group's first one belong to the group.
    package static let groupLength = Duration.milliseconds(5)
    /// How much further apart than the feedback two groups may arrive before the receiver's clock counts as jumped.
    package static let clockJump = Duration.seconds(3)
    /// Groups in a row that arrive before their predecessor until all is forgotten.
    package static let reorderedGroupLimit = 3
    private static let burstGap = Duration.milliseconds(5)
    private static let burstLength = Duration.milliseconds(100)

    private var current: Group?
    private var previous: Group?
    private var reorderedGroups = 0

    /// No groups yet.
    package init() {}

    /// Takes a packet that arrived, in the order of arrival.
    ///
    /// - Parameters:
    ///   - sent: when it was sent.
    ///   - arrival: when it arrived, on the receiver's clock.
    ///   - feedbackTime: when the feedback that tells of it came in, on the sender's clock.
    ///   - size: its bytes.
    /// - Returns: the difference of the two groups before, where this packet begins a new one; nil otherwise.
    package mutating func receive(
        sent: Instant, arrival: Duration, feedbackTime: Instant, size: Int
    ) -> Delta? {
        let single = Group(
            firstSent: sent, lastSent: sent, firstArrival: arrival, lastArrival: arrival, feedbackTime: feedbackTime,
            size: size)
        guard var group = current else {
            current = single
            return nil
        }
        // Overtaken by a packet of a later group: its spacing says nothing.
        guard sent >= group.firstSent else { return nil }
        guard begins(sent: sent, arrival: arrival, after: group) else {
            group.lastSent = max(group.lastSent, sent)
            group.lastArrival = arrival
            group.feedbackTime = feedbackTime
            group.size += size
            current = group
            return nil
        }
        var delta: Delta?
        if let previous {
            guard let difference = difference(of: group, from: previous) else { return nil }
            delta = difference
        }
        previous = group
        current = single
        return delta
    }

    /// The difference of two whole groups; nil, and possibly a new beginning, where a clock or the order is off.
    private mutating func difference(of group: Group, from previous: Group) -> Delta? {
        let arrival = group.lastArrival - previous.lastArrival
        if arrival - (group.feedbackTime - previous.feedbackTime) >= Self.clockJump {
            self = InterArrivalDelta()
            return nil
        }
        guard arrival >= .zero else {
            reorderedGroups += 1
            if reorderedGroups >= Self.reorderedGroupLimit { self = InterArrivalDelta() }
            return nil
        }
        reorderedGroups = 0
        return Delta(send: group.lastSent - previous.lastSent, arrival: arrival, size: group.size - previous.size)
    }

    private func begins(sent: Instant, arrival: Duration, after group: Group) -> Bool {
        let sendGap = sent - group.lastSent
        if sendGap == .zero { return false }
        // A burst: a queue let go what had been sent apart, so that it came closer together than it left.
        let arrivalGap = arrival - group.lastArrival
        let isBurst =
            arrivalGap < sendGap && arrivalGap <= Self.burstGap && arrival - group.firstArrival < Self.burstLength
        return !isBurst && sent - group.firstSent > Self.groupLength
    }
}
