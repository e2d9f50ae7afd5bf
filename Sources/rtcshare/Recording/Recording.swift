internal import Dispatch
internal import FoundationEssentials
internal import Glibc
internal import RTCShareContentShare
internal import RTCShareLocks
internal import RTCShareMedia
internal import RTCShareNetworkRuntime
internal import RTCSharePeerConnection

/// What is received, in files: pictures as they came (IVF) and sound decoded beside them (WAV), on one timeline.
///
/// The content goes to the file that was named, an attendee's own picture and voice to a file with its id in the name.
/// Other servers' streams are nobody's content: where there was none, what came first has the name that was given.
/// Disks can be slow: all is written on a queue of the recording's own, and neither decoder nor network waits for it.
final class Recording: Sendable {
    private struct State {
        /// When the first picture or sound came: where every file begins.
        var start: Duration?
        var pictures: [QueueBound<PictureRecording>] = []
        var sounds: [QueueBound<SoundRecording>] = []
        /// The names in use, without their extensions, of pictures and of sounds.
        var pictureNames: Set<String> = []
        var soundNames: Set<String> = []
        var waiting = 0
        var failure: (any Error)?
    }

    private let base: String
    private let queue = DispatchQueue(label: "rtcshare.recording")
    private let state = Locked(State())
    private let onFailure: @Sendable (any Error) -> Void
    /// As many frames and blocks wait for the disk at most: some ten seconds of four media.
    private static let maximumWaiting = 1500

    /// A recording to files beside `path`; `onFailure` is called once, where one can't be written.
    init(path: String, onFailure: @escaping @Sendable (any Error) -> Void) {
        base = ["ivf", "wav"].contains(URL(filePath: path).pathExtension) ? String(path.dropLast(4)) : path
        self.onFailure = onFailure
    }

    /// What takes the frames of a picture of an attendee, as they came.
    func picture(of attendee: AttendeeID) -> @Sendable (AssembledFrame) -> Void {
        let recording = state.withLock { state in
            let path = name(of: attendee, among: &state.pictureNames) + ".ivf"
            let recording = QueueBound(
                PictureRecording(path: path) { [weak self] in self?.startTime(at: $0) ?? $0 }, to: queue)
            state.pictures.append(recording)
            return recording
        }
        return { [weak self] frame in self?.enqueue { try recording.value.write(frame) } }
    }

    /// What takes a sound of an attendee.
    func sound(of attendee: AttendeeID) -> any AudioSink {
        let recording = state.withLock { state in
            let path = name(of: attendee, among: &state.soundNames) + ".wav"
            let recording = QueueBound(
                SoundRecording(path: path) { [weak self] in self?.startTime(at: $0) ?? $0 }, to: queue)
            state.sounds.append(recording)
            return recording
        }
        return RecordingSink { [weak self] frame in self?.enqueue { try recording.value.write(frame) } }
    }

    /// Writes what waits, and closes the files.
    /// - Throws: why the recording ended before, or why a file can't be closed.
    func close() throws {
        try queue.sync {
            let state = state.withLock { $0 }
            let closing = Result { try close(state) }
            if let failure = state.failure { throw failure }
            try closing.get()
        }
    }

    private func close(_ state: State) throws {
        for picture in state.pictures { try picture.value.close() }
        for sound in state.sounds { try sound.value.close() }
        var paths =
            (state.pictures.filter(\.value.hasFile).map(\.value.path)
                + state.sounds.filter(\.value.hasFile).map(\.value.path))
        defer { tell(paths) }
        guard !state.pictureNames.union(state.soundNames).contains(base) else { return }
        for (first, ending) in [
            (state.pictures.first(where: \.value.hasFile)?.value.path, ".ivf"),
            (state.sounds.first(where: \.value.hasFile)?.value.path, ".wav"),
        ] {
            guard let first else { continue }
            try name(first, as: base + ending)
            paths = paths.map { $0 == first ? base + ending : $0 }
        }
    }

    /// Says which files there are.
    private func tell(_ paths: [String]) {
        Terminal.shared.say(
            paths.isEmpty
                ? "Nothing was recorded: no video and no audio arrived." : "Recorded: \(paths.joined(separator: ", "))")
    }

    private func name(_ path: String, as other: String) throws {
        guard rename(path, other) == 0 else {
            throw CommandFailure(.cannotCreate, "can't rename \(path) to \(other): \(systemMessage(errno))")
        }
    }

    private func enqueue(_ write: @escaping @Sendable () throws -> Void) {
        let isTooSlow = state.withLock { state in
            state.waiting += 1
            return state.waiting > Self.maximumWaiting
        }
        if isTooSlow {
            fail(
                CommandFailure(
                    .inputOutput, "the disk of \(base) is too slow for the recording", try: "record to another disk"))
        }
        queue.async { [self] in
            defer { state.withLock { $0.waiting -= 1 } }
            guard state.withLock({ $0.failure == nil }) else { return }
            do {
                try write()
            } catch {
                fail(error)
            }
        }
    }

    private func fail(_ error: any Error) {
        let isFirst = state.withLock { state in
            guard state.failure == nil else { return false }
            state.failure = error
            return true
        }
        if isFirst { onFailure(error) }
    }

    private func startTime(at time: Duration) -> Duration {
        state.withLock { state in
            let start = state.start ?? time
            state.start = start
            return start
        }
    }

    /// `share` for the content, `share-alice` for an attendee's own; with a number behind it where that is taken.
    private func name(of attendee: AttendeeID, among names: inout Set<String>) -> String {
        // An id can hold what a file's name can't.
        let own = "\(base)-\(attendee.base.replacing("/", with: "_"))"
        var candidates = attendee.modality == .content ? [base, "\(own)-content"] : [own]
        var number = 2
        while true {
            for candidate in candidates where names.insert(candidate).inserted { return candidate }
            candidates = ["\(candidates[candidates.count - 1])-\(number)"]
            number += 1
        }
    }
}

/// Gives what it takes to the recording's queue.
private final class RecordingSink: AudioSink {
    private let take: @Sendable (AudioFrame) -> Void

    init(_ take: @escaping @Sendable (AudioFrame) -> Void) {
        self.take = take
    }

    func receive(_ frame: AudioFrame) { take(frame) }
}
