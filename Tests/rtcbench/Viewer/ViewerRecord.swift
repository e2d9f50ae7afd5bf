internal import Foundation

/// What a viewer saw in one run: a line of the history.
struct ViewerRecord: Codable {
    /// A second of the run, from the connection on. A figure is nil where there was nothing to judge.
    struct Second: Codable {
        /// Of luma: what the receiver's screen showed beside what the sender's did at that time, the mean of the samples.
        var similarity: Double?
        /// In decibels.
        var signalToNoise: Double?
        /// The same beside what the sender's screen showed at the change that the picture is of: without lateness.
        var ownSimilarity: Double?
        var ownSignalToNoise: Double?
        /// Pictures that came to the receiver's screen.
        var frames = 0
        /// Freezes that end in it, the longest gap that reaches into it, and the longest time with a picture that was no
        /// longer true, in milliseconds.
        var freezes = 0
        var longestGap = 0.0
        var longestStall = 0.0
        /// From the change to the receiver's screen, of the changes in it: the mean, in milliseconds.
        var latency: Double?
        /// What came at the receiver, in kbit/s: UDP payload.
        var bitrate = 0.0
        /// Of a core: the sender's program with all its processes.
        var processor = 0.0
    }

    /// The whole run.
    struct Total: Codable {
        var similarity: Double?
        var leastSimilarity: Double?
        var signalToNoise: Double?
        var leastSignalToNoise: Double?
        var ownSimilarity: Double?
        var leastOwnSimilarity: Double?
        var ownSignalToNoise: Double?
        var leastOwnSignalToNoise: Double?
        var frameRate = 0.0
        var freezes = 0
        /// The receiver's own freezeCount.
        var freezeCount: Double?
        var longestGap = 0.0
        var longestStall = 0.0
        var latency: Double?
        var latency95: Double?
        var longestLatency: Double?
        /// Changes that no picture showed.
        var unseenChanges = 0
        var bitrate = 0.0
        /// Of a core: the sender, the X server and the receiver.
        var processor = 0.0
        var serverProcessor = 0.0
        var receiverProcessor = 0.0
        /// From the answer to the connection, and to the first picture, in milliseconds.
        var connecting: Double?
        var firstPicture: Double?
        /// The mean, in milliseconds.
        var jitterBufferDelay: Double?
        var keyFrames: Double?
        var framesDropped: Double?
        var pictureLossIndications: Double?
        var negativeAcknowledgements: Double?
        var retransmissions: Double?
        var packetsLost: Double?
        /// Pictures whose squares could not be read, and those that others took the place of before the receiver's screen
        /// was drawn.
        var unreadablePictures = 0
        var replacedPictures = 0
        /// The size of the last picture.
        var size = ""
    }

    /// What was measured, when and on what.
    struct Origin: Codable {
        var date: String
        var label: String
        var commit: String?
        var sender: String
        var receiver: String
        var machine: MachineDescription
    }

    var plan: ViewerCase
    var origin: Origin
    var seconds: [Second] = []
    var total = Total()
}

/// Runs that were kept: a line of JSON each, appended when the run has ended.
struct ViewerHistory {
    let path: String

    func append(_ record: ViewerRecord) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let line = try encoder.encode(record) + Data("\n".utf8)
        if !FileManager.default.fileExists(atPath: path) {
            guard FileManager.default.createFile(atPath: path, contents: nil) else {
                throw BenchmarkFailure("\(path) can't be written")
            }
        }
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        defer { try? file.close() }
        try file.seekToEnd()
        try file.write(contentsOf: line)
    }

    func read() throws -> [ViewerRecord] {
        let decoder = JSONDecoder()
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        return try lines.enumerated().map { index, line in
            do {
                return try decoder.decode(ViewerRecord.self, from: Data(line.utf8))
            } catch {
                throw BenchmarkFailure("\(path), line \(index + 1): \(error)")
            }
        }
    }
}
