internal import FoundationEssentials
internal import Glibc

/// A unit of systemd's user manager that runs a command of this program as a service (systemd.service(5)).
struct SystemdUnit {
    /// The unit's name, without `.service`.
    let name: String
    let executable: String
    /// The command and its options, as the user typed them.
    let arguments: [String]
    /// The directory of relative paths among them.
    let folder: String
    /// A file of variables, which may contain tokens.
    let environmentFile: String?
    let restart: UnitCommand.Restart
    /// Whether it captures the screen, which exists only while a user is logged in there.
    let needsScreen: Bool

    /// The exit statuses after which a restart is useless: usage, bad input, missing input, no permission, a file that
    /// can't be created.
    private static let hopeless: [CommandFailure.Status] = [
        .usage, .badInput, .inputMissing, .cannotCreate, .notPermitted,
    ]

    /// The unit file.
    var text: String {
        let target = needsScreen ? "graphical-session.target" : "default.target"
        let command = ([Self.path(executable)] + arguments.map(Self.quoted)).joined(separator: " ")
        let hopeless = Self.hopeless.map { String($0.rawValue) }.joined(separator: " ")
        var lines = [
            "# ~/.config/systemd/user/\(name).service, written by: rtcshare unit",
            "#   systemctl --user daemon-reload",
            "#   systemctl --user enable --now \(name)",
        ]
        if needsScreen {
            lines += [
                "# If the service finds no display, run this at each login:",
                "#   systemctl --user import-environment DISPLAY XAUTHORITY \\",
                "#       WAYLAND_DISPLAY XDG_CURRENT_DESKTOP",
            ]
        }
        lines += ["", "[Unit]", "Description=rtcshare \(arguments.first ?? "")"]
        if needsScreen { lines += ["PartOf=\(target)", "After=\(target)"] }
        lines += [
            // A display or a network that is missing for an hour is not a reason to give up.
            "StartLimitIntervalSec=0",
            "", "[Service]", "Type=notify", "ExecStart=\(command)",
            "WorkingDirectory=\(Self.specifiersEscaped(folder))",
        ]
        // A desktop asks the user what to share, who may be absent.
        if needsScreen { lines.append("TimeoutStartSec=infinity") }
        if let environmentFile { lines.append("EnvironmentFile=\(Self.specifiersEscaped(environmentFile))") }
        lines += [
            "Restart=\(restart.rawValue)", "RestartSec=5", "RestartPreventExitStatus=\(hopeless)",
            // After the first SIGTERM, viewers are notified.
            "KillSignal=SIGTERM", "TimeoutStopSec=15",
            // The restrictions of a service that do not block the X server's socket in /tmp, shared memory and the
            // network.
            "NoNewPrivileges=yes", "UMask=0077", "LimitCORE=0", "LockPersonality=yes", "MemoryDenyWriteExecute=yes",
            "RestrictRealtime=yes", "RestrictSUIDSGID=yes", "RestrictNamespaces=yes",
            "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK", "SystemCallArchitectures=native",
            "SystemCallFilter=@system-service", "SystemCallErrorNumber=EPERM",
            "", "[Install]", "WantedBy=\(target)", "",
        ]
        return lines.joined(separator: "\n")
    }

    /// Returns an argument of ExecStart, quoted if necessary, without any special meaning for systemd.
    static func quoted(_ argument: String) -> String {
        let text = escaped(argument).replacing("$", with: "$$")
        let isPlain =
            !argument.isEmpty
            && argument.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "_-./:=,+@%$".utf8.contains(byte) || byte >= 0x80
                }
            }
        return isPlain ? text : "\"\(text)\""
    }

    /// Returns the program of ExecStart, in which systemd expands no variables.
    private static func path(_ path: String) -> String { "\"\(escaped(path))\"" }

    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "%": result += "%%"
            case "\\": result += "\\\\"
            case "\"": result += "\\\""
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                result += String(printing: "\\x%02x", scalar.value)
            default: result.unicodeScalars.append(scalar)
            }
        }
    }

    /// Returns a setting that is a path and is not quoted.
    private static func specifiersEscaped(_ path: String) -> String { path.replacing("%", with: "%%") }

    /// Returns whether an unquoted setting can contain the path.
    static func canHold(_ path: String) -> Bool {
        !path.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F || "\\*?[".unicodeScalars.contains($0) }
            && path.last?.isWhitespace == false
    }
}
