internal import FoundationEssentials
internal import Glibc
internal import RTCShareCapture
internal import RTCShareContentShare

/// What a person has chosen to share when the desktop asked: kept, so that a second start asks nothing.
struct PortalChoice {
    private let kind: ScreenCastPortal.Kind
    /// What the desktop gave for the next start, of mode 0600.
    private let path: String

    init(_ kind: ScreenCastPortal.Kind) {
        self.kind = kind
        path =
            URL(filePath: SessionFile.defaultPath).deletingLastPathComponent()
            .appending(path: "portal-\(kind.rawValue).token").path
    }

    /// Shares what was chosen before, or has the desktop ask.
    func open(framesPerSecond: Double, choosesAnew: Bool) throws -> PortalSource {
        let token = choosesAnew ? nil : try storedToken()
        do throws(ScreenCastPortal.Problem) {
            _ = try ScreenCastPortal.find()
        } catch {
            throw CaptureError.portalUnavailable(error)
        }
        if token == nil { Terminal.shared.say("Choose what to share in the desktop's dialog.") }
        let source = try PortalSource(kind, restoreToken: token, framesPerSecond: framesPerSecond)
        try source.open()
        store(source.restoreToken)
        return source
    }

    private func storedToken() throws(CommandFailure) -> String? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        let text = try SecretFile.readText(path, what: "desktop's token")
        // D-Bus takes no zero byte; whatever else is none, the desktop refuses, and asks.
        return text.isEmpty || text.utf8.contains(0) ? nil : text
    }

    private func store(_ token: String?) {
        do {
            guard let token else {
                try? FileManager.default.removeItem(atPath: path)
                return
            }
            try FileManager.default.createDirectory(
                at: URL(filePath: path).deletingLastPathComponent(), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            try PrivateFile(path: path).write(Data(token.utf8))
        } catch {
            Terminal.shared.say(
                "Can't save the choice in \(path): \(StandardStreams.reason(of: error, path: path)). The next start asks again."
            )
        }
    }
}
