internal import FoundationEssentials
internal import Glibc
import RTCShareLocks

/// The access to the session's cameras: through its PipeWire, or, in a sandbox that blocks that, through the Camera
/// portal (`org.freedesktop.portal.Camera`), which asks the user.
final class CameraAccess: Sendable {
    private static let interface = "org.freedesktop.portal.Camera"
    /// The granted access, which is valid as long as the program runs.
    private static let granted = Locked<CameraAccess?>(nil)

    /// The session bus of the portal; nil without a portal.
    private let bus: SessionBus?

    private init(_ bus: SessionBus?) {
        self.bus = bus
    }

    /// The access without a portal.
    static let direct = CameraAccess(nil)

    /// Whether the desktop asks the user before a camera is used.
    static var requiresPermission: Bool { portalBus() != nil }

    /// Returns the available access. If that is the portal, waits for the user's answer.
    static func find() throws(CaptureError) -> CameraAccess {
        if let access = granted.withLock({ $0 }) { return access }
        guard let bus = portalBus() else { return direct }
        let access = try asked(on: bus)
        granted.withLock { $0 = access }
        return access
    }

    /// Returns the bus of the portal, if that is the only access and it knows of a camera.
    private static func portalBus() -> SessionBus? {
        let environment = ProcessInfo.processInfo.environment
        let isSandboxed =
            FileManager.default.fileExists(atPath: "/.flatpak-info") || environment["SNAP"]?.isEmpty == false
        guard isSandboxed || !hasPipeWire(environment), let bus = try? SessionBus(),
            let properties = try? PortalRequests.properties(of: interface, on: bus),
            case .boolean(true)? = properties["IsCameraPresent"]
        else { return nil }
        return bus
    }

    /// Returns whether a connection to the session's PipeWire is possible.
    private static func hasPipeWire(_ environment: [String: String]) -> Bool {
        func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        let name = value("PIPEWIRE_REMOTE") ?? "pipewire-0"
        let folders = [value("PIPEWIRE_RUNTIME_DIR"), value("XDG_RUNTIME_DIR"), "/run/pipewire"]
        let paths = name.hasPrefix("/") ? [name] : folders.compactMap { folder in folder.map { "\($0)/\(name)" } }
        return paths.contains { access($0, R_OK | W_OK) == 0 }
    }

    /// Requests access from the portal on a bus.
    static func asked(on bus: SessionBus) throws(CaptureError) -> CameraAccess {
        do throws(PortalRequests.Refusal) {
            try PortalRequests(interface, on: bus).ask("AccessCamera")
            return CameraAccess(bus)
        } catch {
            throw CaptureError(error)
        }
    }

    /// Opens a socket to the PipeWire daemon that has the cameras; -1 means the session's own daemon.
    func openRemote() throws(CaptureError) -> Int32 {
        guard let bus else { return -1 }
        do throws(PortalRequests.Refusal) {
            return try PortalRequests.openRemote(Self.interface, on: bus, [])
        } catch {
            throw CaptureError(error)
        }
    }
}

extension CaptureError {
    /// Creates the error for a refusal of the Camera portal.
    fileprivate init(_ refusal: PortalRequests.Refusal) {
        self =
            switch refusal {
            case .declined: .camerasDeclined
            case .noPortal, .noInterface: .camerasUnavailable(reason: "the portal is gone")
            case .failed(let reason): .camerasUnavailable(reason: reason)
            }
    }
}
