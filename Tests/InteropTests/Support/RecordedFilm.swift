import Foundation
import TestSupport
import Testing

/// A film that `--record` made, read by FFmpeg.
enum RecordedFilm {
    /// What `Peers/film_report.py` tells.
    struct Report: Decodable {
        struct Track: Decodable {
            let name: String
            let kind: String
            let codec: String
            let frames: Int
            let longestGapMs: Double
            let sizes: [[Int]]
            let beepsMs: [Double]
        }

        let seconds: Double
        let tracks: [Track]
        let offsetsMs: [String: [Double]]
        let failures: Int

        /// The sizes of the video of this name.
        func sizes(of name: String) -> [[Int]]? { tracks.first { $0.name == name && $0.kind == "video" }?.sizes }
    }

    static func report(_ film: String, in folder: TemporaryFolder) async throws -> Report {
        let outcome = try await RunningProgram.run(
            try #require(Peers.python), [Peers.script("film_report.py"), film], in: folder, timeout: .seconds(60))
        try #require(outcome.status == 0, "\(film): \(outcome.standardError)")
        return try JSONDecoder.forViewerReports.decode(Report.self, from: Data(outcome.standardOutput.utf8))
    }

    /// The samples of an audio track, mixed to one channel at ``PulseDaemon/sampleRate``.
    static func sound(_ film: String, track: Int = 0, in folder: TemporaryFolder) async throws -> [Float] {
        let samples = folder.file("\(film)-\(track).raw")
        let outcome = try await RunningProgram.run(
            try #require(RunningProgram.find("ffmpeg")),
            [
                "-v", "error", "-y", "-i", film, "-map", "0:a:\(track)", "-ac", "1", "-ar", "\(PulseDaemon.sampleRate)",
                "-f", "f32le", samples.path,
            ], in: folder, timeout: .seconds(60))
        try #require(outcome.status == 0, "\(film): \(outcome.standardError)")
        return try Data(contentsOf: samples).withUnsafeBytes { bytes in
            (0..<bytes.count / 4).map { bytes.loadUnaligned(fromByteOffset: $0 * 4, as: Float.self) }
        }
    }
}
