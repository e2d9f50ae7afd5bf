internal import ContentShare
internal import Foundation
internal import Media
internal import NetworkRuntime
internal import PeerConnection
internal import Synchronization
internal import VideoCoding
internal import WireFormat

/// A view under way: decodes what comes, records it, and reports tiles.
final class Viewing: Sendable {
    /// What was seen.
    struct Seen: Sendable {
        var connected: ContinuousClock.Instant?
        var firstPicture: ContinuousClock.Instant?
        var frames = 0
        var newest: PixelBuffer?
        /// The tiles on show, by the words that they were announced with.
        var tiles: [String] = []
    }

    private enum Occurrence: Sendable {
        case event(PeerConnection.Event)
        case firstPicture(PixelSize)
        case interrupted
        case durationOver
        case second
    }

    private let connection: Connection
    private let snapshot: String?
    private let statistics: StatisticsWriter?
    private let recording: Recording?
    private let seen = Mutex(Seen())
    private let decoder: Mutex<VideoReceivePipeline?> = Mutex(nil)
    private let occurrences: AsyncStream<Occurrence>
    private let continuation: AsyncStream<Occurrence>.Continuation
    /// Hears each decoded picture, on the decoder's thread.
    private let observer: (@Sendable (PixelBuffer) -> Void)?

    init(
        connection: Connection, record: String? = nil, snapshot: String? = nil, statistics: StatisticsWriter? = nil,
        observer: (@Sendable (PixelBuffer) -> Void)? = nil
    ) throws {
        self.connection = connection
        self.snapshot = snapshot
        self.statistics = statistics
        self.observer = observer
        recording = record.map { Recording(path: $0) }
        (occurrences, continuation) = AsyncStream.makeStream()
    }

    /// What was seen so far.
    var summary: Seen { seen.withLock { $0 } }

    /// Views until the sender leaves, the time is over or the person has seen enough.
    func run(duration: Double?, interruption: Interruption?) async throws {
        let pipeline = try VideoReceivePipeline(
            picture: { [self] buffer, _ in take(buffer) },
            undecodable: { [connection] in Task { await connection.requestKeyFrame(ofReceiver: 0) } })
        let watchers = watch(interruption)
        do {
            try await follow(pipeline, duration: duration)
        } catch {
            await finish(pipeline, watchers)
            // What was seen before the failure is kept; the failure is the news.
            try? keep()
            throw error
        }
        await finish(pipeline, watchers)
        try keep()
    }

    private func keep() throws {
        defer { removeTiles() }
        try recording?.close()
        if let snapshot, let picture = summary.newest { try PNGWriter.write(picture, to: snapshot) }
    }

    private func removeTiles() {
        for tile in seen.withLock({ $0.tiles }) { Terminal.shared.say("\(tile) removed") }
    }

    private func watch(_ interruption: Interruption?) -> [Task<Void, Never>] {
        var watchers = [
            Task { for await event in connection.events { continuation.yield(.event(event)) } },
            Task {
                while (try? await Task.sleep(for: .seconds(1))) != nil { continuation.yield(.second) }
            },
        ]
        if let interruption {
            watchers.append(Task { for await _ in interruption.requested { continuation.yield(.interrupted) } })
        }
        return watchers
    }

    private func follow(_ pipeline: VideoReceivePipeline, duration: Double?) async throws {
        for await occurrence in occurrences {
            switch occurrence {
            case .event(.connected):
                seen.withLock { $0.connected = .now }
                Terminal.shared.say("Connected.")
            case .event(.frame(let frame, _)):
                try recording?.write(frame)
                pipeline.decode(frame)
            case .firstPicture(let size):
                await reportTile(size)
                guard let duration else { continue }
                Task {
                    try? await Task.sleep(for: .seconds(duration))
                    continuation.yield(.durationOver)
                }
            case .event(.disconnected):
                Terminal.shared.say("The sender does not answer; waiting for it to come back.")
            case .event(.reconnected):
                Terminal.shared.say("The sender is back.")
            case .event(.closedByPeer):
                return Terminal.shared.say("The sender ended the share.")
            case .event(.failed(let failure)):
                throw await ConnectionError(failure, on: connection)
            case .event(.gatheringComplete), .event(.keyFrameRequested):
                continue
            case .second:
                try statistics?.write(pipeline.complete(await connection.statistics()))
            case .interrupted, .durationOver:
                return
            }
        }
    }

    private func finish(_ pipeline: VideoReceivePipeline, _ watchers: [Task<Void, Never>]) async {
        pipeline.stop()
        try? statistics?.write(pipeline.complete(await connection.statistics()))
        await connection.close()
        for watcher in watchers { watcher.cancel() }
    }

    private func take(_ buffer: PixelBuffer) {
        let isFirst = seen.withLock { seen in
            defer {
                seen.frames += 1
                seen.newest = buffer
                seen.firstPicture = seen.firstPicture ?? .now
            }
            return seen.firstPicture == nil
        }
        observer?(buffer)
        if isFirst { continuation.yield(.firstPicture(buffer.size)) }
    }

    private func reportTile(_ size: PixelSize) async {
        let streams = await connection.remoteStreamIDs
        for (index, id) in streams.enumerated() {
            let attendee = try? AttendeeID(id)
            let kind = attendee?.modality == .content ? "content" : "video"
            Terminal.shared.say("Tile \(index + 1) added: \(attendee?.rawValue ?? "(no id)"), \(kind), \(size)")
            seen.withLock { $0.tiles.append("Tile \(index + 1)") }
        }
    }
}

/// An IVF file that begins with the first key frame, whose size its header needs.
private final class Recording: Sendable {
    private let path: String
    private let state = Mutex<(writer: IVFWriter, start: Duration)?>(nil)

    init(path: String) {
        self.path = path
    }

    func write(_ frame: AssembledFrame) throws {
        try state.withLock { state in
            let arrival = Duration.nanoseconds(frame.completion.nanoseconds)
            if state == nil {
                guard let size = frame.size else { return }
                let picture = PixelSize(width: size.width, height: size.height)
                state = (try IVFWriter(path: path, size: picture), arrival)
            }
            guard let (writer, start) = state else { return }
            try writer.write(frame.data, timestamp: arrival - start)
        }
    }

    func close() throws {
        try state.withLock { try $0?.writer.close() }
    }
}
