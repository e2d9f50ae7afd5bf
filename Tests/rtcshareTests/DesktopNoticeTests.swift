import Foundation
import RTCSharePeerConnection
import TestSupport
import Testing

@testable import RTCShareCapture
@testable import rtcshare

/// The notifications of the desktop about a share, and the choices by them.
@Suite("The notifications of a share") struct DesktopNoticeTests {
    private static func viewer(
        _ id: Int, isWaiting: Bool = false, _ state: ConnectionState = .connected, browser: String? = nil
    ) -> ControlledShare.Viewer {
        ControlledShare.Viewer(
            id: id, state: state, isWaiting: isWaiting, groups: [], address: "192.0.2.7", browser: browser)
    }

    private static func share(
        _ viewers: [ControlledShare.Viewer] = [], state: ControlledShare.State = .sharing,
        source: String = "display", isSlateShown: Bool = false,
        audio: Bool? = nil, microphone: Bool? = nil
    ) -> ControlledShare {
        ControlledShare(
            name: "share", pid: 1, attendee: "alice", state: state, source: source, interruption: nil,
            sounds: audio == nil ? [] : [.init(spec: "system")],
            microphone: microphone == nil ? nil : .init(spec: "microphone"), framesPerSecond: 0, bitrate: 0,
            maxBitrate: 1, maxFramerate: 1, hint: nil, isSlateShown: isSlateShown, isAudioMuted: audio ?? false,
            isMicrophoneMuted: microphone ?? false, destination: "main", subgroups: [], viewers: viewers, uptime: 0)
    }

