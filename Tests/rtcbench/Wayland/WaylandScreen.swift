internal import Foundation
internal import RTCShareMedia

extension VirtualScreen {
    /// Creates the screen of a Wayland desktop, with its XWayland for drawing the content, and its portal for sharing
    /// it. `scripts` is the directory of announce_dmabuf.c and gnome_pointer.py, `executable` the rtcshare that shares
    /// it.
    init(
        of compositor: WaylandScreen.Compositor, size: PixelSize, folder: TemporaryFolder, scripts: String,
        executable: String
    ) async throws {
        let desktop = try WaylandScreen(compositor, size: size, folder: folder)
        do {
            try await desktop.start(scripts: scripts, executable: executable)
            let name = try await desktop.displayName()
            self.init(
                servers: desktop.programs, name: name, environment: desktop.environment,
                display: try ContentDisplay(display: name, isRootless: true))
        } catch {
            desktop.end()
            throw error
        }
    }
}

/// A compositor without a screen, PipeWire, and the portal of its frames, on a separate bus.
final class WaylandScreen {
    /// The compositor of the desktop.
    enum Compositor: String, CaseIterable, Sendable {
        /// Reports changes of its screen, and asks nobody.
        case sway
        /// GNOME's. It does not report changes before 44.1, and asks once in a window of its own.
        case mutter
    }

    private(set) var programs: [ChildProcess] = []
    let environment: [String: String]
    private let compositor: Compositor
    private let folder: TemporaryFolder
    private let run: String
    private let size: PixelSize

