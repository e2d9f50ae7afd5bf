import Foundation
import RTCShareAudioCoding
import TestSupport
import Testing

/// FFmpeg's own Opus decoder (not libopus) and Python's `wave`, as those who don't share our mistakes.
private enum Judge {
    /// A Python with PyAV, which aiortc brings: `RTCSHARE_PYTHON`, the one that `.ci/run` makes, or `python3` in PATH.
    static let python: String? = {
        let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let environment = ProcessInfo.processInfo.environment
        let path = (environment["PATH"] ?? "").split(separator: ":").map { "\($0)/python3" }
        let candidates =
            environment["RTCSHARE_PYTHON"].map { [$0] } ?? [repository.path + "/.build-peers/bin/python"] + path
        return candidates.first { (try? run($0, "import av, wave", in: ".")) != nil }
    }()

    /// Whether the tests run; where everything is meant to be installed, a missing Python makes them fail.
    static var isThere: Bool {
        ProcessInfo.processInfo.environment["RTCSHARE_REQUIRE_PEERS"] != nil || python != nil
    }

    static func run(_ python: String, _ script: String, in folder: String) throws {
        struct Failed: Error {}
        guard FileManager.default.isExecutableFile(atPath: python) else { throw Failed() }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: python)
        process.arguments = ["-c", script]
        process.currentDirectoryURL = URL(fileURLWithPath: folder)
        process.standardError = FileHandle.nullDevice
        try process.runAlone()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failed() }
    }

    /// Reads `packets`, each after its length in two bytes, and writes `samples`, interleaved floats.
    static let decode = """
        import av, numpy, struct
        decoder = av.CodecContext.create("opus", "r")
        decoder.extradata = b"OpusHead" + struct.pack("<BBHIhB", 1, CHANNELS, 0, 48000, 0, 0)
        assert decoder.codec.long_name == "Opus", decoder.codec.long_name
        data, planes, position = open("packets", "rb").read(), [], 0
        while position < len(data):
            length = struct.unpack_from("<H", data, position)[0]
            packet = av.Packet(data[position + 2:position + 2 + length])
            position += 2 + length
            for frame in decoder.decode(packet):
                assert frame.sample_rate == 48000 and frame.format.name == "fltp"
                planes.append(frame.to_ndarray())
        numpy.concatenate(planes, axis=1).T.astype("<f4").tofile("samples")
        """
}

@Suite("Independent implementations", .enabled(if: Judge.isThere, "needs a Python with aiortc: set RTCSHARE_PYTHON"))
struct IndependentJudgeTests {
    @Test(
        "FFmpeg decodes our Opus packets", arguments: [OpusEncoder.Application.voice, .music], [1, 2])
    func opus(application: OpusEncoder.Application, channels: Int) throws {
        let python = try #require(Judge.python)
        let folder = FileManager.default.temporaryDirectory.appending(path: "judge-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }

        let encoder = try OpusEncoder(
            configuration: .init(channels: channels, application: application, expectedLoss: 0.1))
        // Voice is not kept apart: libopus gives its bits to what both sides have in common.
        let frequencies = Array([440.0, application == .voice ? 440 : 1320].prefix(channels))
        var packets = Data()
        let sound = Signals.tones(frequencies, count: 96_000)
        for packet in try encode(sound, with: encoder) {
            let packet = try #require(packet)
            packets.append(contentsOf: [UInt8(packet.count & 0xFF), UInt8(packet.count >> 8)] + packet)
        }
        try packets.write(to: URL(filePath: folder + "/packets"))
        try Judge.run(
            python, Judge.decode.replacingOccurrences(of: "CHANNELS", with: "\(channels)"), in: folder)

        let heard = try Data(contentsOf: URL(filePath: folder + "/samples")).withUnsafeBytes {
            Array($0.bindMemory(to: Float.self))
        }
        #expect(abs(heard.count / channels - 96_000) <= 960)
        for (channel, frequency) in frequencies.enumerated() {
            let tone = Array(Signals.channel(channel, of: heard, channels: channels).dropFirst(24_000))
            #expect(abs(Signals.amplitude(of: frequency, in: tone) - 0.5) < 0.06)
            let other = frequency == 440 ? 1320.0 : 440
            #expect(Signals.amplitude(of: other, in: tone) < 0.02)
        }
    }

    @Test("WAVE files of 8 to 32 bits written by Python are read")
    func wave() throws {
        let python = try #require(Judge.python)
        let folder = FileManager.default.temporaryDirectory.appending(path: "judge-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }

        let samples = Signals.tones([440, 660], count: 4800)
        try WAVFile.write(samples, sampleRate: 48_000, channels: 2, to: folder + "/ours.wav")
        let script = """
            import wave
            ours = wave.open("ours.wav")
            assert ours.getparams()[:4] == (2, 2, 48000, 4800), ours.getparams()
            data = ours.readframes(10000)
            for width in (1, 2, 3, 4):
                theirs = wave.open(f"{width}.wav", "wb")
                theirs.setparams((2, width, 48000, 0, "NONE", ""))
                padded = bytearray()
                for index in range(0, len(data), 2):
                    high = data[index + 1:index + 2] if width > 1 else bytes([data[index + 1] ^ 0x80])
                    padded += (bytes(4) + data[index:index + 1] + high)[-width:]
                theirs.writeframes(bytes(padded))
                theirs.close()
            """
        try Judge.run(python, script, in: folder)
        for width in 1...4 {
            let reader = try WAVReader(path: folder + "/\(width).wav")
            let read = try reader.read(frames: 10_000)
            #expect(read.count == samples.count)
            #expect(zip(read, samples).allSatisfy { abs($0 - $1) <= (width == 1 ? 1.0 / 120 : 1.0 / 32_000) })
        }
    }
}
