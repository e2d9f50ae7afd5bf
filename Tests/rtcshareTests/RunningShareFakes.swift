import RTCShareContentShare
import RTCShareLocks
import RTCShareMedia
import TestSupport
import Testing

@testable import rtcshare

/// A source without frames that records whether it runs.
final class FakeSource: CaptureSource, CustomStringConvertible {
    struct Failure: Error {}

    private struct WeakObserver {
        weak var observer: (any CaptureSourceObserver)?
    }

    private struct State {
        var isRunning = false
        var wasStopped = false
        var observers: [WeakObserver] = []
    }

    /// The result of a start.
    enum Start: Sendable {
        case succeeds, fails
        /// The source ends immediately, as an empty file does.
        case ends
        case waits(Gate)
    }

    let description: String
    private let startResult: Start
    let captureFormat = CaptureFormat(size: PixelSize(width: 320, height: 180), framesPerSecond: 5)
    let contentHint = ContentHint.detail
    private let state = Locked(State())

    init(_ description: String, start: Start = .succeeds) { (self.description, startResult) = (description, start) }

    var isRunning: Bool { state.withLock { $0.isRunning } }
    var wasStopped: Bool { state.withLock { $0.wasStopped } }

    func start() throws {
        if case .fails = startResult { throw Failure() }
        if case .waits(let gate) = startResult { gate.pass() }
        state.withLock { $0.isRunning = true }
        if case .ends = startResult { end() }
    }

    /// Reports its end, as real sources do.
    func stop() {
        let wasRunning = state.withLock { state in
            defer { (state.isRunning, state.wasStopped) = (false, true) }
            return state.isRunning
        }
        if wasRunning { end() }
    }

    /// Reports another size, as a window does.
    func resize(to size: PixelSize) {
        for entry in state.withLock({ $0.observers }) { entry.observer?.captureSizeDidChange(to: size) }
    }

    /// Ends the source, as a file does after its last frame.
    func end() { for entry in state.withLock({ $0.observers }) { entry.observer?.captureDidStop() } }

    func add(_ sink: any VideoSink) {}
    func remove(_ sink: any VideoSink) {}
    func add(observer: any CaptureSourceObserver) {
        state.withLock { $0.observers.append(WeakObserver(observer: observer)) }
    }
    func remove(observer: any CaptureSourceObserver) {
        state.withLock { $0.observers.removeAll { $0.observer === observer } }
    }
}

/// Waits until everything that was posted to the sharing actor before is done.
func settle() async {
    await withCheckedContinuation { continuation in SharingActor.post { continuation.resume() } }
}

extension RunningShare {
    /// Handles the occurrences that were reported up to now, as the loop of a share does, until one ends the share.
    /// Returns the effects as text, and passes each occurrence to `note`.
    func handle(
        _ occurrences: AsyncStream<Share.Occurrence>, _ note: (Share.Occurrence) -> Void = { _ in }
    ) async -> [String] {
        await settle()
        events.yield(.statusDue)
        var effects: [String] = []
        for await occurrence in occurrences {
            if case .statusDue = occurrence { break }
            note(occurrence)
            if effects.last != "end" { effects += await self.effects(of: occurrence).map(ShareCourseTests.words) }
        }
        return effects
    }
}

extension OpenedSources {
    /// Returns sources with this content, and with fakes of the audio sources.
    static func fakes(_ content: FakeSource, hasMicrophone: Bool = true) throws -> OpenedSources {
        var fakes = try OpenedSources(
            SourceSelection(
                source: SourceSpecification("test:320x180@5"), audio: [.none], microphone: AudioSpecification.none),
            maximumFrameRate: 30)
        fakes.content = Content(source: content, specification: "1", canWait: false)
        fakes.audio = [Sound(source: FakeSound(), specification: "sound")]
        if hasMicrophone { fakes.microphone = Sound(source: FakeSound(), specification: "microphone") }
        return fakes
    }
}

extension ServeCommand {
    /// Returns the command with these options.
    static func parsed(_ options: [String] = []) throws -> ServeCommand {
        try #require(RTCShareCommand.parsed(["serve"] + options, environment: [:]) as? ServeCommand)
    }
}

/// An audio source without samples that records whether it was started.
final class FakeSound: AudioCaptureSource {
    let audioFormat = AudioFormat(sampleRate: 48_000, channels: 1)
    private let started = Locked(false)

    var wasStarted: Bool { started.withLock { $0 } }

    func start() { started.withLock { $0 = true } }
    func stop() {}
    func add(_ sink: any AudioSink) {}
    func remove(_ sink: any AudioSink) {}
    func add(observer: any CaptureSourceObserver) {}
    func remove(observer: any CaptureSourceObserver) {}
}

/// An opener of content that returns fakes, each by a file's name.
final class FakeOpener: Sendable {
    struct Failure: Error {}

    /// A source, or nil if it can't be opened, with the point at which its opening waits.
    private struct Entry {
        let source: FakeSource?
        let canWait: Bool
        let gate: Gate?
    }

    private let entries = Locked<[String: Entry]>([:])

    func add(
        _ name: String, _ source: FakeSource?, canWait: Bool = false, gate: Gate? = nil
    ) throws -> SourceSpecification {
        let specification = try SourceSpecification("file:\(name).y4m")
        entries.withLock { $0["\(specification)"] = Entry(source: source, canWait: canWait, gate: gate) }
        return specification
    }

