import Foundation
import TestSupport
import Testing

@testable import rtcshare

@Suite("The choices on the presenter's page")
struct ShareStartTests {
    @Test("The choices become the options of serve, each in one argument")
    func arguments() {
        #expect(ShareStart().arguments == ["serve"])
        let start = ShareStart(
            source: "window:title=--ask", audio: ["system", "tone:440"], microphone: "microphone", camera: "camera",
            attendee: "Ada", needsApproval: true, hint: "text", isRecording: true, isOnInternet: true)
        #expect(
            start.arguments == [
                "serve", "--source=window:title=--ask", "--microphone=microphone", "--camera=camera", "--attendee=Ada",
                "--hint=text", "--audio=system", "--audio=tone:440", "--ask", "--internet",
            ])
        #expect(
            ShareStart(needsApproval: false, isOnInternet: false).arguments == ["serve", "--no-ask", "--no-internet"])
        // The page announces the desktop's dialog.
        #expect(ShareStart(source: "portal").arguments == ["serve", "--source=portal", "--choose"])
    }

    @Test("The command has the choices, and rejects a wrong one with its remedy")
    func command() throws {
        let command = try ShareStart(source: "test:320x240@10", audio: ["tone"], needsApproval: true).command()
        #expect(command.link.ask && command.sources.audio.count == 1 && command.sources.source != nil)
        for wrong in [ShareStart(source: "nonsense:1"), ShareStart(source: ""), ShareStart(hint: "loud")] {
            #expect(throws: CommandFailure.self) { try wrong.command() }
        }
    }

    @Test("Choices are stored for this user alone, and a damaged file counts as none")
    func storage() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("state/present.json").path
        #expect(ShareStart(storedAt: path) == ShareStart())
        let start = ShareStart(source: "window:title=Slides", needsApproval: true)
        try start.store(at: path)
        #expect(ShareStart(storedAt: path) == start)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        for text in ["", "{", "[]", #"{"source":1}"#] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            #expect(ShareStart(storedAt: path) == ShareStart(), "\(text)")
        }
    }
}
