internal import Foundation
internal import RTCShareMedia
import RTCShareTransport
internal import RTCShareVideoCoding
internal import RTCShareWireFormat

/// A run with one sender, one content, and one time window.
struct ScreenRun {
    /// The common settings of all runs.
    struct Settings: Codable, Sendable {
        var seconds: Double
        var warmUp: Double
        var bitrate: Int
        var seed: UInt64
        /// The deviation of changes from a regular schedule, as a fraction of their interval.
        var jitter: Double
        /// The number of comparisons of the viewer's frame with the expected one.
        var samples: Int
    }

    let settings: Settings
    let screen: VirtualScreen
    let commands: PeerCommands
    let folder: TemporaryFolder
    /// The processors for senders; those of the benchmark if nil.
    let processors: [Int]?
    /// The directory for a frame of each run, the newest at the end of the window.
    var pictures: String?

    func run(_ content: ScreenContent, _ peer: ScreenPeer, round: Int, moving: Moving) async throws -> ScreenResult {
        let display = screen.display
        var script = makeScript(content, moving)
        let first = try DrawnTick { try display.draw(script.next(), pictures: moving.upload) }
        let viewer = try await ScreenViewer(of: display.size)
        var environment = ProcessInfo.processInfo.environment
        environment["DISPLAY"] = screen.name
        environment["XDG_STATE_HOME"] = folder.path
        environment.merge(screen.environment) { $1 }
        environment.merge(PeerCommands.tokens) { $1 }
        let sender = try ChildProcess(
            commands.command(for: peer), environment: environment, log: folder.file("\(peer.rawValue).log"),
            processors: processors)
        let companion = try commands.companion(of: peer).map {
            try ChildProcess(
                $0, environment: environment, log: folder.file("\(peer.rawValue)-companion.log"), processors: processors
            )
        }
        defer { companion?.end() }
        do {
            let result = try await measure(
                content, peer, round: round, moving: moving, script: script, after: first,
                senders: [sender, companion].compactMap { $0 },
                viewer: viewer)
            sender.end()
            await viewer.close()
            return result
        } catch {
            sender.end()
            await viewer.close()
            throw BenchmarkFailure("\(peer.name), \(content.rawValue): \(error)\n\(sender.lastWords)")
        }
    }

    /// The moving images, here and in the X server.
    struct Moving: Sendable {
        let pictures: MovingPictures
        let upload: ContentDisplay.Upload?
    }

    private func makeScript(_ content: ScreenContent, _ moving: Moving) -> ContentScript {
        ContentScript(
            content, size: screen.display.size, font: screen.display.font, pictures: moving.pictures,
            seed: settings.seed)
    }

    private func measure(
        _ content: ScreenContent, _ peer: ScreenPeer, round: Int, moving: Moving, script: ContentScript,
        after first: DrawnTick, senders: [ChildProcess], viewer: ScreenViewer
    ) async throws -> ScreenResult {
        let sender = senders[0]
        let offer = try await sender.read(within: .seconds(20))
        guard offer.hasPrefix("v=0") else { throw BenchmarkFailure("it made no offer") }
        let answered = MonotonicClock.now
        sender.write(try await viewer.answer(offer))
        try await waitForPicture(viewer, sender)
        var result = ScreenResult(
            size: "\(screen.display.size)", content: content, peer: peer, round: round)
        if let connected = viewer.connected, let first = viewer.seen.first {
            result.connecting = (connected - answered).milliseconds
            result.firstPicture = (first.decoded - connected).milliseconds
        }
        let player = ContentPlayer(
            after: first,
            ticks: ScheduledScript(
                script: script, schedule: TickSchedule(content, jitter: settings.jitter, seed: settings.seed)),
            display: screen.display, pictures: moving.upload)
        let drawn: [DrawnTick]
        let window: (start: Instant, end: Instant)
        do {
            try await Task.sleep(for: .seconds(settings.warmUp))
            window = try await watch(senders: senders, viewer: viewer, into: &result)
            drawn = try player.stop()
        } catch {
            _ = try? player.stop()
            throw error
        }
        try await Task.sleep(for: .seconds(1))
        if let ending = viewer.ending { throw BenchmarkFailure("the connection ended: \(ending)") }
        guard sender.isRunning else { throw BenchmarkFailure("the sender ended by itself") }
        let newest = viewer.newest
        sender.end()
        let seen = viewer.seen
        result.changeRate = Double(drawn.count { window.start <= $0.shown && $0.shown < window.end }) / settings.seconds
        result.addLatencies(of: drawn, seen: seen, from: window.start, to: window.end)
        guard result.unreadablePictures * 2 <= seen.count else {
            throw BenchmarkFailure(
                "\(result.unreadablePictures) of \(seen.count) pictures do not show their number: they are too damaged")
        }
        let counted = seen.filter { window.start <= $0.decoded && $0.decoded < window.end }
        result.frameRate = Double(counted.count) / settings.seconds
        result.keyFrames = viewer.keyFrames.count { window.start <= $0 && $0 < window.end }
        try compare(
            viewer.samples, newest: newest, lastTick: drawn.count - 1, script: makeScript(content, moving), moving,
            into: &result)
        if let pictures, let newest {
            let name = "\(pictures)/\(result.size)-\(content.rawValue)-\(peer.rawValue)-\(round).png"
            try PNGWriter.write(newest.picture, to: name)
        }
        return result
    }

