import Foundation
import Testing
import TestSupport

/// A Wayland desktop without a screen: a compositor, PipeWire, and the portal that gives its pictures, on a bus of their own.
final class WaylandDesktop {
    /// Whose compositor and portal.
    enum Kind {
        /// Gives the one screen that it has without asking, and tells what changed.
        case sway
        /// Asks in a window of its own, and gives the pointer beside the picture.
        case gnome
        /// No screen and no portal: PipeWire, with the cameras that are started.
        case none
    }

    /// What makes them run here, or nil.
    static let missing: String? =
        [
            "dbus-daemon", "gst-launch-1.0", "sway", "foot", "grim", "mutter", "pipewire", "wireplumber", "clang",
            "Xwayland",
        ].first {
            RunningProgram.find($0) == nil
        }
        ?? ["xdg-desktop-portal", "xdg-desktop-portal-wlr", "xdg-desktop-portal-gnome"].first {
            !FileManager.default.isExecutableFile(atPath: "/usr/libexec/\($0)")
        }

    /// The environment of a program on this desktop.
    let environment: [String: String]
    private let folder: TemporaryFolder
    private let run: URL
    private var programs: [RunningProgram] = []
    private(set) var compositor: RunningProgram?
    /// The PipeWire.
    private(set) var server: RunningProgram?
    /// Where PipeWire listens.
    var pipeWireSocket: String { run.appendingPathComponent("pipewire-0").path }

