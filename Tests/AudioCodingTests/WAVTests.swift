import Foundation
import Testing
import TestSupport

@testable import RTCShareAudioCoding

/// Writes WAVE files byte by byte, as RFC 2361 and Microsoft's description of the extensible form have it.
private enum WAVBytes {
    enum Format: Int, CaseIterable {
        case unsigned8, signed16, signed24, signed32, float32, float64

        var bytes: Int { [1, 2, 3, 4, 4, 8][rawValue] }
        var isFloat: Bool { self == .float32 || self == .float64 }

        /// One sample, little-endian, and what it is to be read as.
        func encode(_ value: Double) -> (bytes: [UInt8], expected: Float) {
            switch self {
            case .unsigned8:
                let integer = Int((value * 127).rounded())
                return ([UInt8(integer + 128)], Float(integer) / 128)
            case .signed16:
                let integer = Int16((value * 32_767).rounded())
                return (little(UInt64(UInt16(bitPattern: integer)), 2), Float(integer) / 32_768)
            case .signed24:
                let integer = Int32((value * 8_388_607).rounded())
                return (little(UInt64(UInt32(bitPattern: integer)), 3), Float(integer) / 8_388_608)
            case .signed32:
                let integer = Int32((value * 2_147_483_647).rounded())
                return (little(UInt64(UInt32(bitPattern: integer)), 4), Float(Double(integer) / 2_147_483_648))
            case .float32: return (little(UInt64(Float(value).bitPattern), 4), Float(value))
            case .float64: return (little(value.bitPattern, 8), Float(value))
            }
        }
    }

    static func little(_ value: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
    }

    static func file(
        _ format: Format, channels: Int, sampleRate: Int, samples: [Double], isExtensible: Bool = false
    ) -> [UInt8] {
        let data = samples.flatMap { format.encode($0).bytes }
        let tag: UInt64 = format.isFloat ? 3 : 1
        var description = little(isExtensible ? 0xFFFE : tag, 2) + little(UInt64(channels), 2)
        description += little(UInt64(sampleRate), 4) + little(UInt64(sampleRate * channels * format.bytes), 4)
        description += little(UInt64(channels * format.bytes), 2) + little(UInt64(format.bytes * 8), 2)
        if isExtensible {
            description += little(22, 2) + little(UInt64(format.bytes * 8), 2) + little(0, 4)
            description += little(tag, 4) + [0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71]
        }
        let padding = data.count % 2 == 1 ? [UInt8(0)] : []
        let body =
            Array("WAVEfmt ".utf8) + little(UInt64(description.count), 4) + description + Array("LIST".utf8)
            + little(4, 4) + Array("INFO".utf8) + Array("data".utf8) + little(UInt64(data.count), 4) + data + padding
        return Array("RIFF".utf8) + little(UInt64(body.count), 4) + body
    }
}

/// A folder of its own for a test, gone afterwards.
private final class Folder {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appending(path: "wav-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func write(_ bytes: [UInt8], to name: String = "sound.wav") throws -> String {
        try Data(bytes).write(to: URL(filePath: path + "/" + name))
        return path + "/" + name
    }
}

private func number(_ bytes: some Collection<UInt8>) -> Int {
    bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
}

@Suite("WAVE files")
struct WAVTests {
    private let values = [0, 1, -1, 0.5, -0.5, 0.123_456_789, -0.987_654_321, 0.001, -0.25, 0.75, 0.333, -0.666]

    @Test("Samples of every supported format are read exactly", arguments: WAVBytes.Format.allCases, [false, true])
    fileprivate func formats(format: WAVBytes.Format, isExtensible: Bool) throws {
        let folder = try Folder()
        for (channels, rate) in [(1, 8000), (2, 44_100), (3, 48_000), (6, 96_000), (2, 192_000)] {
            let path = try folder.write(
                WAVBytes.file(
                    format, channels: channels, sampleRate: rate, samples: values, isExtensible: isExtensible))
            let reader = try WAVReader(path: path)
            #expect(reader.channels == channels)
            #expect(reader.sampleRate == rate)
            #expect(reader.frameCount == values.count / channels)
            let expected = values.map { format.encode($0).expected }
            for _ in 0..<2 {
                var read: [Float] = []
                while true {
                    let block = try reader.read(frames: 3)
                    guard !block.isEmpty else { break }
                    read += block
                }
                #expect(read == expected)
                #expect(try reader.read(frames: 10).isEmpty)
                try reader.rewind()
            }
            #expect(try reader.read(frames: 0).isEmpty)
            #expect(try reader.read(frames: -1).isEmpty)
            #expect(try reader.read(frames: .max) == expected)
        }
    }

    @Test("The error for a file that is not WAVE names its path and a remedy")
    func refusals() throws {
        let folder = try Folder()
        let good = WAVBytes.file(.signed16, channels: 1, sampleRate: 48_000, samples: values)
        func failure(_ path: String) -> String {
            do throws(AudioFileError) {
                _ = try WAVReader(path: path)
                return "no error"
            } catch {
                return error.description
            }
        }
        #expect(
            failure(folder.path + "/missing.wav").contains("missing.wav: there is no such file"))
        #expect(failure(folder.path).contains("it is a directory"))
        #expect(failure("/dev/null").contains("it is not a regular file"))
        for bytes in [[], Array("RIFF".utf8), Array("hello, this is a text".utf8), [UInt8](repeating: 0, count: 5000)] {
            let said = failure(try folder.write(bytes, to: "other.wav"))
            #expect(said.contains("other.wav is not a WAVE file") || said.contains("can't read"))
            #expect(said.contains("ffmpeg -i"))
        }
        // Sun's format, which libsndfile reads too.
        let sun = Array(".snd".utf8) + [0, 0, 0, 24, 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0x1F, 0x40, 0, 0, 0, 1, 0, 1, 0, 2]
        #expect(
            failure(try folder.write(sun, to: "sun.au")).contains("is not a WAVE file, but another kind of audio file"))
        var slow = good
        slow.replaceSubrange(24..<28, with: WAVBytes.little(10, 4))
        #expect(failure(try folder.write(slow, to: "slow.wav")).contains("it has 10 Hz, and 1000 to 768000 can be"))
        #expect(failure(try folder.write(good)) == "no error")
    }

    @Test("A truncated or damaged file is read as far as possible or is an error")
    func damage() throws {
        let folder = try Folder()
        let good = WAVBytes.file(.signed24, channels: 2, sampleRate: 44_100, samples: values, isExtensible: true)
        func readAll(_ bytes: [UInt8]) throws {
            guard let reader = try? WAVReader(path: try folder.write(bytes)) else { return }
            for _ in 0..<100 {
                guard let block = try? reader.read(frames: 64), !block.isEmpty else { return }
                #expect(block.count % reader.channels == 0)
            }
        }
        for length in good.indices { try readAll(Array(good.prefix(length))) }
        for index in good.indices {
            for value: UInt8 in [0, 0x7F, 0xFF] {
                var bad = good
                bad[index] = value
                try readAll(bad)
            }
        }
    }
}
