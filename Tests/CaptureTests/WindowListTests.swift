import Foundation
import RTCShareMedia
import Testing

@testable import RTCShareCapture

@Suite(
    "The list of windows", .serialized, .timeLimit(.minutes(2)),
    .enabled(if: VirtualDisplay.isAvailable, "needs Xvfb, xsetroot, xrandr, xdotool and import (ImageMagick)"))
struct WindowListTests {
    private func titles(_ display: VirtualDisplay, leavingOut filter: WindowFilter = .own) throws -> [String] {
        try WindowSource.windows(display: display.name, leavingOut: filter).map(\.title)
    }

    @Test("Without a window manager, visible windows are listed, but no menus and none without pixels")
    func unmanaged() throws {
        let display = try VirtualDisplay()
        let client = try WindowClient(display: display)
        #expect(try titles(display).isEmpty)
        let window = try client.window(201, 151, title: "Übersicht – Editor")
        try client.set("WM_CLASS", bytes: Array("gedit\0Gedit\0".utf8), type: "STRING", of: window)
        try client.set("_NET_WM_PID", numbers: [4711], type: "CARDINAL", of: window)
        _ = try client.window(100, 100, title: "menu", overrideRedirect: true)
        _ = try client.window(100, 100, title: "hidden", isMapped: false)
        _ = try client.window(100, 100, title: "input", isInputOnly: true)
        _ = try client.window(100, 100, title: "inner", in: window)
        _ = try client.window(1, 1, title: "dot")
        #expect(
            try WindowSource.windows(display: display.name) == [
                DisplayWindow(
                    id: window, title: "Übersicht – Editor", application: "Gedit", processID: 4711,
                    size: PixelSize(width: 201, height: 151))
            ])
    }

    @Test("A running window manager's list counts, and the list that a former one left does not")
    func managed() throws {
        let display = try VirtualDisplay()
        let client = try WindowClient(display: display)
        let frame = try client.window(100, 120, overrideRedirect: true)
        let window = try client.window(100, 100, title: "in a frame", in: frame)
        let minimised = try client.window(100, 100, title: "minimised", isMapped: false)
        // ICCCM 4.1.3.1: the state, then the icon's window.
        try client.set("WM_STATE", numbers: [1, 0], type: "WM_STATE", of: window)
        try client.set("WM_STATE", numbers: [3, 0], type: "WM_STATE", of: minimised)
        _ = try client.window(100, 100, title: "panel")
        // One that keeps no list: its windows are found in their frames.
        #expect(try titles(display) == ["in a frame", "panel"])
        try client.set("_NET_CLIENT_LIST", numbers: [minimised, window, 0x7654321], type: "WINDOW", of: client.root)
        #expect(try titles(display) == ["in a frame"])
        let all = try WindowSource.windows(display: display.name, includingMinimized: true)
        #expect(all.map(\.title) == ["minimised", "in a frame"])
        #expect(all.map(\.isMinimized) == [true, false])
        try client.set("_NET_CLIENT_LIST", numbers: [0x7654321], type: "WINDOW", of: client.root)
        #expect(try titles(display) == ["in a frame", "panel"])
    }

    @Test("A program's own windows are not listed by default, and other windows can be excluded")
    func own() throws {
        let display = try VirtualDisplay()
        let client = try WindowClient(display: display)
        let overlay = try client.window(100, 100, title: "my overlay")
        let pid = ProcessInfo.processInfo.processIdentifier
        try client.set("_NET_WM_PID", numbers: [UInt32(pid)], type: "CARDINAL", of: overlay)
        let document = try client.window(100, 100, title: "document")
        try client.set("_NET_WM_PID", numbers: [UInt32(pid) + 1], type: "CARDINAL", of: document)
        #expect(try titles(display) == ["document"])
        #expect(try titles(display, leavingOut: .nothing) == ["my overlay", "document"])
        #expect(try titles(display, leavingOut: WindowFilter(windows: [document])) == ["my overlay"])
        #expect(try titles(display, leavingOut: WindowFilter(processIDs: [pid, pid + 1])).isEmpty)
        let title = WindowSpecification.title("overlay")
        #expect(throws: CaptureError.self) { try WindowSource(title, display: display.name) }
        #expect(try WindowSource(title, leavingOut: .nothing, display: display.name).window.id == overlay)
        // It is shared by its number, because a number is an explicit choice.
        #expect(try WindowSource(.id(overlay), display: display.name).window.title == "my overlay")
    }

    @Test("A window's opacity and place above others are listed")
    func opacity() throws {
        let display = try VirtualDisplay()
        let client = try WindowClient(display: display)
        let plain = try client.window(100, 100)
        let toolbar = try client.window(100, 100)
        try client.set("_NET_WM_WINDOW_OPACITY", numbers: [.max / 5 * 2], type: "CARDINAL", of: toolbar)
        try client.set(
            "_NET_WM_STATE", numbers: [try client.atom("_NET_WM_STATE_ABOVE")], type: "ATOM", of: toolbar)
        let windows = try WindowSource.windows(display: display.name)
        #expect(windows.map(\.id) == [plain, toolbar])
        #expect(windows.map(\.opacity) == [1, 0.4])
        #expect(windows.map(\.isKeptAbove) == [false, true])
    }

    @Test(
        "A window is found by its title, whatever its capitals, spaces and invisible characters",
        arguments: [
            ("New tab - Microsoft\u{200B} Edge", "Microsoft Edge"),
            ("New tab - Microsoft\u{200B} Edge", "microsoft\u{200B}  edge"), ("Größe", "GRÖSSE"),
            ("GRÖSSE", "größe"), ("Gro\u{308}\u{DF}e", "Größe"),
            ("\u{202A}می\u{200C}خواهم – یادداشت", "می\u{200C}خواهم"), ("👩\u{200D}💻 notes", "👩\u{200D}💻 Notes"),
            ("a\u{A0}\tb", "A b"),
        ])
    func found(title: String, by wanted: String) throws {
        let display = try VirtualDisplay()
        let client = try WindowClient(display: display)
        let window = try client.window(100, 100, title: title)
        _ = try client.window(100, 100, title: "Other")
        #expect(try WindowSource(.title(wanted), display: display.name).window.id == window)
    }

    @Test("A title is read from the newer property first, without control characters")
    func readableTitles() throws {
        let display = try VirtualDisplay()
        let client = try WindowClient(display: display)
        let window = try client.window(100, 100)
        #expect(try titles(display) == [""])
        try client.set("WM_NAME", bytes: [0x47, 0x72, 0xFC, 0xDF, 0x65], type: "STRING", of: window)
        #expect(try titles(display) == ["Grüße"])
        try client.set("WM_NAME", text: "Grüße", type: "UTF8_STRING", of: window)
        #expect(try titles(display) == ["Grüße"])
        try client.set("_NET_WM_NAME", text: " a\u{1B}[31mb\u{7}\nc\u{202E}d\u{9B}e ", type: "UTF8_STRING", of: window)
        #expect(try titles(display) == ["a [31mb  cd e"])
        try client.set("_NET_WM_NAME", bytes: [0x61, 0xFF, 0x62], type: "UTF8_STRING", of: window)
        #expect(try titles(display) == ["a\u{FFFD}b"])
    }
}

