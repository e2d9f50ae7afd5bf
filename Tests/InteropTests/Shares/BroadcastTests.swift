import Foundation
import RTCShareCapture
import RTCShareCaptureBroadcast
import RTCShareContentShare
import RTCShareLocks
import RTCShareMedia
import RTCSharePeerConnection
import RTCShareSDP
import RTCShareTransport
import TestSupport
import Testing

@testable import rtcshare

extension Interop {
    /// A screen that one process captures and another shares.
    @Suite(.serialized)
    struct BroadcastTests {
        static let transports = ["tcp", "shared-memory"]
        private static let pattern = ["--source", "test:320x180@30"]
        private static let patternSize = PixelSize(width: 320, height: 180)

        // MARK: What the viewer sees

        @Test("A killed extension pauses the share, and the next one has it go on", arguments: transports)
        func killedExtensionPauses(transport: String) async throws {
            let stage = try await Stage()
            defer { stage.stop() }
            let viewer = try await Onlooker(of: stage)
            defer { viewer.leave() }
            await viewer.log.wait { $0.contains(.added) }
            await viewer.log.wait { $0.contains(.paused) }
            for round in 1...2 {
                let before = viewer.log.entries.count
                let sending = try stage.broadcast(Self.pattern + ["--transport", transport])
                // Each begins to count anew: what is seen is the new one's, once the old one's last picture was shown again.
                await viewer.log.wait { entries in
                    let counters = entries[before...].compactMap { $0.counter(of: Self.patternSize) }.suffix(5)
                    return counters.count == 5 && counters.first ?? .max < 150 && Array(counters) == counters.sorted()
                }
                kill(sending.processIdentifier, SIGKILL)
                #expect(try await sending.outcome(timeout: .seconds(10)).signal == SIGKILL)
                await viewer.log.wait { $0.count { $0 == .paused } >= round + 1 }
            }
            #expect(viewer.log.entries.count { $0 == .resumed } >= 2)
            #expect(viewer.log.entries.count { $0 == .added } == 1 && !viewer.log.entries.contains(.removed))
            let last = try stage.broadcast(Self.pattern + ["--transport", transport])
            await viewer.log.wait { $0.count { $0 == .resumed } >= 3 }
            stage.sending?.interrupt()
            #expect(try await stage.sending?.outcome(timeout: .seconds(20)).status == 0)
            // The share is over, and nobody needs the extension any more.
            let outcome = try await last.outcome(timeout: .seconds(20))
            #expect(outcome.status == 0 && outcome.standardError.contains("Done"), "\(outcome.standardError)")
            await viewer.log.wait { $0.contains(.removed) }
        }

        @Test("Five killed shares leave the extension there, which goes on with each", arguments: transports)
        func fiveKilledShares(transport: String) async throws {
            let folder = try TemporaryFolder()
            let port = try freePort()
            let extensionStage = try await Stage(in: folder, port: port, sends: false)
            let capturing = try extensionStage.broadcast(Self.pattern + ["--transport", transport])
            defer { capturing.stop() }
            var newest = 0
            for round in 1...6 {
                let stage = try await Stage(in: folder, port: port)
                defer { stage.stop() }
                let viewer = try await Onlooker(of: stage)
                defer { viewer.leave() }
                let entries = await viewer.log.wait {
                    $0.compactMap { $0.counter(of: Self.patternSize) }.count >= 2
                }
                let counter = try #require(entries.compactMap { $0.counter(of: Self.patternSize) }.last)
                #expect(counter > newest, "the same extension counts on")
                newest = counter
                let sending = try #require(stage.sending)
                guard round < 6 else {
                    sending.interrupt()
                    #expect(try await sending.outcome(timeout: .seconds(20)).status == 0)
                    continue
                }
                kill(sending.processIdentifier, SIGKILL)
                #expect(try await sending.outcome(timeout: .seconds(10)).signal == SIGKILL)
            }
            let outcome = try await capturing.outcome(timeout: .seconds(20))
            #expect(outcome.status == 0, "\(outcome.standardError)")
            #expect(
                outcome.standardError.components(separatedBy: "Connected. The share").count == 7,
                "\(outcome.standardError)")
        }

        // MARK: Fifty times in a row

