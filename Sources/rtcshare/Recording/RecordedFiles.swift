internal import RTCShareAudioCoding
internal import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareVideoCoding
internal import RTCShareWireFormat

/// An IVF file that begins with the first frame that can be decoded on its own, whose size its header needs.
final class PictureRecording {
    let path: String
    /// When the recording began, told the time of what is written.
    private let start: @Sendable (Duration) -> Duration
    private var writer: IVFWriter?

    init(path: String, start: @escaping @Sendable (Duration) -> Duration) {
        self.path = path
        self.start = start
    }

    func write(_ frame: AssembledFrame) throws {
        let time = Duration.nanoseconds(frame.completion.nanoseconds)
        if writer == nil {
            guard let size = frame.size else { return }
            writer = try IVFWriter(
                path: path, size: PixelSize(width: size.width, height: size.height), start: start(time))
        }
        try writer?.write(frame.data, timestamp: time)
    }

    /// Whether anything came for it.
    var hasFile: Bool { writer != nil }

    func close() throws { try writer?.close() }
}

/// A WAV file that begins with the recording, whenever its sound does.
final class SoundRecording {
    let path: String
    private let start: @Sendable (Duration) -> Duration
    private var writer: WAVWriter?
    /// The end of what is written, since the recording's start, in samples a channel.
    private var written = 0
    private static let sampleRate = 48_000
    private static let channels = 2
    /// What playout shifts sound by is no gap.
    private static let tolerance = sampleRate / 10

    init(path: String, start: @escaping @Sendable (Duration) -> Duration) {
        self.path = path
        self.start = start
    }

    func write(_ frame: AudioFrame) throws {
        let writer = try writer ?? WAVWriter(path: path, sampleRate: Self.sampleRate, channels: Self.channels)
        self.writer = writer
        let place = Int((frame.timestamp - start(frame.timestamp)) / .seconds(1) * Double(Self.sampleRate))
        if place > written + Self.tolerance { try writeSilence(until: place, to: writer) }
        let stereo = frame.mixed(toChannels: Self.channels)
        try writer.write(stereo.samples)
        written += stereo.sampleCount
    }

    /// A second at a time: a pause of an hour is no reason to hold an hour of silence in memory.
    private func writeSilence(until place: Int, to writer: WAVWriter) throws {
        while written < place {
            let count = min(place - written, Self.sampleRate)
            try writer.write([Float](repeating: 0, count: count * Self.channels))
            written += count
        }
    }

    /// Whether anything came for it.
    var hasFile: Bool { writer != nil }

    func close() throws { try writer?.close() }
}
