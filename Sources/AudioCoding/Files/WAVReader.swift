internal import RTCShareCSndFile

/// Reads a WAVE file of any sampling rate and number of channels: 8, 16, 24 or 32 bit and float, plain or extensible,
/// and RF64.
///
/// One thread at a time can use it.
package final class WAVReader {
    /// The path of the file.
    package let path: String
    /// The sampling rate in Hz.
    package let sampleRate: Int
    /// The number of interleaved channels.
    package let channels: Int
    /// The number of samples per channel in the file's header.
    package let frameCount: Int
    private let file: SoundFile

    /// The maximum number of samples per channel in one call.
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

    /// Returns the next samples, interleaved, from -1 to 1 if the file contains integers: at most `frames` per channel
    /// (and a million), fewer near the end, and none at the end.
    package func read(frames: Int) throws(AudioFileError) -> [Float] {
        guard frames > 0 else { return [] }
        return try file.read(frames: min(frames, Self.largestRead))
    }

    /// Returns to the first sample.
    package func rewind() throws(AudioFileError) {
        try file.rewind()
    }
}
