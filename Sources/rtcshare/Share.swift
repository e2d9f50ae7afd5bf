internal import Capture
internal import ContentShare
internal import Foundation
internal import Media
internal import NetworkRuntime
internal import PeerConnection

/// A share under way: connects, sends, and ends for whichever reason comes first.
struct Share {
    let session: AttendeeSession
    let sources: OpenedSources
    let options: SharingOptions
    let interruption: Interruption

    /// What can happen to a share, from whatever side.
    fileprivate enum Occurrence: Sendable {
        case connected
        case disconnected
        case reconnected
        case ended((any Error)?)
        case shareStopped(ContentShareStatus)
        case sourceEnded((any Error)?)
        /// Something beside the content has ended; with an error where that was not asked for.
        case besideEnded(String, CaptureSourceError?)
        case interrupted
        case durationOver
        case second
        case statusDue
    }

    /// Runs until the end. `connect` has the connection begin, once there is somebody to hear how that goes; `consume` is
    /// called once, when the session has served.
    func run(connect: () async throws -> Void, consume: () throws -> Void) async throws {
        let statistics = try options.stats.map { try StatisticsWriter(path: $0) }
        let (occurrences, continuation) = AsyncStream.makeStream(of: Occurrence.self)
        let listener = Listener(continuation)
        session.add(observer: listener)
        session.contentShare.add(observer: listener)
        let failures = listen(continuation)
        let teller = SourceTeller(sources.content)
        let watchers = watch(continuation)
        defer { for watcher in watchers { watcher.cancel() } }
        do {
            try await begin()
            try await connect()
            Terminal.shared.say("Connecting …")
            try await follow(occurrences, statistics: statistics, continuation: continuation, consume: consume)
            await finish(statistics)
        } catch {
            await finish(statistics)
            throw error
        }
        withExtendedLifetime((listener, failures, teller)) {}
    }

    /// Puts everything in place; it is sent from when there is a viewer.
    private func begin() async throws {
        var configuration = options.configuration
        configuration.sourceCanWait = sources.contentCanWait
        try await session.contentShare.start(
            source: sources.content, audio: sources.contentSound, configuration: configuration,
            audioConfiguration: LocalAudioConfiguration(maxBitrate: options.audioBitrate))
        if let camera = sources.camera { try await session.startLocalVideo(source: camera) }
        if let microphone = sources.microphone { try await session.startLocalAudio(source: microphone) }
    }

    private func listen(_ continuation: AsyncStream<Occurrence>.Continuation) -> [BesideListener] {
        let sounds =
            sources.audio.map { ("sound", $0) } + [sources.microphone].compactMap { $0 }.map { ("microphone", $0) }
        let listeners = sounds.map { name, source in
            let listener = BesideListener(name: name, continuation)
            source.add(observer: listener)
            return listener
        }
        guard let camera = sources.camera else { return listeners }
        let listener = BesideListener(name: "camera", continuation)
        camera.add(observer: listener)
        return listeners + [listener]
    }

    private func watch(_ continuation: AsyncStream<Occurrence>.Continuation) -> [Task<Void, Never>] {
        [
            Task { for await _ in interruption.requested { continuation.yield(.interrupted) } },
            ticker(every: .seconds(1), .second, continuation),
            ticker(every: Terminal.shared.statusInterval, .statusDue, continuation),
        ]
    }

    private func ticker(
        every interval: Duration, _ occurrence: Occurrence, _ continuation: AsyncStream<Occurrence>.Continuation
    ) -> Task<Void, Never> {
        Task {
            while !Task.isCancelled {
                guard (try? await Task.sleep(for: interval)) != nil else { return }
                continuation.yield(occurrence)
            }
        }
    }

