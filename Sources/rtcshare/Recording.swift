internal import AudioCoding
internal import ContentShare
internal import Foundation
internal import Media
internal import PeerConnection
internal import Synchronization
internal import VideoCoding
internal import WireFormat

/// What is received, in files: pictures as they came (IVF) and sound decoded beside them (WAV), on one timeline.
///
/// The content goes to the file that was named, an attendee's own picture and voice to a file with its id in the name.
final class Recording: Sendable {
    private struct State {
        /// When the first picture or sound came: where every file begins.
        var start: Duration?
        var pictures: [AttendeeID: IVFWriter] = [:]
        var sounds: [AttendeeID: SoundRecording] = [:]
    }

    private let path: String
    private let state = Mutex(State())

    init(path: String) {
        self.path = path
    }

    /// Appends a frame. The file begins with the first one that can be decoded on its own, whose size its header needs.
    func write(_ frame: AssembledFrame, of attendee: AttendeeID) throws {
        try state.withLock { state in
            let time = Duration.nanoseconds(frame.completion.nanoseconds)
            if state.pictures[attendee] == nil {
                guard let size = frame.size else { return }
                state.pictures[attendee] = try IVFWriter(
                    path: file(of: attendee, extension: "ivf"), size: PixelSize(width: size.width, height: size.height))
            }
            let start = state.start ?? time
            state.start = start
            try state.pictures[attendee]?.write(frame.data, timestamp: max(time - start, .zero))
        }
    }

    /// What records the sound of an attendee.
    func sound(of attendee: AttendeeID) throws -> any AudioSink {
        let path = file(of: attendee, extension: "wav")
        return try state.withLock { state in
            if let sound = state.sounds[attendee] { return sound }
            let sound = SoundRecording(writer: try WAVWriter(path: path, sampleRate: 48_000, channels: 2)) {
                [weak self] in
                self?.startTime(at: $0) ?? $0
            }
            state.sounds[attendee] = sound
            return sound
        }
    }

    func close() throws {
        let taken = state.withLock { $0 }
        for picture in taken.pictures.values { try picture.close() }
        for sound in taken.sounds.values { try sound.close() }
    }

    private func startTime(at time: Duration) -> Duration {
        state.withLock { state in
            let start = state.start ?? time
            state.start = start
            return start
        }
    }

    /// `share.ivf`, `share.wav`; `share-alice.ivf`, `share-alice.wav`.
    private func file(of attendee: AttendeeID, extension suffix: String) -> String {
        let url = URL(filePath: path)
        let base = url.pathExtension.isEmpty ? path : String(path.dropLast(url.pathExtension.count + 1))
        let isNamed = suffix == "ivf" && !url.pathExtension.isEmpty
        let ending = isNamed ? url.pathExtension : suffix
        guard attendee.modality == .attendee else { return "\(base).\(ending)" }
        // An id can hold what a file's name can't.
        let name = attendee.rawValue.replacing("/", with: "_")
        return "\(base)-\(name).\(ending)"
    }
}

/// A WAV file that begins with the recording, whenever its sound does.
private final class SoundRecording: AudioSink {
    private struct State: @unchecked Sendable {
        let writer: WAVWriter
        /// The end of what is written, since the recording's start, in samples.
        var written = 0
        var failure: (any Error)?
    }

    private let state: Mutex<State>
    private let start: @Sendable (Duration) -> Duration
    private static let sampleRate = 48_000
    /// What playout shifts sound by is no gap.
    private static let tolerance = sampleRate / 10

    init(writer: sending WAVWriter, start: @escaping @Sendable (Duration) -> Duration) {
        state = Mutex(State(writer: writer))
        self.start = start
    }

    func receive(_ frame: AudioFrame) {
        let offset = frame.timestamp - start(frame.timestamp)
        let stereo = frame.mixed(toChannels: 2)
        state.withLock { state in
            guard state.failure == nil else { return }
            do {
                let place = Int(
                    (Double(offset.components.seconds) + Double(offset.components.attoseconds) * 1e-18)
                        * Double(Self.sampleRate))
                if place > state.written + Self.tolerance {
                    try state.writer.write([Float](repeating: 0, count: (place - state.written) * 2))
                    state.written = place
                }
                try state.writer.write(stereo.samples)
                state.written += stereo.sampleCount
            } catch {
                state.failure = error
            }
        }
    }

    func close() throws {
        try state.withLock { state in
            if let failure = state.failure { throw failure }
            try state.writer.close()
        }
    }
}
