package import RTCShareMedia

/// Cuts a stream of sound into blocks of one length, whatever the lengths it comes in.
///
/// Each block's timestamp is taken from the frame that holds its first sample, so that a device whose clock is not quite
/// the system's does not drift away.
package struct AudioBlocker: Sendable {
    /// A block and how it follows the one before.
    package struct Block: Sendable, Hashable {
        /// Exactly as many samples a channel as asked for.
        package let frame: AudioFrame
        /// Sound is missing before it, or it is the first: what takes the blocks has to begin anew at its timestamp.
        package let startsAnew: Bool
    }

    /// A frame may be this much away from where the one before ended; beyond, sound is missing.
    package static let largestGap: Duration = .milliseconds(60)

    /// Samples a channel in each block.
    package let sampleCount: Int
    /// How many channels the frames must have.
    package let channels: Int
    /// The samples a second that the frames must have.
    package let sampleRate: Int
    /// Samples a channel that were left over before a gap, too few for a block.
    package private(set) var droppedSampleCount = 0

    private var pending: [Float] = []
    /// Where in `pending` a frame began, in samples a channel, and when that was. The first may lie before its start.
    private var marks: [(offset: Int, timestamp: Duration)] = []
    private var end: Duration?
    private var startsAnew = true

    /// Blocks of `sampleCount` samples for each of `channels` channels, at least 1 of both.
    package init(sampleCount: Int, channels: Int, sampleRate: Int) {
        self.sampleCount = max(1, sampleCount)
        self.channels = max(1, channels)
        self.sampleRate = max(1, sampleRate)
    }

    /// Takes a frame and gives the blocks that are full now. Throws where its channels or rate are others.
    package mutating func append(_ frame: AudioFrame) throws(AudioCodingError) -> [Block] {
        guard frame.channels == channels, frame.sampleRate == sampleRate else {
            throw .unexpectedFormat(
                channels: frame.channels, sampleRate: frame.sampleRate, expectedChannels: channels,
                expectedSampleRate: sampleRate)
        }
        guard frame.sampleCount > 0 else { return [] }
        if let end, abs(frame.timestamp - end) > Self.largestGap { restart() }
        marks.append((offset: pending.count / channels, timestamp: frame.timestamp))
        pending.append(contentsOf: frame.samples)
        end = frame.timestamp + frame.duration
        return cut()
    }

    private mutating func restart() {
        droppedSampleCount += pending.count / channels
        pending.removeAll(keepingCapacity: true)
        marks.removeAll(keepingCapacity: true)
        startsAnew = true
    }

    private mutating func cut() -> [Block] {
        let length = sampleCount * channels
        var blocks: [Block] = []
        var position = 0
        while pending.count - position >= length {
            let frame = AudioFrame(
                samples: Array(pending[position..<(position + length)]), channels: channels, sampleRate: sampleRate,
                timestamp: timestamp(at: position / channels))
            blocks.append(Block(frame: frame, startsAnew: startsAnew))
            startsAnew = false
            position += length
        }
        guard position > 0 else { return blocks }
        pending.removeFirst(position)
        let cut = position / channels
        // The frame that holds the first of what is left stays known, with its start before it.
        while marks.count > 1, marks[1].offset <= cut { marks.removeFirst() }
        for index in marks.indices { marks[index].offset -= cut }
        return blocks
    }

    private func timestamp(at offset: Int) -> Duration {
        guard let mark = marks.last(where: { $0.offset <= offset }) else { return end ?? .zero }
        return mark.timestamp + .nanoseconds(Int64(offset - mark.offset) * 1_000_000_000 / Int64(sampleRate))
    }
}

private func abs(_ duration: Duration) -> Duration {
    duration < .zero ? .zero - duration : duration
}
