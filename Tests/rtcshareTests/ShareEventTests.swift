import RTCShareMedia
import RTCShareWireFormat
import Testing

@testable import RTCShareContentShare
@testable import RTCSharePeerConnection
@testable import RTCShareSignaling
@testable import RTCShareTransport
@testable import rtcshare

/// The events of viewers and servers, from the room to their effects.
@SharingActor @Suite("The viewers and servers of a running share", .timeLimit(.minutes(1)))
struct ShareEventTests {
    private struct Endpoint: PublishingEndpoint {
        struct Failure: Error {}

        let kind = "whip"
        let name = "server"

        func publish(_ room: SharingRoom) async throws -> any PublishingSession { throw Failure() }
        func retryPolicy(after error: any Error) -> RetryPolicy { .permanent }
    }

    @SharingActor private final class Stage {
        let room: SharingRoom
        let share: RunningShare
        let source = FakeSource("1")
        let output = FakeOutput()
        private let events = AsyncStream.makeStream(of: Share.Occurrence.self)

        init(isPublished: Bool = false, options: [String] = []) throws {
            room = try SharingRoom(owner: AttendeeID("alice"))
            share = RunningShare(
                room: room, sources: try .fakes(source), options: try ServeCommand.parsed(options).sharing,
                inviting: RunningShare.Inviting(
                    media: [.content], configuration: Connection.Configuration(), policy: nil),
                places: PublishingServers(isPublished ? [Endpoint()] : [], of: room), events: events.continuation,
                output: output)
        }

        /// Returns a new viewer of the room, whose connection is not open.
        func viewer() throws -> RoomViewer {
            try room.register(
                Connection(
                    unopenedAs: .offerer, identity: LocalIdentity(media: []), configuration: Connection.Configuration()),
                membership: RoomMembership()
            ).viewer
        }

        /// Changes the state of a viewer's connection, and returns the effects.
        func change(_ viewer: RoomViewer, to state: ConnectionState) async -> [String] {
            viewer.session.change(to: state)
            return await effects()
        }

        func effects() async -> [String] { await share.handle(events.stream) }
    }

    @Test(
        "The maximum bitrate of the video and of all connections follows the size, unless the presenter chose one",
        arguments: [false, true])
    func bitrate(isChosen: Bool) async throws {
        let stage = try Stage(options: ["--codec", "vp8"] + (isChosen ? ["--max-bitrate", "900"] : []))
        try await stage.share.begin()
        var connections: [Connection] = []
        /// Adds a viewer, and returns the different bitrates of the video and of all viewers, in kbit/s.
        func bitrates() async throws -> Set<Int64> {
            await settle()
            _ = await stage.share.effects(of: .course(.second))
            let viewer = try stage.viewer()
            stage.share.add(viewer)
            connections.append(viewer.session.connection)
            var all: Set<DataRate?> = [stage.output.configuration?.maxBitrate, stage.share.contentBitrate]
            for connection in connections { all.insert(await connection.maximumBitrate) }
            return Set(all.map { ($0?.bitsPerSecond ?? 0) / 1000 })
        }
        #expect(try await bitrates() == [isChosen ? 900 : 2500])
        stage.source.resize(to: PixelSize(width: 3840, height: 2160))
        #expect(try await bitrates() == [isChosen ? 900 : 41_400])
        stage.source.resize(to: PixelSize(width: 1280, height: 720))
        #expect(try await bitrates() == [isChosen ? 900 : 4600])
        try await stage.share.set(VideoEncodingParameters(maxSize: PixelSize(width: 640, height: 360)))
        #expect(try await bitrates() == [isChosen ? 900 : 2500])
        try await stage.share.set(VideoEncodingParameters(maxBitrate: .kilobitsPerSecond(1000)))
        stage.source.resize(to: PixelSize(width: 3840, height: 2160))
        #expect(try await bitrates() == [1000])
        try await stage.share.set(VideoEncodingParameters(), automatic: [.maxBitrate])
        #expect(try await bitrates() == [2500])
    }

