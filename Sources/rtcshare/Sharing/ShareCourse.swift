internal import RTCShareContentShare
internal import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareSignaling
internal import RTCShareWireFormat

/// The events of a running share, with their effects and the texts that report them.
///
/// It has no side effects and never waits. The share finds the facts of an event, and applies the effects in their
/// order.
struct ShareCourse {
    /// The state of the share at an event.
    struct Situation {
        var isPaused = false
        /// The reason why a paused share can't resume with its content. Nil if it can.
        var lossDuringPause: Explanation?
        /// The end of the content's capture. Nil while it runs, while the share is paused, and while the content
        /// changes.
        var captureEnd: Result<Void, CaptureSourceError>?
        /// Whether a viewer or a server is sent the content, so that the encoder reports its end.
        var isContentSent = false
        /// The number of viewers, without publications.
        var viewers = 0
        /// Whether every publication has failed permanently.
        var areServersGivenUp = false
    }

    enum Event: Sendable {
        /// A viewer is connected for the first time. Its answer rejects the `refused` media.
        case viewerConnected(name: String, isWaiting: Bool, refused: Set<SharedMedia>)
        case viewerUnresponsive(name: String)
        case viewerReconnected(name: String)
        /// A viewer has left, and `others` who have answered remain.
        case viewerLeft(name: String, failure: (any Error)?, isRemoved: Bool, others: Int)
        /// A viewer waits for admission by `command`.
        case viewerWaiting(name: String, command: String)
        case published(report: [String])
        case publishingFailed(server: Int, error: any Error, RetryPolicy, report: [String])
        /// Another event of a server.
        case serverChanged(report: [String])
        /// The content has ended, and all its frames were sent.
        case sourceEnded((any Error)?)
        /// The capture of the content has ended. The last frames may not be sent yet.
        case captureEnded
        case captureFailedToStart(any Error)
        case otherSourceEnded(name: String, CaptureSourceError?)
        case sourceSilent(Duration)
        /// The processor is too slow for a codec, which is replaced for some time.
        case processorTooSlow(codec: String, replacement: String)
        case stopRequested
        case sessionRemoved
        case durationOver
        /// A second has passed.
        case second
    }

    enum Effect {
        case say([String])
        /// Print lines about viewers who come and go, whom the presenter's page lists.
        case mention([String])
        /// Mark the stored session as used.
        case consume
        /// Start the sources, and then the time limit of `--duration`.
        case startCapture
        case end
        case fail(any Error)
    }

    /// Whether viewers join a running share by a link.
    private let isServed: Bool
    /// Whether the media are recorded, so that the last frames are awaited.
    var isRecording: Bool
    /// The limit of the share's duration in seconds.
    private let duration: Double?
    private let servers: Int
    private var attempts: FirstAttempts
    /// Whether a viewer or a server has received the share.
    private var hasReached = false

    /// The number of seconds since the content's capture has ended.
    private var secondsSinceEnd = 0

    /// The maximum number of seconds in which the last frames are sent.
    static let mostSecondsToEnd = 10
    private static let end = "The share has ended: its source has ended."

    init(isServed: Bool, servers: Int, isRecording: Bool, duration: Double?) {
        (self.isServed, self.servers, self.isRecording, self.duration) = (isServed, servers, isRecording, duration)
        attempts = FirstAttempts(count: servers)
    }

    /// Whether the share continues without viewers.
    var outlivesViewers: Bool { isServed || servers > 0 }

