internal import RTCShareContentShare
internal import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareSignaling
internal import RTCShareWireFormat

/// The course of a running share: the effects of each event, and the texts that report it.
///
/// It does nothing itself and waits for nothing. The share looks up the facts of an event and applies the effects in their order.
struct ShareCourse {
    /// The state of the share at an event.
    struct Situation {
        var isPaused = false
        /// Why a paused share can't resume with its content.
        var lossDuringPause: Explanation?
        /// How the capture of the content ended. Nil while it runs, while the share is paused, and while the content changes.
        var captureEnd: Result<Void, CaptureSourceError>?
        /// Whether a viewer or a server receives the share.
        var isAnyConnected = false
        /// The number of invited viewers.
        var viewers = 0
        /// Whether all servers have failed for good.
        var areServersGivenUp = false
    }

    enum Event: Sendable {
        /// A viewer is connected for the first time. Its answer rejects the `refused` media.
        case viewerConnected(name: String, isWaiting: Bool, refused: Set<SharedMedia>)
        case viewerUnresponsive(name: String)
        case viewerReconnected(name: String)
        /// A viewer is gone, and `others` who have answered are left.
        case viewerLeft(name: String, failure: (any Error)?, isRemoved: Bool, others: Int)
        /// A viewer waits to be admitted, by `command`.
        case viewerWaiting(name: String, command: String)
        case published(report: [String])
        case publishingFailed(server: Int, error: any Error, RetryPolicy, report: [String])
        /// Another event of a server.
        case serverChanged(report: [String])
        /// All frames of the content before its end are sent.
        case sourceEnded((any Error)?)
        /// The capture of the content has ended. Viewers may not have its last frames.
        case captureEnded
        case captureFailedToStart(any Error)
        case otherSourceEnded(name: String, CaptureSourceError?)
        case sourceSilent(Duration)
        case stopRequested
        case sessionRemoved
        case durationOver
        /// A second has passed.
        case second
    }

    enum Effect {
        case say([String])
        /// Mark the stored session as used.
        case consume
        /// Start the sources, and then the time that `--duration` limits.
        case startCapture
        case end
        case fail(any Error)
    }

    /// Whether viewers come by a link, and find the share running.
    private let isServed: Bool
    private let isRecording: Bool
    /// The limit of the share's duration in seconds.
    private let duration: Double?
    private let servers: Int
    private var attempts: FirstAttempts
    /// Whether a viewer or a server has received the share.
    private var hasReached = false

    private static let end = "The share has ended: its source has ended."

    init(isServed: Bool, servers: Int, isRecording: Bool, duration: Double?) {
        (self.isServed, self.servers, self.isRecording, self.duration) = (isServed, servers, isRecording, duration)
        attempts = FirstAttempts(count: servers)
    }

    /// Whether the share continues without viewers.
    var outlivesViewers: Bool { isServed || servers > 0 }

    /// Returns the effects of an event. An event without effects changes nothing.
    mutating func receive(_ event: Event, in situation: Situation) -> [Effect] {
        switch event {
        case .viewerConnected(let name, let isWaiting, let refused):
            return viewerConnected(name, isWaiting, refused, situation)
        case .viewerUnresponsive(let name): return [.say(["\(name) does not answer. Waiting for it to come back."])]
        case .viewerReconnected(let name): return [.say(["\(name) is back."])]
        case .viewerLeft(let name, let failure, let isRemoved, let others):
            let isLast = others == 0 && !outlivesViewers
            if isLast, let failure { return [.fail(failure)] }
            return (isRemoved ? [] : [.say(Self.departure(of: name, goneBy: failure))])
                + (isLast ? Self.end("The share has ended: no viewer is left.") : [])
        case .viewerWaiting(let name, let command):
            return [.say(["\(name) is waiting to be admitted. Run: \(command)"])]
        case .published(let report): return [.say(report)] + receiverReached()
        case .publishingFailed(let server, let error, let retryPolicy, let report):
            if !isServed, situation.viewers == 0 {
                let noneBegan = attempts.note(server, retryPolicy) && !hasReached
                if noneBegan || situation.areServersGivenUp { return [.fail(error)] }
            }
            return [.say(report)]
        case .serverChanged(let report): return [.say(report)]
        case .sourceEnded(let error):
            if situation.isPaused { return [] }
            return error.map { [.fail($0)] } ?? Self.end(Self.end)
        case .captureEnded:
            let loss = situation.lossDuringPause.map {
                Effect.say(CommandFailure(.unavailable, $0).lines(after: "The share stays paused: "))
            }
            return [loss].compactMap { $0 } + endUnseen(situation)
        case .captureFailedToStart(let error): return [.fail(error)]
        case .otherSourceEnded(let name, nil):
            return [.say(["The \(name) has ended. The share continues without it."])]
        case .otherSourceEnded(let name, let error?):
            let introduction = "The \(name) is gone. The share continues without it: "
            return [.say(CommandFailure(explaining: error).lines(after: introduction))]
        case .sourceSilent(let time):
            return [.say(["The source has given no frame for \(time.seconds.inSeconds). The share waits for one."])]
        case .stopRequested: return (hasReached ? [] : [.consume]) + Self.end(Share.stop)
        case .sessionRemoved: return Self.end("The share has ended: its session file was removed.")
        case .durationOver: return Self.end("The share has ended after \((duration ?? 0).inSeconds).")
        case .second: return endUnseen(situation)
        }
    }

    private static func end(_ words: String) -> [Effect] { [.say([words]), .end] }

    /// The effects that wait for the first viewer or server.
    private mutating func receiverReached() -> [Effect] {
        guard !hasReached else { return [] }
        hasReached = true
        return isServed ? [.consume] : [.consume, .startCapture]
    }

    private mutating func viewerConnected(
        _ name: String, _ isWaiting: Bool, _ refused: Set<SharedMedia>, _ situation: Situation
    ) -> [Effect] {
        // No other viewer is there to share to.
        if !outlivesViewers, situation.viewers == 1, refused.contains(.content) {
            return [.fail(CommandFailure(.unavailable, "\(ContentShareStatus.refusedByPeer)"))]
        }
        // One line reports a viewer who waits to be admitted.
        return receiverReached() + (isWaiting ? [] : [.say(["\(name) is connected."])])
            + SharedMedia.allCases.filter(refused.contains).map {
                .say(["\(name) receives no \($0.name): its answer rejects it."])
            }
    }

    /// The report of a viewer's end.
    static func departure(of name: String, goneBy error: (any Error)?) -> [String] {
        guard let error else { return ["\(name) left."] }
        return CommandFailure(explaining: error).lines(after: "\(name) is disconnected: ")
    }

    /// The end of a share whose capture has ended, and whose last frame no viewer waits for. If viewers are there, the frames
    /// before the end are sent first: ``Event/sourceEnded(_:)`` follows them.
    private func endUnseen(_ situation: Situation) -> [Effect] {
        guard !isRecording, !situation.isAnyConnected, let end = situation.captureEnd else { return [] }
        return end.error.map { [.fail($0)] } ?? Self.end(Self.end)
    }
}

extension SharedMedia {
    /// Its name for people.
    fileprivate var name: String {
        switch self {
        case .content: "video"
        case .contentAudio: "audio"
        case .camera: "camera"
        case .microphone: "microphone"
        }
    }
}
