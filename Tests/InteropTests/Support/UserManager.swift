import Foundation
import Testing
import TestSupport

/// systemd's user manager of a user who is not root, with a sway session that it starts: what a login at a Wayland desktop
/// gives. The user is this test's own in a user namespace, so that files need no other owner and programs no account.
final class UserManager {
    private static let systemd = "/usr/lib/systemd/systemd"
    private static let ordinary = ["--user", "--map-user=1000", "--map-group=1000"]

    /// The cgroup hierarchies that the manager needs, as they are mounted here.
    private static let hierarchies: [String] = {
        let named = ["/sys/fs/cgroup/systemd", "/sys/fs/cgroup/unified"]
        return FileManager.default.fileExists(atPath: named[0]) ? named : ["/sys/fs/cgroup"]
    }()

    /// What makes it run here, or nil.
    static let missing: String? =
        if getuid() != 0 {
            "root, who may mount"
        } else if !FileManager.default.isExecutableFile(atPath: systemd) || RunningProgram.find("systemctl") == nil {
            "systemd"
        } else if let closed = hierarchies.first(where: { access($0, W_OK) != 0 }) {
            "\(closed), to write to"
        } else {
            WaylandDesktop.missing
        }

    let folder: TemporaryFolder
    /// The environment of who is logged in.
    let environment: [String: String]
    private let program: RunningProgram
    private let groups: [String]
    private static let units = "home/.config/systemd/user"

