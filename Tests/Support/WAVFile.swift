internal import Foundation

/// WAVE files of 16-bit samples.
package enum WAVFile {
    /// Writes interleaved samples, -1 to 1.
    package static func write(_ samples: [Float], sampleRate: Int, channels: Int, to path: String) throws {
        var body = Data("WAVEfmt ".utf8)
        body.append(littleEndian: [16] as [UInt32])
        body.append(littleEndian: [1, UInt16(channels)])
        body.append(littleEndian: [sampleRate, sampleRate * channels * 2].map(UInt32.init))
        body.append(littleEndian: [UInt16(channels * 2), 16])
        body += Data("data".utf8)
        body.append(littleEndian: [UInt32(samples.count * 2)])
        body.append(littleEndian: samples.map { Int16(min(max(($0 * 32_768).rounded(), -32_768), 32_767)) })
        var bytes = Data("RIFF".utf8)
        bytes.append(littleEndian: [UInt32(body.count)])
        try (bytes + body).write(to: URL(fileURLWithPath: path))
    }
}
