internal import RTCShareCSndFile

/// Writes a WAVE file of 16-bit samples. Used from one thread at a time.
///
/// The header is brought up to date with each write, so that the file can be played even if the process is killed.
package final class WAVWriter {
    /// The file's path, as it was given.
    package let path: String
    /// Samples a second, a channel.
    package let sampleRate: Int
    /// How many channels the samples are interleaved of.
    package let channels: Int
    /// The samples a channel written so far.
    package private(set) var frameCount = 0
    private let file: SoundFile
    private let largestData: Int
    private var clipped: [Float] = []

    /// Makes the file, or empties the one that is there.
    package convenience init(path: String, sampleRate: Int, channels: Int) throws(AudioFileError) {
        // The header's sizes have 32 bits, and count what surrounds the samples too.
        try self.init(path: path, sampleRate: sampleRate, channels: channels, largestData: Int(UInt32.max) - 4096)
    }

    init(path: String, sampleRate: Int, channels: Int, largestData: Int) throws(AudioFileError) {
        guard (1...64).contains(channels) else {
            throw .unsuitableFormat(path: path, reason: "\(channels) channels are asked for, and 1 to 64 can be")
        }
        guard Resampler.sampleRates.contains(sampleRate) else {
            throw .unsuitableFormat(path: path, reason: "\(sampleRate) Hz are asked for, and 1000 to 768000 can be")
        }
        var format = SF_INFO()
        format.samplerate = Int32(clamping: sampleRate)
        format.channels = Int32(clamping: channels)
        format.format = Int32(SF_FORMAT_WAV | SF_FORMAT_PCM_16)
        file = try SoundFile(writing: path, format: format)
        file.turnOn(Int32(SFC_SET_UPDATE_HEADER_AUTO))
        file.updateHeader()
        self.path = path
        self.sampleRate = sampleRate
        self.channels = channels
        self.largestData = largestData
    }

    /// Appends interleaved samples, -1 to 1; what is beyond is cut, and what is no number is silence.
    package func write(_ samples: [Float]) throws(AudioFileError) {
        guard samples.count % channels == 0 else {
            throw .cannotWrite(
                path: path, reason: "\(samples.count) samples can't be shared out to \(channels) channels")
        }
        guard !samples.isEmpty else { return }
        let bytes = (frameCount * channels + samples.count) * 2
        guard bytes <= largestData else { throw .full(path: path, bytes: frameCount * channels * 2) }
        clipped.removeAll(keepingCapacity: true)
        clipped.append(contentsOf: samples.lazy.map { $0.isNaN ? 0 : min(max($0, -1), 1) })
        try file.write(clipped)
        frameCount += samples.count / channels
    }

    /// Ends the file. Does nothing the second time; after it nothing can be written.
    package func close() throws(AudioFileError) {
        try file.close()
    }
}