    /// Returns the effects of an event.
    mutating func receive(_ event: Event, in situation: Situation) -> [Effect] {
        switch event {
        case .viewerConnected(let name, let isWaiting, let refused):
            return viewerConnected(name, isWaiting, refused, situation)
        case .viewerUnresponsive(let name): return [.mention(["\(name) does not answer. Waiting for it to come back."])]
        case .viewerReconnected(let name): return [.mention(["\(name) is back."])]
        case .viewerLeft(let name, let failure, let isRemoved, let others):
            let isLast = others == 0 && !outlivesViewers
            if isLast, let failure { return [.fail(failure)] }
            return (isRemoved ? [] : [.mention(Self.departure(of: name, goneBy: failure))])
                + (isLast ? Self.end("The share has ended: no viewer is left.") : [])
        case .viewerWaiting(let name, let command):
            return [.mention(["\(name) is waiting to be admitted.", "Run: \(command)"])]
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
            // The content that ended before can be another one.
            secondsSinceEnd = 0
            let loss = situation.lossDuringPause.map {
                Effect.say(CommandFailure(.unavailable, $0).lines(after: "The share stays paused: "))
            }
            return [loss].compactMap { $0 } + endOfCapture(situation)
        case .captureFailedToStart(let error): return [.fail(error)]
        case .otherSourceEnded(let name, nil):
            return [.say(["The \(name) has ended. The share continues without it."])]
        case .otherSourceEnded(let name, let error?):
            let introduction = "The \(name) is gone. The share continues without it: "
            return [.say(CommandFailure(explaining: error).lines(after: introduction))]
        case .sourceSilent(let time):
            return [.say(["The source has given no frame for \(time.seconds.inSeconds). The share waits for one."])]
        case .processorTooSlow(let codec, let replacement):
            return [.say(["The processor is too slow for \(codec): viewers receive \(replacement) for some time."])]
        case .stopRequested: return (hasReached ? [] : [.consume]) + Self.end(Share.stop)
        case .sessionRemoved: return Self.end("The share has ended: its session file was removed.")
        case .durationOver: return Self.end("The share has ended after \((duration ?? 0).inSeconds).")
        case .second:
            secondsSinceEnd = situation.captureEnd == nil ? 0 : secondsSinceEnd + 1
            return endOfCapture(situation)
        }
    }

    private static func end(_ words: String) -> [Effect] { [.say([words]), .end] }

    /// Returns the effects of the first viewer or server.
    private mutating func receiverReached() -> [Effect] {
        guard !hasReached else { return [] }
        hasReached = true
        return isServed ? [.consume] : [.consume, .startCapture]
    }

    private mutating func viewerConnected(
        _ name: String, _ isWaiting: Bool, _ refused: Set<SharedMedia>, _ situation: Situation
    ) -> [Effect] {
        // There is no other viewer to share to.
        if !outlivesViewers, situation.viewers == 1, refused.contains(.content) {
            return [.fail(CommandFailure(.unavailable, "\(ContentShareStatus.refusedByPeer)"))]
        }
        // A separate line reports a viewer who waits for admission.
        return receiverReached() + (isWaiting ? [] : [.mention(["\(name) is connected."])])
            + SharedMedia.allCases.filter(refused.contains).map {
                .say(["\(name) receives no \($0.name): its answer rejects it."])
            }
    }

    /// Returns the report of a viewer's end.
    static func departure(of name: String, goneBy error: (any Error)?) -> [String] {
        guard let error else { return ["\(name) left."] }
        return CommandFailure(explaining: error).lines(after: "\(name) is disconnected: ")
    }

    /// Returns the end of a share whose capture has ended, if the last frames are neither sent nor recorded. Otherwise
    /// they are sent first, and ``Event/sourceEnded(_:)`` follows, except if the encoder has added its sink after the
    /// end.
    private func endOfCapture(_ situation: Situation) -> [Effect] {
        guard let end = situation.captureEnd else { return [] }
        let isAwaited = isRecording || situation.isContentSent
        if isAwaited, secondsSinceEnd < Self.mostSecondsToEnd { return [] }
        return end.error.map { [.fail($0)] } ?? Self.end(Self.end)
    }
}

extension SharedMedia {
    /// The medium's name for people.
    fileprivate var name: String {
        switch self {
        case .content: "video"
        case .contentAudio: "audio"
        case .camera: "camera"
        case .microphone: "microphone"
        }
    }
}
