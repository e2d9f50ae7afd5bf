internal import FoundationEssentials
internal import Glibc
internal import RTCShareCapture
internal import RTCSharePlayback
internal import RTCShareVideoCoding

/// The results of `rtcshare doctor` about this machine, except its network. Each part has lines for people.
struct MachineDiagnosis {
    /// The reasons why parts are empty or incomplete, by the part's name in JSON.
    private(set) var problems: [String: String] = [:]
    private(set) var screens: [String] = []
    private(set) var sound: [String] = []
    private(set) var cameras: [String] = []
    /// The video codecs, with their libraries.
    private(set) var codecs: [String] = []
    /// The library that shows the window of `rtcshare view`.
    private(set) var window: [String] = []
    /// The port of the viewer page.
    private(set) var page: [String] = []
    /// The options of `serve` and `send` that the configuration file and the environment set.
    private(set) var configuration: [String] = []
    private(set) var advice: [String] = []

    /// - Parameter port: The port that `rtcshare serve` uses if it is free.
    init(environment: [String: String], port: UInt16 = 8080) {
        findScreens(environment)
        findSound(server: environment["PULSE_SERVER"].flatMap { $0.isEmpty ? nil : $0 })
        findCameras()
        findCodecs()
        if let version = VideoWindow.libraryVersion {
            window = ["SDL \(version)"]
        } else {
            problems["window"] = "SDL 2 is not installed"
            advice.append(
                "rtcshare view can't open a window. Install SDL 2 (on Debian and Ubuntu: apt install libsdl2-2.0-0).")
        }
        if Self.isFree(port) {
            page = ["port \(port): free"]
        } else {
            page = ["port \(port): in use"]
            advice.append(
                "Port \(port) is in use, so rtcshare serve takes the next free port. To choose one, add --listen PORT.")
        }
        findConfiguration(environment)
    }

    /// Returns a part for people, with its problem if it has one.
    func lines(_ part: KeyPath<MachineDiagnosis, [String]>, _ name: String) -> [String] {
        let found = self[keyPath: part]
        guard let problem = problems[name] else { return found }
        return found + [(found.isEmpty ? "none: " : "") + problem]
    }

    /// Returns the failure and, if there is one, a remedy.
    static func reason(for error: CaptureError) -> String {
        if case .displayUnavailable(display: nil, _) = error {
            return "DISPLAY is not set. Try: run rtcshare in a desktop session, or set DISPLAY"
        }
        var failure = CommandFailure(explaining: error)
        // Another source is useless to a command that lists or checks the display.
        if case .displayUnavailable = error {
            failure = CommandFailure(.unavailable, failure.message, try: "set DISPLAY to a running X server")
        }
        return failure.message + (failure.remedy.map { ". Try: \($0)" } ?? "")
    }

    private mutating func findScreens(_ environment: [String: String]) {
        let desktop = DesktopSession(environment: environment)
        if let name = environment["DISPLAY"], !name.isEmpty {
            do throws(CaptureError) {
                let size = try DisplaySource.screenSize(display: name)
                screens.append(
                    "X11: display \(name), \(size)"
                        + (desktop.isWayland
                            ? ", which is XWayland: share its windows, and the screen through the portal" : ""))
            } catch {
                problems["screens"] = Self.reason(for: error)
            }
        }
        do throws(ScreenCastPortal.Problem) {
            let portal = try ScreenCastPortal.find()
            let kinds = portal.kinds.map(\.rawValue).joined(separator: " or ")
            let versions = CaptureLibraries.versions.filter { $0.name == "libpipewire" }.map(\.version).joined()
            screens.append("portal: ScreenCast version \(portal.version), a \(kinds), PipeWire \(versions)")
        } catch {
            if desktop.isWayland {
                let failure = CommandFailure(explaining: CaptureError.portalUnavailable(error))
                let reason = failure.message + (failure.remedy.map { ". Try: \($0)" } ?? "")
                problems["screens"] = [problems["screens"], reason].compactMap(\.self).joined(separator: ". ")
            }
        }
        guard screens.isEmpty, problems["screens"] == nil else { return }
        problems["screens"] = "DISPLAY and WAYLAND_DISPLAY are not set"
        advice.append(
            "No display was found, so rtcshare serve shares a test pattern. To share a screen, run rtcshare in a desktop "
                + "session, or set DISPLAY.")
    }

    private mutating func findConfiguration(_ environment: [String: String]) {
        do {
            if let file = try ConfiguredOptions.file(arguments: [], environment: environment) {
                configuration = ["file: \(file.path)"]
            } else {
                let path = ConfigurationFile.defaultPath(environment: environment)
                configuration = ["no file" + (path.map { ": \($0) does not exist" } ?? "")]
            }
            for command in ConfiguredOptions.commands.keys.sorted() {
                _ = try RTCShareCommand.parsed([command], environment: environment)
                configuration += try ConfiguredOptions(for: [command], environment: environment).origins
                    .map { "\(command) \($0)" }
            }
        } catch {
            configuration = [CommandFailure(explaining: error).message]
            advice.append("rtcshare serve and rtcshare send end with an error until the configuration is corrected.")
        }
    }

    private mutating func findSound(server: String?) {
        do throws(CaptureError) {
            let devices = try PulseSource.devices(server: server)
            let names = [(SoundDeviceKind.sink, "output (--audio system)"), (.source, "microphone")]
            sound = names.map { kind, name in
                let device = devices.first { $0.kind == kind && $0.isDefault } ?? devices.first { $0.kind == kind }
                return "\(name): \(device?.description ?? "none")"
            }
        } catch {
            problems["sound"] = Self.reason(for: error)
            advice.append(
                "The audio of this machine can't be shared. Start PulseAudio or PipeWire, or set PULSE_SERVER.")
        }
    }

    private mutating func findCameras() {
        guard !CameraDevice.requiresPermission else {
            cameras = ["the desktop asks you before rtcshare can use one"]
            return
        }
        do throws(CaptureError) {
            cameras = try CameraDevice.all().map(\.description)
            if cameras.isEmpty { problems["cameras"] = "no camera is connected" }
        } catch {
            problems["cameras"] = Self.reason(for: error)
        }
    }

    private mutating func findCodecs() {
        var missing: [String] = []
        for codec in VideoCodec.all {
            if let reason = codec.unavailability() {
                missing.append("\(codec.name) can't be used: \(reason)")
            } else {
                codecs.append("\(codec.name): \(codec.libraries.joined(separator: " and "))")
            }
        }
        if !missing.isEmpty { problems["codecs"] = missing.joined(separator: ". ") }
    }

    /// Returns whether a TCP socket can listen at a port on all addresses.
    static func isFree(_ port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var isReused: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isReused, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        let isBound = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        return isBound && listen(descriptor, 1) == 0
    }
}