        @Test("Fifty extensions killed one after the other leave the source there", arguments: transports)
        func fiftyExtensionsKilled(transport: String) async throws {
            let folder = try TemporaryFolder()
            let environment = Stage.environment(folder)
            let source = try BroadcastSource(
                endpoint: .port(0), tokens: BroadcastTokens(environment: environment), environment: environment)
            guard case .port(let port) = source.endpoint else {
                Issue.record("no port")
                return
            }
            let log = Journal<Seen>()
            let watch = Watch(log)
            source.add(observer: watch)
            source.add(watch)
            try source.start()
            defer { source.stop() }
            let stage = try await Stage(in: folder, port: port, sends: false)
            for round in 1...50 {
                let before = log.entries.count
                let sending = try stage.broadcast(Self.pattern + ["--transport", transport])
                await log.wait { $0[before...].contains { $0.counter(of: Self.patternSize) != nil } }
                #expect(!source.broadcaster.isMuted)
                kill(sending.processIdentifier, SIGKILL)
                _ = try await sending.outcome(timeout: .seconds(10))
                // The first pause was before the first extension.
                await log.wait { $0.count { $0 == .paused } >= round + 1 }
                #expect(source.broadcaster.isMuted)
            }
            #expect(log.entries.count { $0 == .resumed } == 50 && !log.entries.contains(.removed))
        }

        @Test("Fifty apps killed one after the other leave the extension there", arguments: transports)
        func fiftyAppsKilled(transport: String) async throws {
            let folder = try TemporaryFolder()
            let python = try #require(RunningProgram.find("python3"))
            let place: String
            let stage: Stage
            let capturing: RunningProgram
            if transport == "tcp" {
                let port = try freePort()
                stage = try await Stage(in: folder, port: port, sends: false)
                place = "\(port)"
                capturing = try stage.broadcast(Self.pattern)
            } else {
                place = folder.file("app.sock").path
                stage = try await Stage(in: folder, port: 1, sends: false)
                capturing = try stage.broadcast(Self.pattern + ["--transport", transport], at: ["--socket", place])
            }
            defer { capturing.stop() }
            for round in 1...50 {
                let app = try RunningProgram(
                    python, [Peers.script("broadcast_app.py"), place], environment: stage.appEnvironment, in: folder)
                try await app.wait(for: "pictures of round \(round)", timeout: .seconds(30)) {
                    app.standardOutput.components(separatedBy: " 320x180").count > 2
                }
                if round == 50 {
                    app.stop()
                    #expect(try await app.outcome(timeout: .seconds(10)).status == 0)
                } else {
                    kill(app.processIdentifier, SIGKILL)
                    _ = try await app.outcome(timeout: .seconds(10))
                }
            }
            let outcome = try await capturing.outcome(timeout: .seconds(20))
            #expect(outcome.status == 0, "\(outcome.standardError)")
            #expect(outcome.standardError.components(separatedBy: "Connected. The share").count == 51)
        }

        // MARK: Tokens and statuses

