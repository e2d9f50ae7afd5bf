internal import ArgumentParser
internal import FoundationEssentials
internal import Glibc
internal import RTCShareCapture
internal import RTCShareCaptureBroadcast
internal import RTCShareMedia
internal import Synchronization

struct BroadcastCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "broadcast",
        abstract: "Capture in this process, and hand frames to a share in another.",
        discussion: """
            This is the extension: it runs where the screen is, in a desktop session, a container or as another user. The \
            share runs where the network is, and takes what comes:

                rtcshare send --answer answer.sdp --source broadcast:5000
                rtcshare broadcast --source display --port 5000

            The share sends the sounds as --audio broadcast and --microphone broadcast.

            Each shows the other its token. Either can be ended and started again; the viewer sees the share paused \
            meanwhile. --transport shared-memory copies nothing through the kernel; it takes the same user on the same \
            machine, or a --socket that both can reach.

            With --session the share itself is handed over: this process takes up what rtcshare offer left, and sends by \
            itself, until the session's file is removed.

                rtcshare broadcast --source display --session session.json --answer answer.sdp
            """)

    @Option(
        help: ArgumentHelp("What to capture: \(SourceSpecification.syntax).", valueName: "spec"),
        completion: ShellCompletion.source)
    var source: String?

    @Option(
        help: ArgumentHelp(
            "The sound to go with it: \(AudioSpecification.syntax). Given again, each is mixed in.", valueName: "spec"),
        completion: ShellCompletion.sound)
    var audio: [String] = []

    @Option(
        help: ArgumentHelp("The voice to go with it: \(AudioSpecification.syntax).", valueName: "spec"),
        completion: ShellCompletion.sound)
    var microphone: String?

    @Option(help: ArgumentHelp("The port at which the share waits.", valueName: "n"))
    var port: UInt16?

    @Option(
        help: ArgumentHelp("The socket at which the share waits, in place of a port.", valueName: "path"),
        completion: .file())
    var socket: String?

    @Option(
        help: ArgumentHelp("The session file that rtcshare offer wrote, to share from here.", valueName: "file"),
        completion: .file())
    var session: String?

    @Option(help: ArgumentHelp("With --session, the viewer's answer.", valueName: "file"), completion: .file())
    var answer: String?

    @Option(help: "How frames go.")
    var transport = Transport.tcp

    @OptionGroup(title: "Tokens") var tokens: BroadcastTokenOptions

    @Option(help: ArgumentHelp("The most frames a second.", valueName: "n"))
    var maxFramerate: Double = 30

    @Option(help: ArgumentHelp("End after this many seconds.", valueName: "s"))
    var duration: Double?

    enum Transport: String, ExpressibleByArgument, CaseIterable {
        case tcp
        case sharedMemory = "shared-memory"
    }

    func validate() throws {
        guard [port != nil, socket != nil, session != nil].count(where: { $0 }) == 1 else {
            throw ValidationError(
                "give one of --port and --socket, where the share's --source broadcast:… waits, and --session, to share "
                    + "from here")
        }
        guard (session == nil) == (answer == nil) else { throw ValidationError("--session and --answer go together") }
        guard port != 0 else { throw ValidationError("--port: give 1 to 65535") }
        guard CaptureFormat.frameRates.contains(maxFramerate) else {
            throw ValidationError("--max-framerate \(maxFramerate): give 0.1 to 240 frames a second")
        }
        try ShareDuration.validate(duration)
    }

    func run() async throws {
        try await reportingFailure {
            if let session, let answer { return try await share(session, answer: answer) }
            let endpoint = port.map { BroadcastEndpoint.port($0) } ?? .path(socket ?? "")
            let sender = try BroadcastSender(
                endpoint: endpoint, tokens: try tokens.tokens(), transport: transport == .tcp ? .tcp : .sharedMemory)
            let selection = SourceSelection(source: source, audio: audio, microphone: microphone, camera: nil)
            try selection.check()
            let sources = try OpenedSources(selection, maximumFrameRate: maxFramerate)
            Terminal.shared.say(sources.introduction)
            try await Broadcasting(sender: sender, sources: sources).run(duration: duration)
        }
    }

    /// Shares from here, for as long as the session's file is there.
    private func share(_ session: String, answer: String) async throws {
        var sharing = try SharingOptions.parse([])
        sharing.sources.source = source
        sharing.sources.audio = audio
        sharing.sources.microphone = microphone
        sharing.maxFramerate = maxFramerate
        sharing.duration = duration
        let share = StoredShare(
            answerPath: answer, sessionPath: session, sharing: sharing, running: try RunningOptions.parse([]),
            place: try ViewerPlace.parse([]), endsWithSession: true)
        try await share.run()
    }
}

