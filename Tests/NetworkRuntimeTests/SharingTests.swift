import Capture
import Media
import NetworkRuntime
import PeerConnection
import Testing
import VideoCoding
import WireFormat

/// What a program gets that leaves everything to `share(over:)`, over real sockets of the loopback interface.
@Suite(.timeLimit(.minutes(1)))
struct SharingTests {
    /// Two that have each other's description. A viewer that leaves at once does so before the sender can reach it.
    private static func connect(
        limit: Duration = .seconds(30), viewerLeaves: Bool = false
    ) async throws -> (sender: Connection, viewer: Connection) {
        var configuration = Connection.Configuration()
        configuration.addresses = [.v4(0x7F00_0001)]
        configuration.peer.connectTimeout = limit
        let sender = try await Connection(
            as: .offerer, identity: LocalIdentity(media: [.video(streamID: "alice#content", isContent: true)]),
            configuration: configuration)
        let viewer = try await Connection(
            as: .answerer, identity: LocalIdentity(media: []), configuration: configuration)
        let offer = try await sender.makeOffer()
        let answer = try await viewer.answer(offer: offer)
        if viewerLeaves { await viewer.close() }
        try await sender.accept(answer: answer, to: offer)
        return (sender, viewer)
    }

    private static func pipeline(_ source: any CaptureSource) throws -> VideoSendPipeline {
        try VideoSendPipeline(source: source, settings: .init(bitsPerSecond: 300_000))
    }

    private static var pattern: any CaptureSource {
        get throws { try TestPatternSource(size: PixelSize(width: 320, height: 180), framesPerSecond: 15) }
    }

    @Test func `A share goes on until the viewer leaves, and ends without an error`() async throws {
        let (sender, viewer) = try await Self.connect()
        let viewing = Task {
            var frames = 0
            for await event in viewer.events {
                guard case .frame = event else { continue }
                frames += 1
                if frames == 3 { break }
            }
            await viewer.close()
            return frames
        }
        try await Self.pipeline(Self.pattern).share(over: sender)
        #expect(await viewing.value == 3)
    }

    @Test func `A source that fails ends the share with its error, and the viewer hears the goodbye`() async throws {
        let (sender, viewer) = try await Self.connect()
        let viewing = Task {
            for await event in viewer.events {
                if case .closedByPeer = event { return true }
            }
            return false
        }
        await #expect(throws: FailingSource.Failure.self) {
            try await Self.pipeline(FailingSource()).share(over: sender)
        }
        #expect(await viewing.value)
        await viewer.close()
    }

    @Test func `A viewer that is not there ends the share with the pairs that were tried`() async throws {
        let (sender, _) = try await Self.connect(limit: .milliseconds(500), viewerLeaves: true)
        let pipeline = try Self.pipeline(Self.pattern)
        let error = await #expect(throws: ConnectionError.self) { try await pipeline.share(over: sender) }
        guard case .unreachable(let pairs) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(!pairs.isEmpty)
    }

    @Test func `Cancelling the task ends the share`() async throws {
        let (sender, viewer) = try await Self.connect()
        let pipeline = try Self.pipeline(Self.pattern)
        let sharing = Task { try await pipeline.share(over: sender) }
        for await event in viewer.events {
            switch event {
            case .frame: sharing.cancel()
            case .closedByPeer:
                await viewer.close()
                try await sharing.value
                return
            default: continue
            }
        }
        Issue.record("the viewer heard no goodbye")
    }
}

/// Ends as soon as it is started.
private final class FailingSource: CaptureSource, BroadcastingVideoSource {
    struct Failure: Error {}

    let captureFormat = CaptureFormat(size: PixelSize(width: 64, height: 64), framesPerSecond: 30)
    let broadcaster = VideoBroadcaster()

    func start() { broadcaster.end(error: Failure()) }
    func stop() {}
}