@Suite("The choice of a window")
struct WindowSpecificationTests {
    private func window(_ id: UInt32, _ title: String) -> DisplayWindow {
        DisplayWindow(
            id: id, title: title, application: "App", processID: 7, size: PixelSize(width: 640, height: 480))
    }

    @Test("A part of a title selects a window in any capitals, and a whole title comes before parts")
    func title() throws {
        let windows = [window(1, "Mail – Inbox"), window(2, "mail"), window(3, "Editor")]
        #expect(try WindowSpecification.title("INBOX").choose(from: windows).id == 1)
        #expect(try WindowSpecification.title("Mail").choose(from: windows).id == 2)
        #expect(try WindowSpecification.title("dito").choose(from: windows).id == 3)
        #expect(try WindowSpecification.id(3).choose(from: windows).id == 3)
    }

    @Test("Several matches are an error with the matches, and no match is an error with all windows")
    func unclear() {
        let windows = [window(1, "Notes one"), window(2, "Notes two"), window(0x30, "Editor")]
        let several = CaptureError.ambiguousWindow(.title("notes"), windows: [windows[0], windows[1]])
        #expect(throws: several) { try WindowSpecification.title("notes").choose(from: windows) }
        #expect(several.description.contains("0x1 'Notes one' (640x480, App), 0x2 'Notes two' (640x480, App)"))
        #expect(several.description.contains("name one of them by its id"))
        let none = CaptureError.unknownWindow(.title("mail"), windows: windows)
        #expect(throws: none) { try WindowSpecification.title("mail").choose(from: windows) }
        #expect(none.description.contains("no window has 'mail' in its title. The display has: 0x1 'Notes one'"))
        #expect(none.description.contains("0x30 'Editor'"))
        let empty = CaptureError.unknownWindow(.title("mail"), windows: [])
        #expect(throws: empty) { try WindowSpecification.title("mail").choose(from: []) }
        #expect(empty.description.contains("The display has no windows"))
        let twins = [window(1, "Notes"), window(2, "notes"), window(3, "Notes three")]
        let equal = CaptureError.ambiguousWindow(.title("Notes"), windows: [twins[0], twins[1]])
        #expect(throws: equal) { try WindowSpecification.title("Notes").choose(from: twins) }
    }
}