        @Test("A wrong token ends the extension with 77, and nobody prints one")
        func wrongToken() async throws {
            let stage = try await Stage()
            defer { stage.stop() }
            let viewer = try await Onlooker(of: stage)
            defer { viewer.leave() }
            await viewer.log.wait { $0.contains(.added) }
            let secret = "a token that fits nothing"
            for variable in ["RTCSHARE_MY_TOKEN", "RTCSHARE_PEER_TOKEN"] {
                let outcome = try await stage.broadcast(Self.pattern, environment: [variable: secret])
                    .outcome(timeout: .seconds(30))
                #expect(outcome.status == 77, "\(outcome.standardError)")
                for text in [outcome.standardError, stage.sending?.standardError ?? ""] {
                    for token in [secret, Stage.appToken, Stage.extensionToken] { #expect(!text.contains(token)) }
                }
            }
            #expect(stage.sending?.standardError.contains("was refused: it showed another token") == true)
            // Nobody else is kept out by it.
            let right = try stage.broadcast(Self.pattern)
            defer { right.stop() }
            await viewer.log.wait { $0.contains { $0.counter(of: Self.patternSize) != nil } }
        }

        @Test("Tokens come from files of their owner alone; without any, both sides end with 77")
        func tokenFiles() async throws {
            let folder = try TemporaryFolder()
            let stage = try await Stage(in: folder, port: try freePort(), sends: false)
            let none = ["RTCSHARE_MY_TOKEN": "", "RTCSHARE_PEER_TOKEN": ""]
            func end(_ options: [String], _ environment: [String: String]) async throws -> RunningProgram.Outcome {
                try await stage.broadcast(Self.pattern + options, environment: environment)
                    .outcome(timeout: .seconds(30))
            }
            #expect(try await end([], none).status == 77)
            let mine = try folder.write("\(Stage.extensionToken)\n", to: "mine").path
            let peers = try folder.write("\(Stage.appToken)\n", to: "peers").path
            let options = ["--my-token-file", mine, "--peer-token-file", peers]
            #expect(chmod(mine, 0o600) == 0 && chmod(peers, 0o644) == 0)
            let open = try await end(options, none)
            #expect(open.status == 77 && open.standardError.contains("chmod 600 \(peers)"), "\(open.standardError)")
            #expect(chmod(peers, 0o600) == 0)
            #expect(try await end(options.dropLast() + [folder.file("nowhere").path], none).status == 66)
            let short = try folder.write("short\n", to: "short").path
            #expect(chmod(short, 0o600) == 0)
            #expect(try await end(options.dropLast() + [short], none).status == 77)

            let share = try await Stage(in: folder, port: stage.port, appEnvironment: none)
            _ = try await Onlooker(of: share).leave()
            let untold = try await share.sending?.outcome(timeout: .seconds(30))
            #expect(untold?.status == 77, "\(untold?.standardError ?? "")")
            // The right files let both in, whatever the environment says.
            let next = try await Stage(in: folder, port: stage.port)
            defer { next.stop() }
            let viewer = try await Onlooker(of: next)
            defer { viewer.leave() }
            let capturing = try next.broadcast(Self.pattern + options, environment: none)
            defer { capturing.stop() }
            await viewer.log.wait { $0.contains { $0.counter(of: Self.patternSize) != nil } }
        }

        @Test("A port that is taken and an over-long path end with 69, nonsense with 64")
        func unusableEndpoints() async throws {
            let folder = try TemporaryFolder()
            let environment = Stage.environment(folder)
            let taken = try BroadcastSource(
                endpoint: .port(0), tokens: BroadcastTokens(environment: environment), environment: environment)
            let stage = try await Stage(in: folder, port: UInt16("\(taken.endpoint)"))
            _ = try await Onlooker(of: stage).leave()
            let outcome = try await stage.sending?.outcome(timeout: .seconds(30))
            #expect(outcome?.status == 69, "\(outcome?.standardError ?? "")")
            #expect(
                outcome?.standardError.contains("another program uses port") == true
            )
            let long = "/tmp/" + String(repeating: "x", count: 103)
            let socket = try await stage.broadcast(Self.pattern, at: ["--socket", long]).outcome(timeout: .seconds(30))
            #expect(socket.status == 69 && socket.standardError.contains("1 to 107 bytes"), "\(socket.standardError)")
            for wrong in [
                [], ["--port", "0"], ["--port", "70000"], ["--port", "5000", "--socket", "/tmp/x"],
                ["--session", "x"], ["--port", "5000", "--transport", "pigeon"],
                ["--port", "5000", "--source", "none"], ["--port", "5000", "--max-framerate", "0"],
                ["--port", "5000", "--duration", "0"],
            ] {
                let outcome = try await stage.broadcast([], at: wrong).outcome(timeout: .seconds(30))
                #expect(outcome.status == 64, "\(wrong): \(outcome.standardError)")
            }
            withExtendedLifetime(taken) {}
        }

        @Test("The extension's end by itself pauses, its source's end ends the share")
        func extensionEnds() async throws {
            let stage = try await Stage()
            defer { stage.stop() }
            let viewer = try await Onlooker(of: stage)
            defer { viewer.leave() }
            let first = try stage.broadcast(Self.pattern + ["--duration", "2"])
            let done = try await first.outcome(timeout: .seconds(30))
            #expect(done.status == 0 && done.standardError.contains("ended after 2 seconds"), "\(done.standardError)")
            await viewer.log.wait { entries in
                entries.contains { $0.counter(of: Self.patternSize) != nil } && entries.last == .paused
            }
            let second = try stage.broadcast(Self.pattern)
            await viewer.log.wait { $0.last?.counter(of: Self.patternSize) != nil }
            second.interrupt()
            #expect(try await second.outcome(timeout: .seconds(20)).status == 0)
            await viewer.log.wait { $0.last == .paused }
            let file = stage.folder.file("short.y4m")
            var film = Data("YUV4MPEG2 W64 H48 F10:1 C420\n".utf8)
            for frame in 0..<5 {
                film += Data("FRAME\n".utf8) + Data(repeating: UInt8(40 * frame), count: 64 * 48 * 3 / 2)
            }
            try film.write(to: file)
            let third = try stage.broadcast(["--source", "file:\(file.path)"])
            #expect(try await third.outcome(timeout: .seconds(20)).status == 0)
            let sent = try await stage.sending?.outcome(timeout: .seconds(20))
            #expect(sent?.status == 0 && sent?.standardError.contains("its source has ended.") == true)
        }

