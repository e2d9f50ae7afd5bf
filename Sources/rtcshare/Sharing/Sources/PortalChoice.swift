internal import FoundationEssentials
internal import Glibc
internal import RTCShareCapture
internal import RTCShareContentShare

/// The portal's token for the source that a person chose, which is stored so that the next start does not ask again.
struct PortalChoice {
    private let kind: ScreenCastPortal.Kind
    /// The path of the token's file, which has mode 0600.
    private let path: String

    init(_ kind: ScreenCastPortal.Kind) {
        self.kind = kind
        path =
            URL(filePath: SessionFile.defaultPath).deletingLastPathComponent()
            .appending(path: "portal-\(kind.rawValue).token").path
    }

    /// Opens the source that was chosen before, or lets the portal ask.
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
        // D-Bus accepts no zero bytes. For any other invalid token, the portal asks again.
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
