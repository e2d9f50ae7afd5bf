internal import RTCShareRTP
internal import RTCShareWireFormat

/// Places a stream's packets on one line of numbers and one of samples that never wrap and that go on where the sender
/// begins anew, and knows packets that came before.
struct AudioTimeline: Sendable {
    struct Position: Hashable, Sendable {
        var number: Int64
        var timestamp: Int64
    }

    private struct Newest: Sendable {
        var position: Position
        var sampleCount: Int
        var arrival: Instant
    }

    private let clockRate: Int
    private var numbers = SerialNumberUnwrapper<SequenceNumber>()
    private var timestamps = SerialNumberUnwrapper<RTPTimestamp>()
    private var offset = Position(number: 0, timestamp: 0)
    private var newest: Newest?
    private var isRestarting = false
    /// The numbers that came, from the newest (the lowest bit) down.
    private var seen: UInt128 = 0

    init(clockRate: Int) {
        self.clockRate = max(1, clockRate)
    }

    /// The next packet's numbers have nothing to do with those before it.
    mutating func restart() {
        numbers = SerialNumberUnwrapper()
        timestamps = SerialNumberUnwrapper()
        isRestarting = newest != nil
        // What the new numbering has before its first packet would fall on numbers that are taken.
        seen = newest == nil ? 0 : .max
    }

    /// Where a packet belongs; nil for one that came before, or is further behind than is kept in mind.
    ///
    /// A timestamp that is further off than ``MediaClock/tolerance`` from what the arrivals say is of a clock that was
    /// set anew: a listener who waited for it to come round might wait for hours.
    mutating func position(
        _ number: SequenceNumber, timestamp: RTPTimestamp, sampleCount: Int, now: Instant
    ) -> Position? {
        var raw = Position(number: numbers.unwrap(number), timestamp: timestamps.peek(timestamp))
        if let newest {
            let expected = newest.position.timestamp + elapsedTicks(since: newest, now: now)
            if isRestarting { offset.number = newest.position.number + 1 - raw.number }
            if isRestarting || (raw.timestamp + offset.timestamp - expected).magnitude > tolerance {
                guard raw.number + offset.number > newest.position.number else { return nil }
                timestamps = SerialNumberUnwrapper()
                raw.timestamp = timestamps.peek(timestamp)
                offset.timestamp = max(expected, newest.position.timestamp + Int64(newest.sampleCount)) - raw.timestamp
                isRestarting = false
            }
        }
        _ = timestamps.unwrap(timestamp)
        let position = Position(number: raw.number + offset.number, timestamp: raw.timestamp + offset.timestamp)
        guard isFirstCopy(position.number) else { return nil }
        if position.number > newest?.position.number ?? .min {
            newest = Newest(position: position, sampleCount: sampleCount, arrival: now)
        }
        return position
    }

    private var tolerance: UInt64 { UInt64(MediaClock.tolerance.seconds * Double(clockRate)) }

    private func elapsedTicks(since newest: Newest, now: Instant) -> Int64 {
        (now - newest.arrival).wholeNanoseconds / 1000 * Int64(clockRate) / 1_000_000
    }

    private mutating func isFirstCopy(_ number: Int64) -> Bool {
        guard let newest = newest?.position.number else {
            seen = 1
            return true
        }
        if number > newest {
            // A shift by the width or more leaves nothing, as it should.
            seen = seen << (number - newest) | 1
            return true
        }
        let bit: UInt128 = 1 << (newest - number)
        guard bit != 0, seen & bit == 0 else { return false }
        seen |= bit
        return true
    }
}