        // MARK: Sound, and a share handed over

        @Test("The viewer hears the extension's sound beside its picture", arguments: transports)
        func viewerHearsExtension(transport: String) async throws {
            let stage = try await Stage(offering: ["--audio", "process"])
            defer { stage.stop() }
            let viewing = try await stage.share.view(["--record", "heard.webm"])
            defer { viewing.stop() }
            try stage.send(["--audio", "process"])
            let capturing = try stage.broadcast(Self.pattern + ["--audio", "tone:440", "--transport", transport])
            defer { capturing.stop() }
            try await viewing.wait(for: "the sound", timeout: .seconds(30)) {
                viewing.standardError.contains("'s screen is added.")
                    && viewing.standardError.contains(/Video 1 .*320x180/)
            }
            try await Task.sleep(for: .seconds(2))
            stage.sending?.interrupt()
            let seen = try await viewing.outcome(timeout: .seconds(20))
            // The tile may have had its size from the start.
            #expect(seen.status == 0 && seen.standardError.contains(/Video 1 .*320x180/), "\(seen.standardError)")
            let heard = try await RecordedFilm.sound("heard.webm", in: stage.folder).suffix(PulseDaemon.sampleRate)
            #expect(PulseDaemon.amplitude(ofHertz: 440, in: Array(heard)) > 0.1)
        }

        @Test("A session handed to the extension is shared from there, until its file is removed")
        func handedSession() async throws {
            let folder = try TemporaryFolder()
            let share = try Share(environment: Stage.environment(folder), in: folder)
            try await share.offer(Self.pattern)
            let viewer = try await Onlooker(answering: share)
            defer { viewer.leave() }
            let sending = try share.start(
                ["capture", "--session", share.session.path, "--answer", share.answer.path] + Self.pattern)
            defer { sending.stop() }
            await viewer.log.wait { $0.compactMap { $0.counter(of: Self.patternSize) }.count >= 5 }
            #expect(viewer.log.entries.count { $0 == .added } == 1)
            try FileManager.default.removeItem(at: share.session)
            let outcome = try await sending.outcome(timeout: .seconds(20))
            #expect(outcome.status == 0, "\(outcome.standardError)")
            #expect(outcome.standardError.contains("its session file was removed"), "\(outcome.standardError)")
            await viewer.log.wait { $0.contains(.removed) }
        }
    }
}

/// A share of a broadcast: its app's process, and the place where extensions find it.
private final class Stage {
    static let appToken = "what the app says first"
    static let extensionToken = "what the extension says first"

    let folder: TemporaryFolder
    let port: UInt16
    let share: Share
    let appEnvironment: [String: String]
    private(set) var sending: RunningProgram?

    /// With `sends`, an offer of the share is made, whose answer ``send(_:)`` takes.
    init(
        in given: TemporaryFolder? = nil, port: UInt16? = nil, sends: Bool = true, offering options: [String] = [],
        appEnvironment more: [String: String] = [:]
    ) async throws {
        let folder = try given ?? TemporaryFolder()
        self.folder = folder
        self.port = try port ?? freePort()
        appEnvironment = Self.environment(folder).merging(more) { $1 }
        share = try Share(environment: appEnvironment, in: folder)
        if sends { try await share.offer(["--source", "process:\(self.port)"] + options) }
    }

    /// What the app's process is told; of the tokens, the extension is told the contrary.
    static func environment(_ folder: TemporaryFolder) -> [String: String] {
        var environment = Interop.CommandLineTests.environment(folder)
        environment["XDG_RUNTIME_DIR"] = folder.file("run").path
        environment["RTCSHARE_MY_TOKEN"] = appToken
        environment["RTCSHARE_PEER_TOKEN"] = extensionToken
        return environment
    }

