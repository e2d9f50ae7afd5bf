package import RTCShareWireFormat

/// Combines packets that were sent within 5 ms into groups, and computes how the spacing of two groups changed on the
/// path.
///
/// Source: libwebrtc, `goog_cc/inter_arrival_delta`; draft-ietf-rmcat-gcc-02 5.2 (arrival-time model, pre-filtering).
/// Deviations: none in the arithmetic. Times are in nanoseconds instead of whole milliseconds.
package struct InterArrivalDelta: Sendable {
    /// The difference between a group of packets and the previous group.
    package struct Delta: Hashable, Sendable {
        /// The time between the sending of the groups' last packets; positive.
        package let send: Duration
        /// The time between the arrivals of the groups' last packets; not negative.
        package let arrival: Duration
        /// The size of the later group minus that of the earlier one, in bytes.
        package let size: Int

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

    /// The time since a group's first packet within which sent packets belong to the group.
    package static let groupLength = Duration.milliseconds(5)
    /// The excess of the arrival difference over the feedback difference that indicates a jump of the receiver's clock.
    package static let clockJump = Duration.seconds(3)
    /// The number of consecutive groups that arrive before their predecessor until the state is reset.
    package static let reorderedGroupLimit = 3
    private static let burstGap = Duration.milliseconds(5)
    private static let burstLength = Duration.milliseconds(100)

    private var current: Group?
    private var previous: Group?
    private var reorderedGroups = 0

    /// Creates a state without groups.
    package init() {}

    /// Processes a packet that arrived. Call it in order of arrival.
    ///
    /// - Parameters:
    /// - sent: The time of sending.
    /// - arrival: The time of arrival on the receiver's clock.
    /// - feedbackTime: The arrival time of the feedback on the sender's clock.
    /// - size: The packet's size in bytes.
    /// - Returns: The difference of the two previous groups if this packet starts a new group; nil otherwise.
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
        // The packet was overtaken by a packet of a later group, so that its spacing is meaningless.
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

    /// Returns the difference of two complete groups. It is nil, with a possible reset, if a clock jumped or the order
    /// is wrong.
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
        // In a burst, a queue releases packets closer together than they were sent.
        let arrivalGap = arrival - group.lastArrival
        let isBurst =
            arrivalGap < sendGap && arrivalGap <= Self.burstGap && arrival - group.firstArrival < Self.burstLength
        return !isBurst && sent - group.firstSent > Self.groupLength
    }
}