/// An extension at work: from the first search for the app to the end of the share, of the source, or by Ctrl-C.
private struct Broadcasting {
    let sender: BroadcastSender
    let sources: OpenedSources

    /// What can happen.
    fileprivate enum Occurrence: Sendable {
        case connected
        case waiting(String)
        case ended(BroadcastError?)
        case sourceFailed(CaptureSourceError)
        case interrupted
        case durationOver
    }

    func run(duration: Double?) async throws {
        let (occurrences, continuation) = AsyncStream.makeStream(of: Occurrence.self)
        let listener = BroadcastingListener(continuation)
        let interruption = Interruption()
        let watcher = Task { for await _ in interruption.requested { continuation.yield(.interrupted) } }
        defer { watcher.cancel() }
        sender.add(observer: listener)
        sources.content.add(observer: listener)
        sources.content.add(observer: sender.captureObserver)
        sources.content.add(sender.video)
        let sound = sources.contentSound
        sound?.add(sender.audio)
        sources.microphone?.source.add(sender.microphone)
        for sound in sources.audio + [sources.microphone].compactMap({ $0 }) {
            sound.source.add(observer: listener.ofSounds)
        }
        try sender.start()
        ServiceManager.ready()
        defer {
            ServiceManager.stopping()
            sources.content.remove(sender.video)
            sources.stop()
            sender.stop()
        }
        try await follow(occurrences, duration: duration, continuation: continuation)
        withExtendedLifetime((listener, sound)) {}
    }

    private func follow(
        _ occurrences: AsyncStream<Occurrence>, duration: Double?, continuation: AsyncStream<Occurrence>.Continuation
    ) async throws {
        var hasStarted = false
        var failure: CaptureSourceError?
        for await occurrence in occurrences {
            switch occurrence {
            case .connected:
                Terminal.shared.say("Connected: the share takes what is captured here.")
                guard !hasStarted else { continue }
                hasStarted = true
                try sources.start()
                guard let duration else { continue }
                Task {
                    try? await Task.sleep(for: .seconds(duration))
                    continuation.yield(.durationOver)
                }
            case .waiting(let reason): Terminal.shared.say("Waiting for the share: \(reason)")
            case .sourceFailed(let error): failure = error
            case .ended(let error?): throw error
            case .ended(nil):
                if let failure { throw CommandFailure(.unavailable, failure.description) }
                return Terminal.shared.say("Done: the share or the source has ended.")
            case .interrupted: return Terminal.shared.say("Stopped.")
            case .durationOver: return Terminal.shared.say("Done: \((duration ?? 0).words) seconds captured.")
            }
        }
    }
}

/// Turns what the sender and the source tell into occurrences.
private final class BroadcastingListener: BroadcastSenderObserver, CaptureSourceObserver {
    private let continuation: AsyncStream<Broadcasting.Occurrence>.Continuation
    /// Tells the person at the terminal what happens to sounds.
    let ofSounds = SoundListener()

    init(_ continuation: AsyncStream<Broadcasting.Occurrence>.Continuation) {
        self.continuation = continuation
    }

    func broadcastSenderDidConnect() { continuation.yield(.connected) }
    func broadcastSenderIsWaiting(reason: String) { continuation.yield(.waiting(reason)) }
    func broadcastSenderDidEnd(error: BroadcastError?) { continuation.yield(.ended(error)) }

    func captureDidFail(error: CaptureSourceError) {
        // A frame that was left out is no end.
        if error.kind != .invalidFrame { continuation.yield(.sourceFailed(error)) }
    }
}

/// Tells the person at the terminal why a sound is away. Its end, or its failure, does not end the broadcast.
private final class SoundListener: CaptureSourceObserver {
    func captureWasInterrupted(by interruption: CaptureInterruption) {
        Terminal.shared.say("The broadcast continues without a sound: \(interruption).")
    }

    func captureInterruptionDidEnd(_ interruption: CaptureInterruption) { Terminal.shared.say("The sound is back.") }
}
