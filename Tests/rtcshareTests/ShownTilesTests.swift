import Foundation
import RTCShareMedia
import RTCShareTransport
import RTCShareWireFormat
import Testing

@testable import RTCShareContentShare
@testable import rtcshare

@Suite("The tiles of view's window")
struct ShownTilesTests {
    private func tile(
        _ number: Int, _ attendee: String, _ pause: VideoTileState.PauseState = .unpaused
    ) throws -> VideoTileState {
        var tile = VideoTileState(
            tileID: number, attendeeID: try AttendeeID(attendee), size: PixelSize(width: 64, height: 36))
        tile.pauseState = pause
        return tile
    }

    @Test("The content is large and a camera in the corner, whichever arrives first")
    func places() throws {
        var tiles = ShownTiles()
        #expect(tiles.large == nil && tiles.corner == nil)
        tiles.update(try tile(1, "bob"))
        #expect(tiles.large?.tileID == 1 && tiles.corner == nil)
        tiles.update(try tile(2, "alice"))
        #expect(tiles.large?.tileID == 1 && tiles.corner?.tileID == 2)
        tiles.update(try tile(3, "alice#content"))
        #expect(tiles.large?.tileID == 3 && tiles.corner?.tileID == 2)
        tiles.remove(try tile(2, "alice"))
        #expect(tiles.corner?.tileID == 1)
        tiles.update(try tile(4, "bob#content"))
        #expect(tiles.large?.tileID == 4 && tiles.corner?.tileID == 1, "the newest content")
        tiles.remove(try tile(4, "bob#content"))
        tiles.remove(try tile(3, "alice#content"))
        #expect(tiles.large?.tileID == 1 && tiles.corner == nil)
    }

    @Test("The title has the shown attendees and the state")
    func title() throws {
        var tiles = ShownTiles()
        tiles.update(try tile(1, "alice#content"))
        #expect(tiles.title == "alice - rtcshare")
        tiles.update(try tile(1, "alice#content", .pausedBySender))
        #expect(tiles.title == "alice (paused) - rtcshare")
        tiles.isMuted = true
        #expect(tiles.title == "alice (paused, muted) - rtcshare")
        tiles.update(try tile(1, "alice#content", .pausedForPoorConnection))
        #expect(tiles.title == "alice (no data arrives, muted) - rtcshare")
        tiles.update(try tile(1, "alice#content"))
        tiles.isMuted = false
        tiles.isConnected = false
        #expect(tiles.title == "alice (no data arrives) - rtcshare")
        tiles.isConnected = true
        tiles.remove(try tile(1, "alice#content"))
        #expect(tiles.title == "alice (shares nothing now) - rtcshare")
    }

    @Test("A window that was stopped ignores later sessions and tiles", .timeLimit(.minutes(1)))
    @SharingActor func stoppedWindow() async throws {
        var configuration = Connection.Configuration()
        configuration.addresses = [.v4(0x7F00_0001)]
        var sessions: [AttendeeSession] = []
        for _ in 0..<2 {
            sessions.append(try await .viewing(as: AttendeeID("viewer"), configuration: configuration))
        }
        let window = ViewWindow(sessions[0], isRequired: false)
        await window.stop()
        let player = window.player
        await window.attend(sessions[1])
        window.update(try tile(1, "alice#content"))
        #expect(window.player === player && window.tiles.large == nil)
        for session in sessions { await session.leave() }
    }

    @Test("A window is shown by default if there is a display and no recording")
    func choice() {
        let displays = [["DISPLAY": ":0"], ["WAYLAND_DISPLAY": "wayland-1"], ["DISPLAY": "", "WAYLAND_DISPLAY": "w"]]
        for environment in displays {
            #expect(ViewWindow.isWanted(flag: nil, keepsFile: false, environment: environment))
            #expect(!ViewWindow.isWanted(flag: nil, keepsFile: true, environment: environment))
            #expect(ViewWindow.isWanted(flag: true, keepsFile: true, environment: environment))
            #expect(!ViewWindow.isWanted(flag: false, keepsFile: false, environment: environment))
        }
        #expect(!ViewWindow.isWanted(flag: nil, keepsFile: false, environment: ["DISPLAY": ""]))
        #expect(ViewWindow.isWanted(flag: true, keepsFile: false, environment: [:]))
    }

    @Test("Each key has one effect, and other keys have none")
    func keys() {
        let known: [Character: ViewKey] = [
            "f": .toggleFullScreen, "\u{1B}": .leaveFullScreen, "1": .showNaturalSize, "m": .toggleSound,
            "s": .takeSnapshot, "q": .quit,
        ]
        for value in UInt8.min...127 {
            let character = Character(UnicodeScalar(value))
            #expect(ViewKey(character) == known[character])
        }
    }

    @Test("A snapshot overwrites no file")
    func snapshotName() throws {
        let first = SnapshotName.path(at: .now) { _ in false }
        #expect(first.wholeMatch(of: /rtcshare-\d{8}-\d{6}\.png/) != nil)
        let date = Date.now
        let taken = SnapshotName.path(at: date) { _ in false }
        let second = SnapshotName.path(at: date) { $0 == taken }
        #expect(second == taken.replacing(".png", with: "-2.png"))
    }
}
