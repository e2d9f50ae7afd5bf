internal import ArgumentParser
internal import FoundationEssentials
internal import Glibc
internal import RTCShareStreams
internal import RTCShareVideoCoding
internal import RTCShareWireFormat

/// The film that `--record FILE.webm` makes of what is shared or viewed. Where the disk has no room for more, that is said,
/// and all else goes on.
final class FilmFile: Sendable {
    let recorder: WebMRecorder

    private static let ending = "webm"

    /// Makes the file; `activity` is what goes on without it. Where the file is there already and `isNumbered`, the film has
    /// the next free number in its name: FILE-2.webm.
    init(path: String, activity: String, isNumbered: Bool = false) throws(CommandFailure) {
        do throws(MediaFileError) {
            recorder = try Self.makeRecorder(path: path, isNumbered: isNumbered) { error in
                let introduction = "Warning: the recording has ended, and \(activity) continues: "
                Terminal.shared.say(CommandFailure(explaining: error).lines(after: introduction))
                Terminal.shared.say("The recording up to then is kept.")
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

    /// The path of the film with this number among those of one name.
    private static func numbered(_ path: String, _ number: Int) -> String {
        guard number > 1, let dot = path.lastIndex(of: ".") else { return path }
        return "\(path[..<dot])-\(number)\(path[dot...])"
    }

    /// Refuses a path that does not end in `.webm`.
    static func validate(_ path: String?) throws {
        guard let path, URL(filePath: path).pathExtension.lowercased() != ending else { return }
        throw ValidationError("--record \(path): recordings are WebM files. Use a name that ends in .\(ending)")
    }

    /// How long it is.
    var duration: Duration { recorder.duration }

    /// Ends the film, and says how long it is.
    /// - Throws: why it has ended before.
    func close() async throws(CommandFailure) {
        do {
            try await recorder.close()
        } catch {
            throw CommandFailure(explaining: error)
        }
        guard duration > .zero else {
            return Terminal.shared.say("Nothing was recorded: no video and no audio arrived.")
        }
        Terminal.shared.say("Recorded \(duration.seconds.clock) to \(recorder.path).")
    }
}