    /// Starts the app's process.
    func send(_ options: [String] = []) throws {
        sending = try share.send(["--source", "process:\(port)"] + options)
    }

    /// Starts an extension's process.
    func broadcast(
        _ options: [String], at place: [String]? = nil, environment more: [String: String] = [:]
    ) throws -> RunningProgram {
        var environment = Self.environment(folder)
        environment["RTCSHARE_MY_TOKEN"] = Self.extensionToken
        environment["RTCSHARE_PEER_TOKEN"] = Self.appToken
        return try RunningProgram(
            share.rtcshare, ["capture"] + (place ?? ["--port", "\(port)"]) + options,
            environment: environment.merging(more) { $1 }, in: folder)
    }

    func stop() { sending?.stop() }
}

/// What somebody sees of a share, in order.
private enum Seen: Equatable {
    case added, removed, paused, resumed
    /// A picture, with the number that the test pattern shows.
    case picture(PixelSize, counter: Int?)

    /// The number that a test pattern of `size` shows.
    func counter(of size: PixelSize) -> Int? {
        guard case .picture(size, let counter) = self else { return nil }
        return counter
    }
}

/// Notes what happens, for a test to wait for: woken by each entry, never by the clock.
private final class Journal<Entry: Sendable>: Sendable {
    private struct State {
        var entries: [Entry] = []
        var waiters: [AsyncStream<Void>.Continuation] = []
    }

    private let state = Locked(State())

    var entries: [Entry] { state.withLock { $0.entries } }

    func append(_ entry: Entry) {
        let waiters = state.withLock { state in
            state.entries.append(entry)
            return state.waiters
        }
        for waiter in waiters { waiter.yield() }
    }

    /// Returns the entries once they are as wanted. The suite's time limit ends a wait in vain.
    @discardableResult
    func wait(_ location: SourceLocation = #_sourceLocation, until condition: ([Entry]) -> Bool) async -> [Entry] {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        state.withLock { $0.waiters.append(continuation) }
        continuation.yield()
        for await _ in stream {
            let entries = entries
            if condition(entries) { return entries }
        }
        Issue.record("waited in vain; the last were \(entries.suffix(20))", sourceLocation: location)
        return entries
    }
}

/// Who views a share, in this process.
private final class Onlooker: VideoTileObserver {
    let log = Journal<Seen>()
    private let session: AttendeeSession

    /// Answers the offer of `stage`, and has its app send.
    convenience init(of stage: Stage) async throws {
        try await self.init(answering: stage.share)
        try stage.send()
    }

    init(answering share: Share) async throws {
        session = try await AttendeeSession.viewing(as: AttendeeID("bob"))
        session.tiles.add(observer: self)
        let offer = try SessionDescription.parse(
            String(contentsOf: share.folder.file("offer.sdp"), encoding: .utf8))
        let answer = try await session.connection.answer(offer: offer)
        try Data(answer.description.utf8).write(to: share.answer)
    }

    /// Does not wait for it: a test that has failed is over.
    func leave() { Task { [session] in await session.leave() } }

    func videoTileDidAdd(_ tile: VideoTileState) {
        log.append(.added)
        try? session.tiles.bind(Watch(log), toTile: tile.tileID)
    }
    func videoTileDidRemove(_ tile: VideoTileState) { log.append(.removed) }
    func videoTileDidPause(_ tile: VideoTileState) { log.append(.paused) }
    func videoTileDidResume(_ tile: VideoTileState) { log.append(.resumed) }
}

/// Notes pictures, and what is said of their source.
private final class Watch: VideoSink, CaptureSourceObserver {
    private let log: Journal<Seen>

    init(_ log: Journal<Seen>) { self.log = log }

    func receive(_ frame: VideoFrame) {
        log.append(.picture(frame.size, counter: TestPattern.readCounter(from: frame.buffer)))
    }

    func captureWasInterrupted(by interruption: CaptureInterruption) { log.append(.paused) }
    func captureInterruptionDidEnd(_ interruption: CaptureInterruption) { log.append(.resumed) }
    func captureDidStop() { log.append(.removed) }
    func captureDidFail(error: CaptureSourceError) { log.append(.removed) }
}