    func open(_ specification: SourceSpecification) throws -> OpenedSources.Content {
        let entry = entries.withLock { $0["\(specification)"] }
        entry?.gate?.pass()
        guard let entry, let source = entry.source else { throw Failure() }
        return OpenedSources.Content(source: source, specification: "\(specification)", canWait: entry.canWait)
    }
}

/// An output that records the content that viewers get. A source that is not a fake is a slate.
@SharingActor final class FakeOutput: ShareOutput {
    struct Refusal: Error {}

    /// An observer that records the end of a slate, which has a separate thread.
    private final class SlateObserver: CaptureSourceObserver {
        let isRunning = Locked(true)

        func captureDidStop() { isRunning.withLock { $0 = false } }
    }

    var isContentSent = false
    private(set) var shown: (any VideoSource)?
    /// Whether the shown source is delayed while the encoder is busy.
    private(set) var canShownWait = false
    private(set) var isVideoMuted = false
    private(set) var isAudioMuted = false
    private(set) var isMicrophoneMuted = false
    /// Whether audio was muted when the newest source started.
    private(set) var wasSoundMuted = false
    private var slates: [SlateObserver] = []
    /// The latest parameters of the content.
    private(set) var configuration: VideoEncodingParameters?
    private var refusesNext = false
    private var refusesNextCamera = false
    private var whileShowing: (@SharingActor () async -> Void)?
    private var whileStartingCamera: (@SharingActor () async -> Void)?
    private(set) var camera: (any VideoSource)?

    /// The name of the visible content, with `(muted)` if viewers see that it is paused.
    var view: String {
        (shown.map { ($0 as? FakeSource)?.description ?? "slate" } ?? "-") + (isVideoMuted ? " (muted)" : "")
    }

    var runningSlates: Int { slates.count { $0.isRunning.withLock { $0 } } }

    func refuseNext() { refusesNext = true }
    func refuseNextCamera() { refusesNextCamera = true }

    /// Calls `action` while the next source starts.
    func whileShowingNext(_ action: @escaping @SharingActor () async -> Void) { whileShowing = action }

    /// Calls `action` while the next camera starts.
    func whileStartingNextCamera(_ action: @escaping @SharingActor () async -> Void) { whileStartingCamera = action }

    func showContent(
        _ source: any VideoSource, canWait: Bool, audio: (any AudioSource)?, configuration: VideoEncodingParameters,
        audioConfiguration: AudioEncodingParameters
    ) async throws {
        if !(source is FakeSource), let slate = source as? any CaptureSource {
            let observer = SlateObserver()
            slates.append(observer)
            slate.add(observer: observer)
        }
        let action = whileShowing
        whileShowing = nil
        if refusesNext {
            refusesNext = false
            await action?()
            throw Refusal()
        }
        wasSoundMuted = (audio as? AudioTrack)?.isMuted ?? false
        // A new track is not muted.
        (shown, isVideoMuted, isAudioMuted) = (source, false, false)
        (canShownWait, self.configuration) = (canWait, configuration)
        await action?()
    }

    func updateContent(_ configuration: VideoEncodingParameters) { self.configuration = configuration }
    func startMicrophone(_ source: any AudioSource) {}
    func startCamera(_ source: any VideoSource) async throws {
        if refusesNextCamera {
            refusesNextCamera = false
            throw Refusal()
        }
        camera = source
        let action = whileStartingCamera
        whileStartingCamera = nil
        await action?()
    }
    func stopCamera() { camera = nil }
    func setVideoMuted(_ isMuted: Bool, of source: any VideoSource) { if source === shown { isVideoMuted = isMuted } }
    func setAudioMuted(_ isMuted: Bool) { isAudioMuted = isMuted }
    func setMicrophoneMuted(_ isMuted: Bool) { isMicrophoneMuted = isMuted }
}

/// A random number generator with the same numbers for the same seed (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}

/// Virtual time, which only a test advances.
final class VirtualTime: Sendable {
    private struct State {
        var now = Duration.zero
        var numbers = 0
        var sleeps = 0
        var sleepers: [Int: (end: Duration, continuation: CheckedContinuation<Bool, Never>)] = [:]
    }

    private let state = Locked(State())

    /// The number of sleeps that have started.
    var sleeps: Int { state.withLock { $0.sleeps } }

    func sleep(for time: Duration) async throws {
        let number = state.withLock { state in
            state.numbers += 1
            return state.numbers
        }
        let isOver = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { state in
                    state.sleepers[number] = (state.now + time, continuation)
                    state.sleeps += 1
                }
                if Task.isCancelled { wake(number, isOver: false) }
            }
        } onCancel: {
            wake(number, isOver: false)
        }
        if !isOver { throw CancellationError() }
    }

    func advance(by time: Duration) {
        let due = state.withLock { state in
            state.now += time
            return state.sleepers.filter { $0.value.end <= state.now }.map(\.key)
        }
        for number in due { wake(number, isOver: true) }
    }

    private func wake(_ number: Int, isOver: Bool) {
        state.withLock { $0.sleepers.removeValue(forKey: number) }?.continuation.resume(returning: isOver)
    }
}
