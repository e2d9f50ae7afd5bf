internal import FoundationEssentials
internal import Glibc
import RTCShareLocks

/// How the session's cameras are reached: by its PipeWire, or, in a sandbox that keeps that from programs, by the Camera portal
/// (`org.freedesktop.portal.Camera`), which asks the desktop's person.
final class CameraAccess: Sendable {
    private static let interface = "org.freedesktop.portal.Camera"
    /// What was allowed holds for as long as the program runs.
    private static let granted = Locked<CameraAccess?>(nil)

    /// Where a portal was asked; nil without one.
    private let bus: SessionBus?

    private init(_ bus: SessionBus?) {
        self.bus = bus
    }

    /// Without a portal.
    static let direct = CameraAccess(nil)

    /// Whether the desktop's person is asked before a camera is used.
    static var requiresPermission: Bool { portalBus() != nil }

    /// The way that there is; where that is the portal, it waits for the person's answer.
    static func find() throws(CaptureError) -> CameraAccess {
        if let access = granted.withLock({ $0 }) { return access }
        guard let bus = portalBus() else { return direct }
        let access = try asked(on: bus)
        granted.withLock { $0 = access }
        return access
    }

    /// Where the portal answers, if there is no way but that, and it knows of a camera.
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

    /// Whether the session's PipeWire can be connected to.
    private static func hasPipeWire(_ environment: [String: String]) -> Bool {
        func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        let name = value("PIPEWIRE_REMOTE") ?? "pipewire-0"
        let folders = [value("PIPEWIRE_RUNTIME_DIR"), value("XDG_RUNTIME_DIR"), "/run/pipewire"]
        let paths = name.hasPrefix("/") ? [name] : folders.compactMap { folder in folder.map { "\($0)/\(name)" } }
        return paths.contains { access($0, R_OK | W_OK) == 0 }
    }

    /// Has the portal of a bus ask.
    static func asked(on bus: SessionBus) throws(CaptureError) -> CameraAccess {
        do throws(PortalRequests.Refusal) {
            try PortalRequests(interface, on: bus).ask("AccessCamera")
            return CameraAccess(bus)
        } catch {
            throw CaptureError(error)
        }
    }

    /// A socket to the PipeWire that has them; -1 stands for the session's own.
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
    /// What the Camera portal's refusal is an error for.
    fileprivate init(_ refusal: PortalRequests.Refusal) {
        self =
            switch refusal {
            case .declined: .camerasDeclined
            case .noPortal, .noInterface: .camerasUnavailable(reason: "the portal is gone")
            case .failed(let reason): .camerasUnavailable(reason: reason)
            }
    }
}
