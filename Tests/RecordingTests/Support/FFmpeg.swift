import Foundation
import TestSupport
import Testing

/// FFmpeg's commands, which read recordings with code that has nothing in common with ours.
enum FFmpeg {
    /// Whether everything should be installed, so that missing commands make tests fail instead of skip.
    static let mustRun = ProcessInfo.processInfo.environment["RTCSHARE_REQUIRE_PEERS"] != nil
    static let isInstalled = mustRun || path("ffmpeg") != nil && path("ffprobe") != nil

    /// The videos of a file and their frames, as ffprobe decodes them.
    struct Film: Decodable {
        let streams: [Video]
        let frames: [Frame]
    }

    struct Frame: Decodable, Hashable {
        let width: Int
        let height: Int
    }

    struct Video: Decodable, Hashable {
        struct Tags: Decodable, Hashable {
            let title: String
        }

        let codecName: String
        let colorSpace: String
        let colorRange: String
        let nbReadFrames: String
        let tags: Tags
    }

    static func film(_ file: String) throws -> Film {
        let output = try run(
            "ffprobe",
            [
                "-v", "error", "-of", "json", "-count_frames", "-select_streams", "v", "-show_streams", "-show_frames",
                file,
            ])
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Film.self, from: output)
    }

    /// Returns the I420 samples of all frames of a video of a file, each in its own size.
    static func samples(of file: String, video index: Int = 0) throws -> Data {
        try run(
            "ffmpeg",
            [
                "-v", "error", "-xerror", "-i", file, "-map", "0:v:\(index)", "-vsync", "passthrough",
                "-autoscale", "0", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-",
            ])
    }

    /// Returns the output of a command, which must report no error.
    private static func run(_ command: String, _ arguments: [String]) throws -> Data {
        let process = Process()
        let (output, errors) = (Pipe(), FileManager.default.temporaryDirectory.appending(path: UUID().uuidString))
        _ = FileManager.default.createFile(atPath: errors.path, contents: nil)
        defer { try? FileManager.default.removeItem(at: errors) }
        process.executableURL = URL(fileURLWithPath: try #require(path(command)))
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = try FileHandle(forWritingTo: errors)
        try process.runAlone()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let words = try String(contentsOf: errors, encoding: .utf8)
        #expect(process.terminationStatus == 0 && words.isEmpty, "\(command): \(words)")
        return data
    }

    private static func path(_ command: String) -> String? {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { "\($0)/\(command)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}
