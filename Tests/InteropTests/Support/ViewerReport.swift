import Foundation

/// What a viewer saw; `viewer_report.py` describes the fields. Times are Unix time in milliseconds.
///
/// What was added for several streams and sound is optional: GStreamer's viewer reports one picture.
struct ViewerReport: Decodable {
    struct Event: Decodable {
        /// `track`, `mute`, `unmute` or `ended`.
        var event: String
        var atMs: Double
    }

    struct Track: Decodable {
        var kind: String
        var mid: String?
        var streams: [String]
        var events: [Event]?
    }

    struct Snapshot: Decodable {
        var file: String
        var atMs: Double
    }

    struct Gap: Decodable {
        var atMs: Double
        var gapMs: Double
    }

    struct Size: Decodable {
        var atMs: Double
        var width: Int
        var height: Int
    }

    /// One received video track.
    struct Video: Decodable {
        var stream: String?
        var mid: String?
        var events: [Event]
        var frames: Int
        var fps: Double
        var width: Int
        var height: Int
        var firstFrameMs: Double?
        var lastFrameMs: Double?
        /// The longest pauses between two frames, of those over 200 ms.
        var gaps: [Gap]
        /// The first size and each change of it.
        var sizes: [Size]
        var snapshots: [Snapshot]
        var flashesMs: [Double]
        var avOffsetsMs: [Double]
        var avOffsetMedianMs: Double?
        var avOffsetSettledMs: Double?
    }

    struct Channel: Decodable {
        var rmsDbfs: Double
        var peakFrequencyHz: Double?
    }

    /// One received audio track.
    struct Sound: Decodable {
        var stream: String?
        var mid: String?
        var events: [Event]
        var firstSoundMs: Double?
        /// From the first to the last sound that is not digital silence.
        var seconds: Double
        var rmsDbfs: Double
        var peakFrequencyHz: Double?
        /// 2 where left and right differ, 1 where they are alike, 0 for silence.
        var channels: Int
        var left: Channel
        var right: Channel
        /// One value per 100 ms, from `firstSoundMs` on.
        var energyDbfs: [Double]
        var beepsMs: [Double]
    }

    /// One offer that was answered.
    struct Negotiation: Decodable {
        var offerMs: Double
        var answerMs: Double
    }

    var viewer: String
    var error: String?
    var tracks: [Track]
    var connectedMs: Double?
    var firstFrameMs: Double?
    var frames: Int?
    var fps: Double?
    var steadyFps: Double?
    var width: Int
    var height: Int
    var snapshots: [Snapshot]
    var negotiations: [Negotiation]?
    var videos: [Video]?
    var sounds: [Sound]?
    /// Sound time less picture time of the main stream, by flash and beep: one value per second that had both.
    var avOffsetsMs: [Double]?
    var avOffsetMedianMs: Double?
    /// The middle one of the last five: a browser needs seconds to bring sound and picture together.
    var avOffsetSettledMs: Double?
    /// What the times of flash and beep are: `playout`, `sender reports` or `arrival`.
    var avClock: String?
    /// The same difference by getStats' `estimatedPlayoutTimestamp`, one value per dump that has both.
    var playoutOffsetsMs: [Double]?
    var playoutOffsetMedianMs: Double?
    var playoutOffsetSettledMs: Double?

    /// The video of a stream such as `alice#content`.
    func video(of stream: String) -> Video? { videos?.first { $0.stream == stream } }

    /// The sound of a stream such as `alice#content`.
    func sound(of stream: String) -> Sound? { sounds?.first { $0.stream == stream } }
}

extension JSONDecoder {
    /// Reads the viewers' names, such as `first_frame_ms`, as Swift's.
    static var forViewerReports: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return decoder
    }
}
