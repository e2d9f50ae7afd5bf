internal import RTCShareRTP
internal import RTCShareWireFormat

/// Maps a stream's packets to sequence numbers and timestamps that never wrap and that continue when the sender
/// restarts, and detects duplicates.
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
    /// The received numbers, from the newest (the lowest bit) down.
    private var seen: UInt128 = 0

    init(clockRate: Int) {
        self.clockRate = max(1, clockRate)
    }

    /// Handles a restart: the next packet's numbers are unrelated to the former ones.
    mutating func restart() {
        numbers = SerialNumberUnwrapper()
        timestamps = SerialNumberUnwrapper()
        isRestarting = newest != nil
        // New numbers before the first packet would collide with former ones.
        seen = newest == nil ? 0 : .max
    }

    /// Returns the position of a packet; nil for a duplicate, or for a packet that is too old to be distinguished from
    /// one.
    ///
    /// A timestamp that deviates by more than ``MediaClock/tolerance`` from the arrivals is from a reset clock: a
    /// listener who waited for it could wait for hours.
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
            // A shift by the width or more results in zero, as required.
            seen = seen << (number - newest) | 1
            return true
        }
        let bit: UInt128 = 1 << (newest - number)
        guard bit != 0, seen & bit == 0 else { return false }
        seen |= bit
        return true
    }
}