    private func follow(
        _ occurrences: AsyncStream<Occurrence>, statistics: StatisticsWriter?,
        continuation: AsyncStream<Occurrence>.Continuation, consume: () throws -> Void
    ) async throws {
        var status = ShareStatus()
        var isConnected = false
        var wasConnected = false
        for await occurrence in occurrences {
            switch occurrence {
            case .connected:
                isConnected = true
                wasConnected = true
                try consume()
                try sources.start()
                Terminal.shared.say("Connected.")
                for media in await session.refusedMedia().subtracting([.content]) {
                    Terminal.shared.say("The viewer takes no \(media.name): its answer declines it.")
                }
                if let duration = options.duration {
                    Task {
                        try? await Task.sleep(for: .seconds(duration))
                        continuation.yield(.durationOver)
                    }
                }
            case .disconnected:
                isConnected = false
                Terminal.shared.say("The viewer does not answer; waiting for it to come back.")
            case .reconnected:
                isConnected = true
                Terminal.shared.say("The viewer is back.")
            case .ended(let error?): throw error
            case .ended(nil): return Terminal.shared.say("The viewer left.")
            case .shareStopped(let status):
                switch status {
                case .sourceSilent, .refusedByPeer: throw CommandFailure(.unavailable, "\(status)")
                // The session's end tells the rest.
                case .ok, .replaced, .closedByPeer, .connectionFailed: continue
                }
            case .besideEnded(let name, let error?):
                Terminal.shared.say("The \(name) is gone, the share goes on without it: \(error)")
            case .besideEnded(let name, nil):
                Terminal.shared.say("The \(name) has ended, the share goes on without it.")
            case .interrupted:
                if !wasConnected { try consume() }
                return Terminal.shared.say("Stopped.")
            case .durationOver:
                return Terminal.shared.say("Done: \((options.duration ?? 0).formatted()) seconds shared.")
            case .sourceEnded(let error?):
                throw error
            case .sourceEnded(nil):
                return Terminal.shared.say("Done: the source has ended.")
            case .second:
                try statistics?.write(await session.statistics())
            case .statusDue:
                guard isConnected else { continue }
                Terminal.shared.status(status.line(for: await session.statistics()))
            }
        }
    }

    /// Ends capture, lets what is queued leave, says goodbye, and writes the last report.
    private func finish(_ statistics: StatisticsWriter?) async {
        Terminal.shared.finishStatus()
        sources.stop()
        await session.connection.drainQueue()
        try? statistics?.write(await session.statistics())
        await session.leave()
    }
}

/// Turns what the session tells into occurrences.
private final class Listener: AttendeeSessionObserver, ContentShareObserver {
    private let continuation: AsyncStream<Share.Occurrence>.Continuation

    init(_ continuation: AsyncStream<Share.Occurrence>.Continuation) {
        self.continuation = continuation
    }

    func sessionDidConnect() { continuation.yield(.connected) }
    func sessionDidDisconnect() { continuation.yield(.disconnected) }
    func sessionDidReconnect() { continuation.yield(.reconnected) }
    func sessionDidEnd(error: (any Error)?) { continuation.yield(.ended(error)) }
    func contentShareDidStop(status: ContentShareStatus) { continuation.yield(.shareStopped(status)) }
    func contentShareSourceDidEnd(error: (any Error)?) { continuation.yield(.sourceEnded(error)) }
}

/// Hears of the end of a sound or a camera, which ends no share.
private final class BesideListener: CaptureSourceObserver {
    private let name: String
    private let continuation: AsyncStream<Share.Occurrence>.Continuation

    init(name: String, _ continuation: AsyncStream<Share.Occurrence>.Continuation) {
        self.name = name
        self.continuation = continuation
    }

    func captureDidStop() { continuation.yield(.besideEnded(name, nil)) }

    func captureDidFail(error: CaptureSourceError) {
        // A frame that was left out is no end.
        if error.kind != .invalidFrame { continuation.yield(.besideEnded(name, error)) }
    }
}

extension SharedMedia {
    /// What a person calls it.
    fileprivate var name: String {
        switch self {
        case .content: "picture of the content"
        case .contentAudio: "sound of the content"
        case .camera: "camera"
        case .microphone: "microphone"
        }
    }
}
