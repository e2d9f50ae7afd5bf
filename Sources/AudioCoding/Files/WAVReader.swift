internal import RTCShareCSndFile

/// Reads a WAVE file of any rate and number of channels: 8, 16, 24 or 32 bit and float, plain or extensible, and RF64.
///
/// Used from one thread at a time.
package final class WAVReader {
    /// The file's path, as it was given.
    package let path: String
    /// Samples a second, a channel.
    package let sampleRate: Int
    /// How many channels the samples are interleaved of.
    package let channels: Int
    /// The samples a channel that the file's header announces.
    package let frameCount: Int
    private let file: SoundFile

    /// The most samples a channel that one call reads.
    private static let largestRead = 1 << 20

    /// Opens the file.
    package init(path: String) throws(AudioFileError) {
        let file = try SoundFile(reading: path)
        let info = file.info
        let kinds = [SF_FORMAT_WAV, SF_FORMAT_WAVEX, SF_FORMAT_RF64]
        guard kinds.contains(Int(info.format) & SF_FORMAT_TYPEMASK) else {
            throw .notWAVE(path: path, found: "another kind of audio file")
        }
        guard (1...64).contains(info.channels) else {
            throw .unsuitableFormat(path: path, reason: "it has \(info.channels) channels, and 1 to 64 can be")
        }
        guard Resampler.sampleRates.contains(Int(info.samplerate)) else {
            throw .unsuitableFormat(path: path, reason: "it has \(info.samplerate) Hz, and 1000 to 768000 can be")
        }
        self.path = path
        self.file = file
        sampleRate = Int(info.samplerate)
        channels = Int(info.channels)
        frameCount = max(0, Int(info.frames))
    }

    /// The next samples, interleaved, -1 to 1 where the file holds integers: at most `frames` a channel (and a million),
    /// fewer before the end, and none at the end.
    package func read(frames: Int) throws(AudioFileError) -> [Float] {
        guard frames > 0 else { return [] }
        return try file.read(frames: min(frames, Self.largestRead))
    }

    /// Goes back to the first sample.
    package func rewind() throws(AudioFileError) {
        try file.rewind()
    }
}
