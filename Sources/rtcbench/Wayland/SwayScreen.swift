internal import Foundation
internal import RTCShareMedia

extension VirtualScreen {
    /// What a Wayland desktop without a screen takes.
    static let desktopPrograms = ["dbus-daemon", "pipewire", "wireplumber", "sway", "Xwayland", "clang"]
    static let portalPrograms = ["xdg-desktop-portal", "xdg-desktop-portal-wlr"].map { "/usr/libexec/\($0)" }

    /// sway's screen of a size, with its XWayland for what draws the content, and its portal for who shares it. `scripts` is
    /// where announce_dmabuf.c is.
    init(swayOf size: PixelSize, folder: TemporaryFolder, scripts: String) async throws {
        let desktop = try SwayDesktop(size: size, folder: folder)
        try await desktop.start(scripts: scripts)
        let name = try await desktop.displayName()
        self.init(
            servers: desktop.programs, name: name, environment: desktop.environment,
            display: try ContentDisplay(display: name, isRootless: true))
    }
}

/// sway without a screen, PipeWire, and the portal that gives its pictures, on a bus of their own.
private final class SwayDesktop {
    private(set) var programs: [ChildProcess] = []
    let environment: [String: String]
    private let folder: TemporaryFolder
    private let run: String
    private let size: PixelSize

    init(size: PixelSize, folder: TemporaryFolder) throws {
        (self.size, self.folder) = (size, folder)
        run = folder.file("run-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(
            atPath: run, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        environment = [
            "XDG_RUNTIME_DIR": run, "HOME": run, "XDG_CONFIG_HOME": "\(run)/config", "XDG_CURRENT_DESKTOP": "sway",
            "DBUS_SESSION_BUS_ADDRESS": "unix:path=\(run)/bus", "WAYLAND_DISPLAY": "wayland-1",
        ]
    }

    func start(scripts: String) async throws {
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
        try start(["dbus-daemon", "--session", "--nofork", "--address", "unix:path=\(run)/bus"])
        try await appears("bus")
        try start(["pipewire"])
        try await appears("pipewire-0")
        try start(["wireplumber"])
        // It refuses to be root.
        let somebody = getuid() == 0 ? ["unshare", "--user", "--map-user=1000", "--map-group=1000"] : []
        try start(
            somebody + ["sway"],
            more: ["WLR_BACKENDS": "headless", "WLR_LIBINPUT_NO_DEVICES": "1", "WLR_RENDERER": "pixman"])
        try await appears("wayland-1")
        let library = "\(run)/announce_dmabuf.so"
        try start(["clang", "-shared", "-fPIC", "-o", library, "\(scripts)/announce_dmabuf.c", "-ldl"])
        try await ends()
        try start([VirtualScreen.portalPrograms[1], "-r"], more: ["LD_PRELOAD": library])
        try await owns("org.freedesktop.impl.portal.desktop.wlr")
        try start([VirtualScreen.portalPrograms[0], "-r"])
        try await owns("org.freedesktop.portal.Desktop")
    }

    /// What stands in DISPLAY for sway's XWayland.
    func displayName() async throws -> String {
        try await appears("display")
        let text = try String(contentsOfFile: "\(run)/display", encoding: .utf8)
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private func start(_ command: [String], more: [String: String] = [:]) throws {
        var all = ProcessInfo.processInfo.environment
        all["DISPLAY"] = nil
        all.merge(environment) { $1 }
        all.merge(more) { $1 }
        if command.contains("sway") { all["WAYLAND_DISPLAY"] = nil }
        let name = command.contains("sway") ? "sway" : (command[0] as NSString).lastPathComponent
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
    private func ends() async throws {
        guard let program = programs.popLast() else { return }
        try await wait(for: "library for the portal") { !program.isRunning }
    }

    /// Waits until somebody on the bus has a name.
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
