internal import RTCShareCapture

/// What of this machine's screens can be shared, and by which way.
struct ScreenDiagnosis {
    /// For people.
    let lines: [String]

    init(environment: [String: String]) {
        let desktop = DesktopSession(environment: environment)
        var lines: [String] = []
        if let name = environment["DISPLAY"], !name.isEmpty {
            do throws(CaptureError) {
                let size = try DisplaySource.screenSize(display: name)
                lines.append(
                    "X11: display \(name), \(size)"
                        + (desktop.isWayland
                            ? ", which is XWayland: its windows can be shared, the screen by the portal" : ""))
            } catch {
                lines.append("X11: \(error.words(naming: \.words))")
            }
        }
        do throws(ScreenCastPortal.Problem) {
            let portal = try ScreenCastPortal.find()
            let kinds = portal.kinds.map(\.rawValue).joined(separator: " or ")
            let versions = CaptureLibraries.versions.filter { $0.name == "libpipewire" }.map(\.version).joined()
            lines.append("portal: ScreenCast version \(portal.version), a \(kinds); PipeWire \(versions)")
        } catch {
            if desktop.isWayland { lines.append("portal: \(error)") }
        }
        self.lines = lines.isEmpty ? ["none: neither DISPLAY nor WAYLAND_DISPLAY is set"] : lines
    }
}
