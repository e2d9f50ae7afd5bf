internal import Foundation

/// The results of one run, a line of the history.
struct ViewerRecord: Codable {
    /// A second of the run, counted from the connection. A value is nil if there was nothing to evaluate.
    struct Second: Codable {
        /// The similarity of luma between the receiver's and the sender's screen at that time, the mean of the samples.
        var similarity: Double?
        /// In decibels.
        var signalToNoise: Double?
        /// The same, compared with the sender's screen at the change that the frame shows: without the delay.
        var ownSimilarity: Double?
        var ownSignalToNoise: Double?
        /// The number of frames on the receiver's screen.
        var frames = 0
        /// The number of freezes that end in it and, below, the longest gap that overlaps it, and the longest time with
        /// an outdated frame, in milliseconds.
        var freezes = 0
        var longestGap = 0.0
        var longestStall = 0.0
        /// The mean delay from a change to the receiver's screen, for the changes in it, in milliseconds.
        var latency: Double?
        /// The received bitrate, in kbit/s: UDP payload.
        var bitrate = 0.0
        /// The share of a core: the sender's program with all its processes.
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
        /// The number of changes that no frame showed.
        var unseenChanges = 0
        var bitrate = 0.0
        /// The shares of a core: the sender, the X server and the receiver.
        var processor = 0.0
        var serverProcessor = 0.0
        var receiverProcessor = 0.0
        /// The sender's memory at the end, in MiB: each page counts for its share of the processes that have it (PSS).
        var memory: Double?
        /// The time from the answer to the connection and, below, to the first frame, in milliseconds.
        var connecting: Double?
        var firstPicture: Double?
        /// The times from the connection to the first samples of 30 and 45 dB, in milliseconds: text is readable, and
        /// almost unchanged.
        var readable: Double?
        var sharp: Double?
        /// The mean delay, in milliseconds.
        var jitterBufferDelay: Double?
        var keyFrames: Double?
        var framesDropped: Double?
        var pictureLossIndications: Double?
        var negativeAcknowledgements: Double?
        var retransmissions: Double?
        var packetsLost: Double?
        /// The number of frames whose squares could not be read and, below, of those that were replaced before the
        /// receiver's screen was drawn.
        var unreadablePictures = 0
        var replacedPictures = 0
        /// The size of the last frame.
        var size = ""
    }

    /// The origin of the measurement: the date, the version and the machine.
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

/// A file of values, a line of JSON each.
struct JSONLines {
    let path: String

    func append(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let line = try encoder.encode(value) + Data("\n".utf8)
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
}

/// The stored runs, appended at the end of the run.
struct ViewerHistory {
    let path: String

    func append(_ record: ViewerRecord) throws { try JSONLines(path: path).append(record) }

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
