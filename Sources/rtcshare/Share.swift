internal import Foundation
internal import Media
internal import NetworkRuntime
internal import PeerConnection

/// A share under way: connects, sends, and ends for whichever reason comes first.
struct Share {
    let connection: Connection
    let pipeline: VideoSendPipeline
    let options: SharingOptions
    let interruption: Interruption

    /// What can happen to a share, from whatever side.
    private enum Occurrence: Sendable {
        case event(PeerConnection.Event)
        case interrupted
        case durationOver
        case sourceEnded((any Error)?)
        case second
        case statusDue
    }

    /// Runs until the end. `consume` is called once, when the session has served.
    func run(consume: () throws -> Void) async throws {
        let statistics = try options.stats.map { try StatisticsWriter(path: $0) }
        pipeline.attach(connection)
        let (occurrences, continuation) = AsyncStream.makeStream(of: Occurrence.self)
        let watchers = watch(continuation)
        defer { for watcher in watchers { watcher.cancel() } }
        do {
            Terminal.shared.say("Connecting …")
            try await follow(occurrences, statistics: statistics, continuation: continuation, consume: consume)
            await finish(statistics)
        } catch {
            await finish(statistics)
            throw error
        }
    }

    private func watch(_ continuation: AsyncStream<Occurrence>.Continuation) -> [Task<Void, Never>] {
        [
            Task { for await event in connection.events { continuation.yield(.event(event)) } },
            Task { for await _ in interruption.requested { continuation.yield(.interrupted) } },
            Task { for await error in pipeline.end { continuation.yield(.sourceEnded(error)) } },
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
            case .event(.connected):
                isConnected = true
                wasConnected = true
                try consume()
                pipeline.keep(to: await connection.sendingLimits)
                try pipeline.start()
                pipeline.requestKeyFrame()
                Terminal.shared.say("Connected.")
                if let duration = options.duration {
                    Task {
                        try? await Task.sleep(for: .seconds(duration))
                        continuation.yield(.durationOver)
                    }
                }
            case .event(.keyFrameRequested):
                pipeline.requestKeyFrame()
            case .event(.disconnected):
                isConnected = false
                Terminal.shared.say("The viewer does not answer; waiting for it to come back.")
            case .event(.reconnected):
                isConnected = true
                Terminal.shared.say("The viewer is back.")
                pipeline.requestKeyFrame()
            case .event(.closedByPeer):
                return Terminal.shared.say("The viewer left.")
            case .event(.failed(let failure)):
                throw await ConnectionError(failure, on: connection)
            case .event(.gatheringComplete), .event(.frame):
                continue
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
                try statistics?.write(pipeline.complete(await connection.statistics()))
            case .statusDue:
                guard isConnected else { continue }
                Terminal.shared.status(status.line(for: pipeline.complete(await connection.statistics())))
            }
        }
    }

    /// Lets what is queued leave, says goodbye, and writes the last report.
    private func finish(_ statistics: StatisticsWriter?) async {
        Terminal.shared.finishStatus()
        pipeline.stop()
        await connection.drainQueue()
        try? statistics?.write(pipeline.complete(await connection.statistics()))
        await connection.close()
    }
}