    @Test("The content hint can be chosen, and follows the source again")
    func hint() async throws {
        let stage = try Stage(options: ["--hint", "text"])
        try await stage.share.begin()
        try await stage.share.set(VideoEncodingParameters(contentHint: .motion))
        #expect(stage.output.configuration?.contentHint == .motion)
        try await stage.share.set(VideoEncodingParameters(maxFramerate: 7), automatic: [.contentHint])
        #expect(stage.output.configuration?.contentHint == nil && stage.output.configuration?.maxFramerate == 7)
        #expect(await stage.share.report().hint == nil)
    }

    private static let noViewer = ["The share has ended: no viewer is left.", "end"]

    @Test("The states of an invited viewer's connection are reported, and the first one starts the share")
    func invitedViewer() async throws {
        let stage = try Stage()
        let viewer = try stage.viewer()
        stage.share.add(viewer)
        #expect(await stage.effects().isEmpty)
        #expect(await stage.change(viewer, to: .connecting).isEmpty)
        #expect(
            await stage.change(viewer, to: .connected) == ["consume", "start capture", "The viewer is connected."])
        #expect(
            await stage.change(viewer, to: .disconnected)
                == ["The viewer does not answer. Waiting for it to come back."])
        #expect(await stage.change(viewer, to: .connected) == ["The viewer is back."])
        #expect(await stage.change(viewer, to: .closed) == ["The viewer left."] + Self.noViewer)
    }

    @Test("A viewer who connected or left before the share knows of it is reported")
    func earlyViewer() async throws {
        let stage = try Stage()
        let (first, second) = (try stage.viewer(), try stage.viewer())
        first.session.change(to: .connected)
        second.session.change(to: .closed)
        for viewer in [first, second] {
            let served = ServedViewer(
                id: viewer.id, state: .new, isWaiting: false, address: nil, browser: "Firefox 140", since: 0)
            #expect(await stage.share.effects(of: .served(.joined(viewer, served))).isEmpty)
        }
        #expect(
            await stage.effects() == [
                "consume", "start capture", "Viewer 1 (Firefox 140) is connected.", "Viewer 2 (Firefox 140) left.",
            ])
    }

    @Test("A viewer who is disconnected by the presenter is not reported as one who left, and the last ends the share")
    func kickedViewers() async throws {
        let stage = try Stage()
        let viewers = try (1...2).map { _ in try stage.viewer() }
        for viewer in viewers {
            stage.share.add(viewer)
            _ = await stage.change(viewer, to: .connected)
        }
        _ = await stage.share.answer(.kick(viewer: 1))
        #expect(await stage.effects().isEmpty)
        _ = await stage.share.answer(.kick(viewer: 2))
        #expect(await stage.effects() == Self.noViewer)
    }

    @Test("A viewer who waits for admission is reported with the command that admits the viewer")
    func waitingViewer() async throws {
        let served = ServedViewer(id: 3, state: .connected, isWaiting: true, address: nil, browser: nil, since: 0)
        let effects = await (try Stage()).share.effects(of: .served(.waitingForApproval(served)))
        #expect(
            effects.map(ShareCourseTests.words) == [
                "Viewer 3 is waiting to be admitted.|Run: rtcshare admit 3"
            ])
    }

    @Test("The events of a server are reported, and the first publication starts the share")
    func server() async throws {
        let stage = try Stage(isPublished: true)
        let viewer = try stage.viewer()
        let table: [(Publication.Event, [String])] = [
            (.published(viewer, count: 1), ["The share is published to server.", "consume", "start capture"]),
            (.reconnected, ["server answers again."]),
            (
                .failed(Endpoint.Failure(), retryPolicy: .transient, pause: .seconds(2)),
                ["server: Failure(). Trying again in 2 seconds."]
            ),
            (.published(viewer, count: 2), ["The share is published to server again."]),
        ]
        for (event, effects) in table {
            let occurrence = PublishingServers.Occurrence(place: 1, event: event)
            #expect(await stage.share.effects(of: .place(occurrence)).map(ShareCourseTests.words) == effects)
        }
    }
}

extension Connection {
    fileprivate var maximumBitrate: DataRate { peer.configuration.maximumBitrate }
}
