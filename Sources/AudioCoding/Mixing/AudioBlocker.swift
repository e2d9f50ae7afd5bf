package import RTCShareMedia

/// Splits an audio stream into blocks of one length, whatever the lengths of its frames are.
///
/// Each block's timestamp follows from the frame of its first sample, so that a device whose clock deviates from the
/// system's causes no drift.
package struct AudioBlocker: Sendable {
    /// A block and its relation to the previous one.
    package struct Block: Sendable, Hashable {
        /// The samples, exactly the requested number per channel.
        package let frame: AudioFrame
        /// Whether audio is missing before the block, or it is the first: its receiver must restart at its timestamp.
        package let startsAnew: Bool
    }

    /// The maximum distance of a frame from the end of the previous one. Beyond it, audio is missing.
    package static let largestGap: Duration = .milliseconds(60)

    /// The number of samples per channel in each block.
    package let sampleCount: Int
    /// The required number of channels.
    package let channels: Int
    /// The required sampling rate in Hz.
    package let sampleRate: Int
    /// The number of samples per channel that remained before a gap, too few for a block.
    package private(set) var droppedSampleCount = 0

    private var pending: [Float] = []
    /// The offset in `pending` of each frame's start, in samples per channel, and its timestamp. The first offset can
    /// be negative.
    private var marks: [(offset: Int, timestamp: Duration)] = []
    private var end: Duration?
    private var startsAnew = true

    /// Creates a blocker for blocks of `sampleCount` samples for each of `channels` channels, at least 1 of both.
    package init(sampleCount: Int, channels: Int, sampleRate: Int) {
        self.sampleCount = max(1, sampleCount)
        self.channels = max(1, channels)
        self.sampleRate = max(1, sampleRate)
    }

    /// Adds a frame and returns the complete blocks. Throws an error if its channels or rate differ.
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
        // The frame of the first remaining sample stays in the list, with its start before it.
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
