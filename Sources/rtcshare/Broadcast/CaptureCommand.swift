internal import ArgumentParser
internal import FoundationEssentials
internal import Glibc
internal import RTCShareCapture
internal import RTCShareCaptureBroadcast
internal import RTCShareMedia
internal import RTCShareSignaling
internal import Synchronization

struct CaptureCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "capture",
        abstract: "Capture here for an rtcshare that runs in another process.",
        usage: "rtcshare capture --port <n>|--socket <path>|--session <file> [options]",
        discussion: #"""
            Run capture where the screen is: in a desktop session, in a container or as another user. The process that shares
            runs where the network is. The two authenticate each other with tokens. You can restart either one. Viewers see the
            share as paused until it is back.

            On the network's side, then on the screen's side:

                rtcshare serve --source process:5000 --audio process \
                    --my-token-file a.token --peer-token-file b.token
                rtcshare capture --port 5000 --audio system \
                    --my-token-file b.token --peer-token-file a.token

            With --session, this process shares by itself, with the session that rtcshare offer saved, until you remove the
            session file:

                rtcshare capture --session session.json --answer answer.sdp
            """#)

    @OptionGroup(title: "What to capture") var captured: CapturedOptions

    @OptionGroup(title: "The process that shares") var destination: DestinationOptions

    /// The sources to capture, and the duration.
    struct CapturedOptions: ParsableArguments {
        @Option(
            help: ArgumentHelp(
                """
                What to capture: display, window:title=TEXT, region:WxH+X+Y, camera, test and others. Default: the display, or a \
                test pattern if there is none. All forms: rtcshare help sources.
                """, valueName: "spec"), completion: ShellCompletion.source, transform: OptionValue.specification)
        var source: SourceSpecification?

        @Option(
            help: ArgumentHelp(
                "Audio to capture: system, microphone and others. Several are mixed. Default: none. Repeatable.",
                valueName: "spec"), completion: ShellCompletion.sound, transform: OptionValue.specification)
        var audio: [AudioSpecification] = []

        @Option(
            help: ArgumentHelp(
                "Capture your microphone as a separate track. Takes the same values as --audio. Default: none.",
                valueName: "spec"), completion: ShellCompletion.sound, transform: OptionValue.specification)
        var microphone: AudioSpecification?

        @Option(
            help: ArgumentHelp("Maximum frame rate. Default: 30.", valueName: "n"), transform: OptionValue.frameRate)
        var maxFramerate = 30.0

        @Option(help: ArgumentHelp("Stop after this many seconds.", valueName: "s"), transform: OptionValue.duration)
        var duration: Double?

        /// The selected sources.
        var selection: SourceSelection {
            SourceSelection(source: source, audio: audio, microphone: microphone, camera: nil)
        }
    }

    /// The process that receives the captured frames, or the session to share from here.
    struct DestinationOptions: ParsableArguments {
        @Option(
            help: ArgumentHelp("Port of its --source process:PORT.", valueName: "n"), transform: OptionValue.port)
        var port: UInt16?

        @Option(
            help: ArgumentHelp("Path of its --source process:/PATH, instead of a port.", valueName: "path"),
            completion: .file())
        var socket: String?

        @Option(
            help: """
                How frames reach the other process. shared-memory copies nothing through the kernel. It needs the same user on \
                the same machine, or a --socket that both processes can open. Default: tcp.
                """)
        var transport: Transport?

        @OptionGroup var tokens: BroadcastTokenOptions

        @Option(
            help: ArgumentHelp("Share from this process: the session file of rtcshare offer.", valueName: "file"),
            completion: .file())
        var session: String?

        @Option(
            help: ArgumentHelp("The viewer's answer. Needs --session.", valueName: "file"), completion: .file())
        var answer: String?
    }

    enum Transport: String, ExpressibleByArgument, CaseIterable {
        case tcp
        case sharedMemory = "shared-memory"
    }

    func validate() throws {
        guard
            [destination.port != nil, destination.socket != nil, destination.session != nil].count(where: { $0 }) == 1
        else {
            throw ValidationError(
                "give one of --port and --socket (the process that shares has --source process:…), or --session to share "
                    + "from here")
        }
        guard (destination.session == nil) == (destination.answer == nil) else {
            throw ValidationError("--session and --answer go together")
        }
    }

    func run() async throws {
        try await reportingFailure {
            if let session = destination.session, let answer = destination.answer {
                return try await share(session, answer: answer)
            }
            let endpoint = destination.port.map { BroadcastEndpoint.port($0) } ?? .path(destination.socket ?? "")
            let sender = try BroadcastSender(
                endpoint: endpoint, tokens: try destination.tokens.tokens(),
                transport: destination.transport == .sharedMemory ? .sharedMemory : .tcp)
            let sources = try OpenedSources(captured.selection, maximumFrameRate: captured.maxFramerate)
            Terminal.shared.say(sources.introduction)
            try await Broadcasting(sender: sender, sources: sources).run(duration: captured.duration)
        }
    }

    /// Shares from here, as long as the session's file exists.
    private func share(_ session: String, answer: String) async throws {
        var sharing = SharingOptions(
            sources: try .parse([]), output: try .parse([]), quality: try .parse([]), special: try .parse([]))
        sharing.sources.source = captured.source
        sharing.sources.audio = captured.audio
        sharing.sources.microphone = captured.microphone
        sharing.quality.maxFramerate = captured.maxFramerate
        sharing.output.duration = captured.duration
        let share = StoredShare(
            answerPath: answer, sessionPath: session, sharing: sharing, running: try RunningOptions.parse([]),
            place: try ViewerMembershipOptions.parse([]), endsWithSession: true)
        try await share.run()
    }
}

/// A capture in progress: from the first search for the sharing process to the end of the share or of the source, or to
/// Ctrl-C.
private struct Broadcasting {
    let sender: BroadcastSender
    let sources: OpenedSources
    private let runner = SourceRunner()
    /// The timeout for the end of the sources and the sender.
    private static let closingTime = Duration.seconds(3)

    /// An event of the capture.
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
        defer { withExtendedLifetime(interruption) {} }
        let watcher = Task { for await _ in interruption.requested { continuation.yield(.interrupted) } }
        defer { watcher.cancel() }
        sender.add(observer: listener)
        sources.content.source.add(observer: listener)
        sources.content.source.add(observer: sender.captureObserver)
        sources.content.source.add(sender.video)
        let sound = sources.contentSound
        sound?.add(sender.audio)
        sources.microphone?.source.add(sender.microphone)
        for sound in sources.audio + [sources.microphone].compactMap({ $0 }) {
            sound.source.add(observer: listener.ofSounds)
        }
        try sender.start()
        ServiceManager.ready()
        do {
            try await follow(occurrences, duration: duration, continuation: continuation)
        } catch {
            await stop()
            throw error
        }
        await stop()
        withExtendedLifetime((listener, sound)) {}
    }

    private func stop() async {
        ServiceManager.stopping()
        sources.content.source.remove(sender.video)
        runner.stop(sender, sources.stop)
        runner.stop(sender, sender.stop)
        await withTimeLimit(Self.closingTime) { [runner] in await runner.finish() }
    }

    private func follow(
        _ occurrences: AsyncStream<Occurrence>, duration: Double?, continuation: AsyncStream<Occurrence>.Continuation
    ) async throws {
        var hasStarted = false
        var failure: CaptureSourceError?
        let clock = duration.map { duration in
            Task {
                try await Task.sleep(for: .seconds(duration))
                continuation.yield(.durationOver)
            }
        }
        defer { clock?.cancel() }
        for await occurrence in occurrences {
            switch occurrence {
            case .connected:
                Terminal.shared.say("Connected. The share shows what this process captures.")
                guard !hasStarted else { continue }
                hasStarted = true
                try await runner.start(sender, sources.start)
            case .waiting(let reason): Terminal.shared.say("Waiting for the share: \(reason).")
            case .sourceFailed(let error): failure = error
            case .ended(let error?): throw error
            case .ended(nil):
                if let failure { throw CommandFailure(.unavailable, failure.explanation) }
                return Terminal.shared.say("Done. The share or the source has ended.")
            case .interrupted: return Terminal.shared.say("Stopped.")
            case .durationOver:
                let time = (duration ?? 0).inSeconds
                guard hasStarted else {
                    throw CommandFailure(
                        .unavailable, "no share connected within \(time)", try: "rtcshare serve --source process:PORT")
                }
                return Terminal.shared.say("The capture has ended after \(time).")
            }
        }
    }
}

/// Converts the notifications of the sender and the source to occurrences.
private final class BroadcastingListener: BroadcastSenderObserver, CaptureSourceObserver {
    private let continuation: AsyncStream<Broadcasting.Occurrence>.Continuation
    /// Reports interruptions of audio to the user.
    let ofSounds = SoundListener()

    init(_ continuation: AsyncStream<Broadcasting.Occurrence>.Continuation) {
        self.continuation = continuation
    }

    func broadcastSenderDidConnect() { continuation.yield(.connected) }
    func broadcastSenderIsWaiting(reason: String) { continuation.yield(.waiting(reason)) }
    func broadcastSenderDidEnd(error: BroadcastError?) { continuation.yield(.ended(error)) }

    func captureDidFail(error: CaptureSourceError) {
        // A dropped frame is not an end.
        if error.kind != .invalidFrame { continuation.yield(.sourceFailed(error)) }
    }
}

/// Reports the reason for missing audio to the user. Its end, or its failure, does not end the capture.
private final class SoundListener: CaptureSourceObserver {
    func captureWasInterrupted(by interruption: CaptureInterruption) {
        Terminal.shared.say("The capture continues without audio: \(interruption).")
    }

    func captureInterruptionDidEnd(_ interruption: CaptureInterruption) { Terminal.shared.say("The audio is back.") }
}