    init(_ compositor: Compositor, size: PixelSize, folder: TemporaryFolder) throws {
        (self.compositor, self.size, self.folder) = (compositor, size, folder)
        run = folder.file("run-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(
            atPath: run, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        environment = [
            "XDG_RUNTIME_DIR": run, "HOME": run, "XDG_CONFIG_HOME": "\(run)/config", "XDG_STATE_HOME": "\(run)/state",
            "XDG_CURRENT_DESKTOP": compositor == .sway ? "sway" : "GNOME",
            "DBUS_SESSION_BUS_ADDRESS": "unix:path=\(run)/bus", "WAYLAND_DISPLAY": "wayland-1",
            "GSETTINGS_BACKEND": "memory", "GSK_RENDERER": "cairo", "LIBGL_ALWAYS_SOFTWARE": "1",
        ]
    }

    /// Ends all programs, dependent ones first.
    func end() { for program in programs.reversed() { program.end() } }

    func start(scripts: String, executable: String) async throws {
        try start(["dbus-daemon", "--session", "--nofork", "--address", "unix:path=\(run)/bus"])
        try await appears("bus")
        try start(["pipewire"])
        try await appears("pipewire-0")
        try start(["wireplumber"])
        switch compositor {
        case .sway: try await startSway(scripts: scripts)
        case .mutter: try await startMutter()
        }
        try start(["/usr/libexec/xdg-desktop-portal", "-r"])
        try await owns("org.freedesktop.portal.Desktop")
        if compositor == .mutter { try await agree(scripts: scripts, executable: executable) }
    }

    private func startSway(scripts: String) async throws {
        let files = [
            "sway/config":
                "output HEADLESS-1 resolution \(size)\ndefault_border none\nexec echo $DISPLAY > \(run)/display\n",
            "xdg-desktop-portal-wlr/config":
                "[screencast]\nchooser_type=none\noutput_name=HEADLESS-1\nmax_fps=30\n",
        ]
        for (name, text) in files {
            let path = "\(run)/config/\(name)"
            try FileManager.default.createDirectory(
                atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        }
        // It refuses to run as root.
        let somebody = getuid() == 0 ? ["unshare", "--user", "--map-user=1000", "--map-group=1000"] : []
        try start(
            somebody + ["sway"],
            more: ["WLR_BACKENDS": "headless", "WLR_LIBINPUT_NO_DEVICES": "1", "WLR_RENDERER": "pixman"])
        try await appears("wayland-1")
        let library = "\(run)/announce_dmabuf.so"
        try start(["clang", "-shared", "-fPIC", "-o", library, "\(scripts)/announce_dmabuf.c", "-ldl"])
        try await ends("library for the portal")
        try start(["/usr/libexec/xdg-desktop-portal-wlr", "-r"], more: ["LD_PRELOAD": library])
        try await owns("org.freedesktop.impl.portal.desktop.wlr")
    }

    private func startMutter() async throws {
        // Its child process writes the name of its XWayland, and ends with it.
        let words =
            "echo $DISPLAY > \(run)/display; echo $XAUTHORITY > \(run)/authority; exec tail --pid=$PPID -f /dev/null"
        try start([
            "mutter", "--headless", "--wayland", "--virtual-monitor", "\(size)", "--wayland-display", "wayland-1", "--",
            "sh",
            "-c", words,
        ])
        try await appears("authority")
        try start(["/usr/libexec/xdg-desktop-portal-gnome"])
        try await owns("org.freedesktop.impl.portal.desktop.gnome")
    }

    /// Confirms the desktop's dialog, before the content covers it: later shares of the screen are not asked again.
    private func agree(scripts: String, executable: String) async throws {
        try start([executable, "serve", "--source", "portal:monitor", "--listen", "127.0.0.1:0"])
        let asking = programs.removeLast()
        defer { asking.end() }
        // The positions of its buttons on a screen of 1280x720; the window is in the screen's middle.
        let places = [(640, 386), (852, 233)].map { x, y in
            "\(x + (size.width - 1280) / 2),\(y + (size.height - 720) / 2),click"
        }
        let end = ContinuousClock.now + .seconds(30)
        while !FileManager.default.fileExists(atPath: "\(run)/state/rtcshare/portal-monitor.token") {
            guard asking.isRunning, ContinuousClock.now < end else {
                throw BenchmarkFailure("GNOME's question was not answered\n\(asking.lastWords)")
            }
            try start(["/usr/bin/python3", "\(scripts)/gnome_pointer.py"] + places)
            try await ends("clicks")
        }
    }

    /// Returns the value of DISPLAY for the desktop's XWayland.
    func displayName() async throws -> String {
        if compositor == .mutter { setenv("XAUTHORITY", try await said("authority"), 1) }
        return try await said("display")
    }

    /// Returns the content of a file of the session.
    private func said(_ name: String) async throws -> String {
        try await appears(name)
        return try String(contentsOfFile: "\(run)/\(name)", encoding: .utf8)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private func start(_ command: [String], more: [String: String] = [:]) throws {
        var all = ProcessInfo.processInfo.environment
        all["DISPLAY"] = nil
        all.merge(environment) { $1 }
        all.merge(more) { $1 }
        let isCompositor = command.contains(compositor.rawValue)
        if isCompositor { all["WAYLAND_DISPLAY"] = nil }
        let name = isCompositor ? compositor.rawValue : (command[0] as NSString).lastPathComponent
        programs.append(
            try ChildProcess(command, environment: all, log: folder.file("\(name).log"), processors: nil))
    }

    private func wait(for awaited: String, until condition: () throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(20)
        while try !condition() {
            guard ContinuousClock.now < end else { throw BenchmarkFailure("the desktop did not start: no \(awaited)") }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    private func appears(_ name: String) async throws {
        try await wait(for: name) {
            (FileManager.default.contents(atPath: "\(run)/\(name)")?.isEmpty == false)
                || Self.isSocket("\(run)/\(name)")
        }
    }

    private static func isSocket(_ path: String) -> Bool {
        let type = try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
        return type == .typeSocket
    }

    /// Waits for the end of the newest program.
    private func ends(_ name: String) async throws {
        guard let program = programs.popLast() else { return }
        try await wait(for: name) { !program.isRunning }
    }

    /// Waits until a process on the bus owns a name.
    private func owns(_ name: String) async throws {
        for _ in 0..<100 {
            try start([
                "dbus-send", "--session", "--print-reply=literal", "--dest=org.freedesktop.DBus", "/",
                "org.freedesktop.DBus.NameHasOwner", "string:\(name)",
            ])
            let answer = try await programs.removeLast().read(within: .seconds(5))
            if answer.contains("true") { return }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw BenchmarkFailure("the desktop did not start: nobody is \(name)")
    }
}