    /// Starts the manager, and not the session yet.
    init(in folder: TemporaryFolder) async throws {
        self.folder = folder
        let (run, home) = (folder.file("run").path, folder.file("home").path)
        try FileManager.default.createDirectory(
            atPath: run, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        environment = [
            "HOME": home, "XDG_RUNTIME_DIR": run, "DBUS_SESSION_BUS_ADDRESS": "unix:path=\(run)/bus",
            "XDG_CONFIG_HOME": "", "XDG_STATE_HOME": "", "DISPLAY": "", "WAYLAND_DISPLAY": "",
        ]
        let name = "rtcshare-\(UUID().uuidString.prefix(8))"
        groups = Self.hierarchies.map { "\($0)/\(name)" }
        try await Self.writeSession(in: folder)
        let manage = """
            for group in \(groups.joined(separator: " ")); do mkdir $group && echo $$ > $group/cgroup.procs || exit; done
            exec unshare \(Self.ordinary.joined(separator: " ")) env -i "PATH=$PATH" "HOME=$HOME" \
            "XDG_RUNTIME_DIR=$XDG_RUNTIME_DIR" \(Self.systemd) --user
            """
        // The shell stays: systemd closes all files at its start, which Foundation takes for a program's end.
        let begin = """
            mount -t tmpfs -o mode=755 none /run
            mkdir -p /run/systemd/system /run/systemd/seats /run/systemd/sessions /run/systemd/users /run/systemd/machines
            sh -c '\(manage)' & trap 'kill $!' TERM; wait; wait
            """
        program = try RunningProgram(
            try #require(RunningProgram.find("unshare")),
            ["--mount", "--propagation", "private", "/bin/sh", "-c", begin], environment: environment, in: folder)
        try await program.wait(for: "the user manager", timeout: .seconds(30)) {
            FileManager.default.fileExists(atPath: "\(run)/systemd/private")
        }
    }

    deinit {
        program.stop()
        // What outlived its manager is still in its groups.
        for group in groups {
            let inner = FileManager.default.subpaths(atPath: group) ?? []
            let folders = [group] + inner.map { "\(group)/\($0)" }
            for folder in folders {
                let members = try? String(contentsOfFile: "\(folder)/cgroup.procs", encoding: .utf8)
                for member in (members ?? "").split(separator: "\n").compactMap({ pid_t($0) }) where member > 1 {
                    kill(member, SIGKILL)
                }
            }
            for folder in folders.reversed() {
                for _ in 0..<100 where rmdir(folder) != 0 && errno == EBUSY { usleep(10_000) }
            }
        }
    }

    private static func write(_ text: String, to name: String, in folder: TemporaryFolder) throws {
        try FileManager.default.createDirectory(
            at: folder.file(name).deletingLastPathComponent(), withIntermediateDirectories: true)
        _ = try folder.write(text, to: name)
    }

    /// The files of a session: sway, which hands its variables over and then starts what belongs to a desktop.
    private static func writeSession(in folder: TemporaryFolder) async throws {
        let library = folder.file("announce_dmabuf.so").path
        let compiled = try await RunningProgram.run(
            try #require(RunningProgram.find("clang")),
            ["-shared", "-fPIC", "-o", library, Peers.script("announce_dmabuf.c"), "-ldl"], in: folder,
            timeout: .seconds(60))
        try #require(compiled.status == 0, "clang: \(compiled.standardError)")
        let files = [
            "home/.config/systemd/user.conf": "[Manager]\nDefaultTimeoutStopSec=3s\n",
            "\(units)/sway.service": """
            [Service]
            Environment=WLR_BACKENDS=headless WLR_LIBINPUT_NO_DEVICES=1 WLR_RENDERER=pixman XDG_CURRENT_DESKTOP=sway
            ExecStart=sway
            """,
            "\(units)/sway-session.target": """
            [Unit]
            BindsTo=graphical-session.target
            """,
            "\(units)/xdg-desktop-portal-wlr.service.d/library.conf": "[Service]\nEnvironment=LD_PRELOAD=\(library)\n",
            "home/.config/sway/config": """
            output HEADLESS-1 resolution 1280x720
            default_border none
            exec foot sh -c 'ls -ld /usr/bin/* | cut -c1-120 | head -40; while :; do printf "\\r%s" $(date +%N); sleep .1; done'
            exec systemctl --user import-environment WAYLAND_DISPLAY XDG_CURRENT_DESKTOP && systemctl --user start \
            sway-session.target

            """,
            "home/.config/xdg-desktop-portal-wlr/config":
                "[screencast]\nchooser_type=none\noutput_name=HEADLESS-1\nmax_fps=30\n",
        ]
        for (name, text) in files { try write(text, to: name, in: folder) }
    }

    /// Installs a unit, and what is changed of it here.
    func install(_ unit: String, name: String, changes: String) throws {
        try Self.write(unit, to: "\(Self.units)/\(name).service", in: folder)
        try Self.write(changes, to: "\(Self.units)/\(name).service.d/changes.conf", in: folder)
    }

    /// Runs a program as who is logged in.
    func run(_ program: URL, _ arguments: [String], more: [String: String] = [:]) async throws -> RunningProgram.Outcome
    {
        try await RunningProgram.run(
            try #require(RunningProgram.find("unshare")), Self.ordinary + [program.path] + arguments,
            environment: environment.merging(more) { $1 }, in: folder, timeout: .seconds(60))
    }

    /// Runs `systemctl --user`, and returns what it says.
    @discardableResult
    func control(_ arguments: String...) async throws -> String {
        let outcome = try await run(try #require(RunningProgram.find("systemctl")), ["--user"] + arguments)
        return (outcome.standardOutput + outcome.standardError).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Waits until `systemctl --user` says something.
    func wait(for words: String, from arguments: String...) async throws {
        let deadline = ContinuousClock.now + .seconds(30)
        let systemctl = try #require(RunningProgram.find("systemctl"))
        var said = ""
        while ContinuousClock.now < deadline {
            said = try await run(systemctl, ["--user"] + arguments).standardOutput
            if said.trimmingCharacters(in: .whitespacesAndNewlines) == words { return }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw RunningProgram.Failure.timedOut(
            waitingFor: "\(arguments) to say \(words)", standardError: said + program.standardError)
    }
}