    @Test("There is one for the share, and one for each connected viewer who waits")
    func notices() {
        let waiting = (1...5).map { Self.viewer($0, isWaiting: true, browser: "Firefox") }
        let notices = DesktopNotice.notices(
            of: Self.share([Self.viewer(7), Self.viewer(8, isWaiting: true, .connecting)] + waiting))
        #expect(
            notices.map(\.subject) == [.share] + (1...5).map { .waiting(viewer: $0) })
        #expect(notices[0].summary == "You are sharing" && notices[0].body == ["Source: screen"])
        // The viewers of the screen see the notification too, and must not see the addresses of others.
        #expect(notices[1].body == ["Viewer 1 (Firefox)"])
        #expect(notices[1].buttons.map(\.request) == [.admit(viewer: 1), .decline(viewer: 1)])
    }

    @Test("A paused or muted share says so")
    func states() {
        let paused = DesktopNotice.notices(of: Self.share(state: .paused, isSlateShown: true, audio: true))[0]
        #expect(paused.summary == "Your share is paused")
        #expect(paused.body == ["Source: screen", "Viewers see a slate.", "Your audio is muted."])
        #expect(paused.buttons.map(\.key) == ["stop", "resume", "page"])
    }

    @Test(
        "The source is named in words",
        arguments: [
            ("display:eDP-1", "screen eDP-1"), ("region:10x10+0+0", "region of the screen"),
            ("window:0x2a00007", "window"),
            ("window:title=Report", "window “Report”"), ("camera:Built-in", "camera “Built-in”"),
            ("portal:any", "your choice on the desktop"), ("test:640x480", "test:640x480"), ("nonsense", "nonsense"),
        ])
    func sources(source: String, words: String) {
        #expect(DesktopNotice.notices(of: Self.share(source: source))[0].body == ["Source: \(words)"])
    }

    @Test("Foreign text is escaped for a daemon with markup, and has no control characters")
    func escaping() {
        let viewer = Self.viewer(1, isWaiting: true, browser: "<a href=\"x\">&amp;\u{202E}\u{7}")
        let notice = DesktopNotice.notices(of: Self.share([viewer]))[1]
        #expect(
            notice.text(isMarkup: true, hasButtons: true)
                == "Viewer 1 (&lt;a href=\"x\"&gt;&amp;amp;\u{FFFD}\u{FFFD})")
        #expect(
            notice.text(isMarkup: false, hasButtons: false)
                == "Viewer 1 (<a href=\"x\">&amp;\u{FFFD}\u{FFFD})\nAdmit or decline the viewer on your page.")
    }

    @Test("A viewer is reported when it comes, unless it had to ask, was there before, or comes back")
    func arrivals() {
        var known = KnownViewers()
        func arrivals(_ viewers: [ControlledShare.Viewer]?) -> [Int] {
            known.arrivals(in: viewers.map { Self.share($0) }).map(\.id)
        }
        #expect(arrivals([Self.viewer(1)]) == [])
        #expect(arrivals([Self.viewer(1), Self.viewer(2), Self.viewer(3, .connecting)]) == [2])
        #expect(arrivals([Self.viewer(2, .disconnected), Self.viewer(3), Self.viewer(4, isWaiting: true)]) == [3])
        #expect(arrivals([Self.viewer(1), Self.viewer(2), Self.viewer(4)]) == [])
        // Another share numbers its viewers anew.
        #expect(arrivals(nil) == [])
        #expect(arrivals([]) == [])
        #expect(arrivals([Self.viewer(1), Self.viewer(2)]) == [1, 2])
        let notice = DesktopNotice.notice(arrived: [Self.viewer(1), Self.viewer(2)])
        #expect(notice?.summary == "2 viewers are here" && notice?.body == ["Viewer 1", "Viewer 2"])
    }

    @Test("A choice fits the state in which it arrives")
    func choices() {
        let (running, paused) = (
            Self.share([Self.viewer(1, isWaiting: true), Self.viewer(2)]), Self.share(state: .paused)
        )
        #expect(DesktopRequest.decline(viewer: 1).request(in: running, hidesVideo: false) == .kick(viewer: 1))
        // The page has admitted it meanwhile.
        #expect(DesktopRequest.decline(viewer: 2).request(in: running, hidesVideo: false) == nil)
        #expect(DesktopRequest.pause.request(in: paused, hidesVideo: false) == nil)
        #expect(DesktopRequest.resume.request(in: running, hidesVideo: false) == nil)
        #expect(DesktopRequest.togglePause.request(in: running, hidesVideo: false) == .pause(slate: false))
        #expect(DesktopRequest.togglePause.request(in: running, hidesVideo: true) == .pause(slate: true))
        #expect(DesktopRequest.togglePause.request(in: paused, hidesVideo: false) == .resume)
    }

    @Test(
        "The shortcut mutes all audio unless all of it is muted, and unmutes only the audio that was silenced so",
        arguments: [
            (nil, nil, true), (false, nil, true), (true, nil, false), (nil, true, false), (true, false, true),
            (false, true, true), (true, true, false),
        ] as [(Bool?, Bool?, Bool)])
    func mutes(audio: Bool?, microphone: Bool?, mutes: Bool) {
        let share = Self.share(audio: audio, microphone: microphone)
        #expect(
            DesktopRequest.toggleMute.request(in: share, hidesVideo: false) == (mutes ? .mute(.all) : .unmuteSilenced))
    }

    @Test("A viewer who waits does not watch", arguments: [ConnectionState.connected, .disconnected, .connecting])
    func watched(state: ConnectionState) {
        #expect(!Self.share([Self.viewer(1, isWaiting: true, state)]).isWatched)
        #expect(Self.share([Self.viewer(1, state)]).isWatched == state.hasConnected)
    }

    @Test("A notification is shown once, replaced after a change, and closed at the end")
    func book() {
        var book = NotificationBook()
        let (share, paused) = (
            DesktopNotice.notices(of: Self.share()), DesktopNotice.notices(of: Self.share(state: .paused))
        )
        #expect(book.changes(to: share) == [.init(notice: share[0], replaced: 0)])
        book.didShow(share[0], as: 9)
        #expect(book.changes(to: share).isEmpty)
        #expect(book.changes(to: paused) == [.init(notice: paused[0], replaced: 9)])
        let waiting = DesktopNotice.notices(of: Self.share([Self.viewer(1, isWaiting: true)]))
        #expect(book.changes(to: waiting).map(\.replaced) == [0])
        book.didShow(waiting[1], as: 10)
        #expect(book.close(except: share) == [10])
        #expect(book.close(except: []) == [9])
        #expect(book.close(except: []) == [])
    }

    @Test("Three questions are open at a time, and one that the person closes makes room")
    func crowd() {
        var book = NotificationBook()
        let notices = DesktopNotice.notices(of: Self.share((1...5).map { Self.viewer($0, isWaiting: true) }))
        let first = book.changes(to: notices)
        #expect(first.map(\.notice) == Array(notices.prefix(4)))
        for (number, change) in first.enumerated() { book.didShow(change.notice, as: UInt32(number + 1)) }
        #expect(book.changes(to: notices).isEmpty)
        book.didClose(id: 2)
        #expect(book.changes(to: notices).map(\.notice) == [notices[4]])
        // The report of the end can have been about one with the same number before.
        #expect(book.close(except: []) == [1, 2, 3, 4])
    }

    @Test("A notification that the person closed stays closed, but the share's returns after a pressed button")
    func closedByPerson() {
        var book = NotificationBook()
        let (share, paused) = (
            DesktopNotice.notices(of: Self.share()), DesktopNotice.notices(of: Self.share(state: .paused))
        )
        book.didShow(share[0], as: 9)
        #expect(book.request(id: 8, key: "pause") == nil && book.request(id: 9, key: "admit") == nil)
        #expect(book.request(id: 9, key: "pause") == .pause)
        book.didClose(id: 9)
        #expect(book.changes(to: paused) == [.init(notice: paused[0], replaced: 0)])
        book.didShow(paused[0], as: 11)
        book.didClose(id: 11)
        #expect(book.changes(to: share).isEmpty && book.request(id: 11, key: "resume") == nil)
        let waiting = DesktopNotice.notices(of: Self.share([Self.viewer(1, isWaiting: true)]))
        book.didShow(waiting[1], as: 12)
        #expect(book.request(id: 12, key: "decline") == .decline(viewer: 1))
        book.didClose(id: 12)
        // The share follows in a moment.
        #expect(book.changes(to: waiting).isEmpty)
        // Another share begins anew.
        #expect(book.close(except: []) == [11, 12])
        #expect(book.changes(to: share).count == 1)
    }

    @Test(
        "The bus is that of the environment, and none is started",
        arguments: [
            ([:], nil), (["DBUS_SESSION_BUS_ADDRESS": ""], nil), (["XDG_RUNTIME_DIR": "/nowhere"], nil),
            (["DBUS_SESSION_BUS_ADDRESS": "unix:path=/a"], "unix:path=/a"),
        ] as [([String: String], String?)])
    func address(environment: [String: String], address: String?) {
        #expect(SessionBus.address(in: environment) == address)
    }

    @Test("The bus in the runtime directory is found, and its path is escaped")
    func runtimeDirectory() throws {
        let folder = try TemporaryFolder()
        _ = try folder.write("", to: "a b/bus")
        let address = try #require(SessionBus.address(in: ["XDG_RUNTIME_DIR": folder.file("a b").path]))
        #expect(address.hasPrefix("unix:path=/") && address.hasSuffix("/a%20b/bus"))
    }
}