    init(_ kind: Kind, in folder: TemporaryFolder) async throws {
        self.folder = folder
        run = folder.file("run")
        let home = folder.file("home")
        for (directory, mode) in [(run, 0o700), (home, 0o755)] {
            try FileManager.default.createDirectory(
                at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: mode])
        }
        environment = [
            "XDG_RUNTIME_DIR": run.path, "HOME": home.path, "XDG_CONFIG_HOME": home.path + "/.config",
            "XDG_STATE_HOME": home.path + "/.local/state", "XDG_CURRENT_DESKTOP": kind == .gnome ? "GNOME" : "sway",
            "DBUS_SESSION_BUS_ADDRESS": "unix:path=\(run.path)/bus", "DISPLAY": "",
            "WAYLAND_DISPLAY": kind == .none ? "" : "wayland-1",
            "GSETTINGS_BACKEND": "memory", "GSK_RENDERER": "cairo", "LIBGL_ALWAYS_SOFTWARE": "1",
        ]
        try start("dbus-daemon", ["--session", "--nofork", "--address", "unix:path=\(run.path)/bus"])
        try await appears("bus")
        server = try start("pipewire")
        try await appears("pipewire-0")
        try start("wireplumber")
        switch kind {
        case .sway: try await startSway()
        case .gnome: try await startGNOME()
        case .none: return
        }
        try start("/usr/libexec/xdg-desktop-portal", ["-r"])
        try await owns("org.freedesktop.portal.Desktop")
    }

    deinit {
        // The programs of the desktop before what they stand on.
        programs.reversed().forEach { $0.stop() }
    }

    /// Has sway and its part of the portal be there again, once they were killed.
    func restart() async throws { try await startSway() }

    private func startSway() async throws {
        let config = folder.file("home/.config")
        let files = [
            "sway/config": "output HEADLESS-1 resolution 1280x720\ndefault_border none\n",
            "xdg-desktop-portal-wlr/config":
                "[screencast]\nchooser_type=none\noutput_name=HEADLESS-1\nmax_fps=30\n",
        ]
        for (name, text) in files {
            let file = config.appendingPathComponent(name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        compositor = try start(
            "sway",
            more: ["WLR_BACKENDS": "headless", "WLR_LIBINPUT_NO_DEVICES": "1", "WLR_RENDERER": "pixman"],
            asSomebody: true)
        try await appears("wayland-1")
        let library = folder.file("announce_dmabuf.so")
        let compiled = try await RunningProgram.run(
            try #require(RunningProgram.find("clang")),
            ["-shared", "-fPIC", "-o", library.path, Peers.script("announce_dmabuf.c"), "-ldl"], in: folder,
            timeout: .seconds(60))
        try #require(compiled.status == 0, "clang: \(compiled.standardError)")
        try start("/usr/libexec/xdg-desktop-portal-wlr", ["-r"], more: ["LD_PRELOAD": library.path])
        try await owns("org.freedesktop.impl.portal.desktop.wlr")
    }

    private func startGNOME() async throws {
        compositor = try start(
            "mutter",
            ["--headless", "--wayland", "--no-x11", "--virtual-monitor", "1280x720", "--wayland-display", "wayland-1"],
            more: ["WAYLAND_DISPLAY": ""])
        try await appears("wayland-1")
        try start("/usr/libexec/xdg-desktop-portal-gnome")
        try await owns("org.freedesktop.impl.portal.desktop.gnome")
    }

    /// Starts a program on the desktop. `asSomebody`: for those that refuse to be root.
    @discardableResult
    func start(
        _ program: String, _ arguments: [String] = [], more: [String: String] = [:], asSomebody: Bool = false
    ) throws -> RunningProgram {
        let executable = try #require(
            program.hasPrefix("/") ? URL(fileURLWithPath: program) : RunningProgram.find(program),
            "\(program) is in no folder of PATH")
        let isElse = asSomebody && getuid() == 0
        let started = try RunningProgram(
            isElse ? try #require(RunningProgram.find("unshare")) : executable,
            isElse ? ["--user", "--map-user=1000", "--map-group=1000", executable.path] + arguments : arguments,
            environment: environment.merging(more) { $1 }, in: folder)
        programs.append(started)
        return started
    }

    /// Has sway do something, and returns what it says.
    @discardableResult
    func tell(_ words: String...) async throws -> String {
        let socket = try #require(
            try FileManager.default.contentsOfDirectory(atPath: run.path).first { $0.hasPrefix("sway-ipc") })
        let program = try start(
            "swaymsg", words, more: ["SWAYSOCK": run.appendingPathComponent(socket).path], asSomebody: true)
        let outcome = try await program.outcome(timeout: .seconds(20))
        try #require(outcome.status == 0, "swaymsg: \(outcome.standardError)")
        return outcome.standardOutput
    }

    /// Moves the pointer of a GNOME desktop, and clicks.
    func point(_ places: String...) async throws {
        let outcome = try await start("/usr/bin/python3", [Peers.script("gnome_pointer.py")] + places)
            .outcome(timeout: .seconds(60))
        try #require(outcome.status == 0, "gnome_pointer.py: \(outcome.standardError)")
    }

    /// Starts a camera of 320x240 that sees one colour, 0xRRGGBB: `format` is GStreamer's, or `MJPEG`.
    @discardableResult
    func startCamera(_ name: String, _ format: String, colour: UInt32 = 0x80_8080) throws -> RunningProgram {
        let isJPEG = format == "MJPEG"
        let caps = "video/x-raw,format=\(isJPEG ? "I420" : format),width=320,height=240,framerate=30/1"
        let properties =
            "props,media.class=Video/Source,media.role=Camera,node.name=\(name),node.description=The_\(name)"
        let elements =
            [
                "videotestsrc", "is-live=true", "pattern=solid-color", "foreground-color=\(0xFF00_0000 | colour)", "!",
                caps, "!",
            ] + (isJPEG ? ["jpegenc", "!"] : [])
            + ["pipewiresink", "mode=provide", "stream-properties=\(properties)"]
        return try start("gst-launch-1.0", elements)
    }

    /// What sway shows, as a PNG.
    func screenshot(_ name: String) async throws -> URL {
        let outcome = try await start("grim", [folder.file(name).path]).outcome(timeout: .seconds(20))
        try #require(outcome.status == 0, "grim: \(outcome.standardError)")
        return folder.file(name)
    }

    /// Waits for a file of the session's folder.
    private func appears(_ name: String) async throws {
        let file = run.appendingPathComponent(name).path
        try await programs[programs.count - 1].wait(for: name, timeout: .seconds(30)) {
            FileManager.default.fileExists(atPath: file)
        }
    }

    /// Waits until somebody on the bus has a name.
    func owns(_ name: String) async throws {
        let asks = [
            "--session", "--print-reply=literal", "--dest=org.freedesktop.DBus", "/",
            "org.freedesktop.DBus.NameHasOwner",
            "string:\(name)",
        ]
        let dbusSend = try #require(RunningProgram.find("dbus-send"))
        for _ in 0..<150 {
            let answer = try await RunningProgram.run(
                dbusSend, asks, environment: environment, in: folder, timeout: .seconds(20))
            if answer.standardOutput.contains("true") { return }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw RunningProgram.Failure.timedOut(waitingFor: name, standardError: "")
    }
}