    private func waitForPicture(_ viewer: ScreenViewer, _ sender: ChildProcess) async throws {
        let end = ContinuousClock.now + .seconds(20)
        while viewer.newest == nil {
            if let ending = viewer.ending { throw BenchmarkFailure("there is no connection: \(ending)") }
            guard sender.isRunning else { throw BenchmarkFailure("the sender ended before it sent a picture") }
            guard ContinuousClock.now < end else { throw BenchmarkFailure("no picture came within 20 s") }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Measures the window: the used processor time and the received data from its start to its end.
    private func watch(
        senders: [ChildProcess], viewer: ScreenViewer, into result: inout ScreenResult
    ) async throws -> (start: Instant, end: Instant) {
        let before = await viewer.counts
        let processorBefore = processorTimes(senders)
        let pictures = viewer.seen.count
        let start = MonotonicClock.now
        let part = settings.seconds / Double(settings.samples + 1)
        for _ in 0..<settings.samples {
            try await Task.sleep(for: .seconds(part))
            viewer.keepShown()
        }
        let rest = start.advanced(by: .seconds(settings.seconds)) - MonotonicClock.now
        if rest > .zero { try await Task.sleep(for: rest) }
        let end = MonotonicClock.now
        let processorAfter = processorTimes(senders)
        let after = await viewer.counts
        let seconds = (end - start).seconds
        result.senderProcessor = (processorAfter.sender - processorBefore.sender) * 1000 / seconds
        result.serverProcessor = (processorAfter.server - processorBefore.server) * 1000 / seconds
        result.bitrate = Double(after.bytes - before.bytes) / 125 / seconds
        result.packetsLost = Int(after.packetsLost - before.packetsLost)
        let decoded = viewer.seen.count - pictures
        if decoded > 0 { result.decoding = (after.decodeSeconds - before.decodeSeconds) * 1000 / Double(decoded) }
        return (start, end)
    }

    private func processorTimes(_ senders: [ChildProcess]) -> (sender: Double, server: Double) {
        (
            senders.reduce(0) { $0 + ProgramTime.seconds(of: $1.pid) },
            screen.servers.reduce(0) { $0 + ProgramTime.seconds(of: $1.pid) }
        )
    }

    // MARK: Similarity

    /// Draws the content again, and compares the received frames with it.
    private func compare(
        _ samples: [ScreenViewer.Sample], newest: ScreenViewer.Sample?, lastTick: Int, script: ContentScript,
        _ moving: Moving, into result: inout ScreenResult
    ) throws {
        var script = script
        var canvas = ScreenCanvas(size: screen.display.size, font: screen.display.font, pictures: moving.pictures)
        let converter = VideoConverter()
        let atTicks = Dictionary(grouping: samples) { $0.seen.tick ?? -1 }
        var similarities: [Double] = []
        for tick in 0...lastTick {
            canvas.draw(script.next())
            for sample in atTicks[tick, default: []] {
                similarities.append(try similarity(sample.picture, canvas, converter))
            }
        }
        guard try screen.display.screen() == canvas.pixels else {
            throw BenchmarkFailure("the screen does not show what was drawn: is another program drawing on it?")
        }
        result.restSimilarity = try newest.map { try similarity($0.picture, canvas, converter) }
        result.similarity =
            similarities.isEmpty ? nil : similarities.reduce(0, +) / Double(similarities.count)
        result.leastSimilarity = similarities.min()
    }

    private func similarity(
        _ picture: PixelBuffer, _ canvas: ScreenCanvas, _ converter: VideoConverter
    ) throws -> Double {
        let expected = try converter.convert(canvas.picture, to: canvas.size)
        guard picture.size == canvas.size else {
            // A smaller frame is evaluated at the viewer's size.
            return try StructuralSimilarity.luma(converter.convert(picture, to: canvas.size), expected)
        }
        return try StructuralSimilarity.luma(picture, expected)
    }
}
