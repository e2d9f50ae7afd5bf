import RTCShareCapture
import RTCShareLocks
import RTCShareMedia
import RTCSharePeerConnection
import TestSupport
import Testing

@testable import RTCShareContentShare

@Suite("The observer of a room", .timeLimit(.minutes(1)))
@SharingActor struct RoomObserverTests {
    /// An observer that records the reports, and whether the viewer was in the room at that time.
    @SharingActor private final class RoomLog: SharingRoomObserver {
        private(set) var entries: [String] = []
        let room: SharingRoom

        init(of room: SharingRoom) {
            self.room = room
            room.add(observer: self)
        }

        func roomDidChange() { entries.append("room") }

        func viewer(_ id: Int, didChangeTo state: ConnectionState) {
            entries.append("\(id) \(state.rawValue)\(room.session(of: id) == nil ? ", gone" : "")")
        }
    }

    private struct Step {
        let name: String
        let reports: [String]
        let action: @SharingActor () async throws -> Void
    }

    @Test("Each change is reported once, in its order")
    func order() async throws {
        let fixture = try await RoomFixture()
        let (room, screen, camera) = (fixture.room, try pattern(192, 144), try pattern(128, 96))
        let design = try Subgroup("design")
        let log = RoomLog(of: room)
        var seat: RoomFixture.Seat?
        let steps = [
            Step(name: "a share starts", reports: ["room"]) { try await room.contentShare.start(source: screen) },
            Step(name: "a viewer connects", reports: ["1 connecting", "1 connected"]) {
                seat = try await fixture.seat("bob")
            },
            Step(name: "the video is muted", reports: ["room"]) { room.contentShare.videoTrack?.isPaused = true },
            Step(name: "the video is unmuted", reports: ["room"]) { room.contentShare.videoTrack?.isPaused = false },
            Step(name: "another destination", reports: ["room"]) {
                room.join(design)
                try room.changeDestination(to: .subgroup(design))
            },
            Step(name: "another membership", reports: ["room"]) {
                try room.changeMembership(of: 1, to: RoomMembership(subgroups: [design]))
            },
            Step(name: "a camera starts", reports: ["room"]) { try await room.startCamera(source: camera) },
            Step(name: "the camera stops", reports: ["room"]) { room.stopCamera() },
            Step(name: "the share stops", reports: ["room"]) { try room.contentShare.stop() },
            Step(name: "the viewer leaves", reports: ["1 closed, gone"]) { await seat?.session.leave() },
        ]
        var expected: [String] = []
        for step in steps {
            try await step.action()
            expected += step.reports
            await waitUntil { log.entries.count >= expected.count }
            #expect(log.entries == expected, "\(step.name)")
        }
        #expect(room.membership(of: 1) == nil)
        await room.end()
        // It waits for its thread, which no job of the actor may.
        await WorkerThread.run(named: "stop") { screen.stop() }
    }
}
