internal import ArgumentParser
internal import FoundationEssentials
internal import Glibc
internal import RTCShareLocks
internal import RTCShareStreams
internal import RTCShareVideoCoding
internal import RTCShareWireFormat

/// The recording that `--record FILE` makes of shared or viewed media. If the disk is full, that is reported, and
/// everything else continues.
final class FilmFile: Sendable {
    let recorder: WebMRecorder
    private let reports = Reports()

    /// The reports about the recording, for the terminal and for a share.
    private final class Reports: Sendable {
        let listener = Locked<(@Sendable ([String]) -> Void)?>(nil)

        func say(_ lines: [String]) {
            Terminal.shared.say(lines)
            listener.withLock { $0 }?(lines)
        }
    }

    private static let endings: Set = ["webm", "mkv"]

    /// Creates the file; `activity` is what continues without it. If the file exists and `isNumbered` is true, the
    /// recording has the next free number in its name: FILE-2.webm.
    init(path: String, activity: String, isNumbered: Bool = false) throws(CommandFailure) {
        do throws(MediaFileError) {
            recorder = try Self.makeRecorder(path: path, isNumbered: isNumbered) { [reports] error in
                let failure = CommandFailure(explaining: error)
                switch error {
                case .unsuitableVideo, .tooManyTracks: return reports.say(failure.lines(after: "Warning: "))
                default: break
                }
                var lines = failure.lines(after: "Warning: the recording has ended, and \(activity) continues: ")
                // The remedy is the last line.
                lines.insert("The recording up to then is kept.", at: 1)
                reports.say(lines)
            }
        } catch {
            throw CommandFailure(explaining: error)
        }
        guard recorder.path != path else { return }
        Terminal.shared.say("\(path) exists already, so this recording is \(recorder.path).")
    }

    private static func makeRecorder(
        path: String, isNumbered: Bool, onFailure: @escaping @Sendable (MediaFileError) -> Void
    ) throws(MediaFileError) -> WebMRecorder {
        var number = 1
        while true {
            do throws(MediaFileError) {
                return try WebMRecorder(path: numbered(path, number), onFailure: onFailure)
            } catch .alreadyExists where isNumbered {
                number += 1
            }
        }
    }

    /// Calls `body` with each later report that the terminal prints.
    func onReport(_ body: @escaping @Sendable ([String]) -> Void) { reports.listener.withLock { $0 = body } }

    /// Returns the path of the recording with this number among those of one name.
    private static func numbered(_ path: String, _ number: Int) -> String {
        guard number > 1, let dot = path.lastIndex(of: ".") else { return path }
        return "\(path[..<dot])-\(number)\(path[dot...])"
    }

    /// Rejects a path that ends neither in `.webm` nor in `.mkv`.
    static func validate(_ path: String?) throws {
        guard let path, !endings.contains(URL(filePath: path).pathExtension.lowercased()) else { return }
        throw ValidationError(
            "--record \(path): recordings are WebM or Matroska files. Use a name that ends in .webm or .mkv")
    }

    /// The duration of the recording.
    var duration: Duration { recorder.duration }

    /// Ends the recording, and reports its duration. Returns the report.
    /// - Throws: The reason if it has ended before.
    @discardableResult func close() async throws(CommandFailure) -> String {
        do {
            try await recorder.close()
        } catch {
            throw CommandFailure(explaining: error)
        }
        let words =
            duration > .zero
            ? "Recorded \(duration.seconds.clock) to \(recorder.path)."
            : "Nothing was recorded: no video and no audio arrived."
        Terminal.shared.say(words)
        return words
    }
}
