import Foundation
import TestSupport
import Testing

extension Interop.CommandLineTests {
    @Test(
        "A command that fails names what was typed and what was found, before it does anything",
        arguments: [
            (["view", "foo#secret"], 64, "'foo#…' is not a link.", "http://"),
            (["view", "http://127.0.0.1:9/#x", "--window"], 69, "window", "Try:"),
            (
                ["serve", "--source", "test", "--tls-certificate", "no.pem", "--tls-key", "no.key"], 66,
                "can't read the TLS certificate no.pem: there is no such file.", ""
            ),
            (
                ["serve", "--source", "test", "--tls-certificate", "text.txt", "--tls-key", "text.txt"], 65,
                "text.txt is not a certificate in PEM form", "--tls-self-signed"
            ),
            (["serve", "--source", "portal"], 69, "can't ask the desktop for its screens", "Try:"),
            (["serve", "--source", "test", "--record", "no/f.webm"], 73, "there is no directory no.", ""),
            (["demo", "--snapshot", "no/x.png"], 73, "there is no directory", ""),
            (["inspect", "picture.png"], 65, "picture.png is a PNG image.", "session description"),
            (["inspect", "text.txt"], 65, "text.txt is not a session description", "v=0"),
            (["view", "--offer", "answer.json"], 65, "answer.json is an answer, not an offer.", "send --answer"),
        ])
    func failures(arguments: [String], status: Int32, problem: String, remedy: String) async throws {
        let folder = try TemporaryFolder()
        var environment = Self.environment(folder)
        environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=" + folder.file("bus").path
        environment["WAYLAND_DISPLAY"] = ""
        let share = try Share(environment: environment, in: folder)
        _ = try folder.write("hello\n", to: "text.txt")
        _ = try folder.write(#"{"type": "answer", "sdp": "v=0\r\n"}"#, to: "answer.json")
        try Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0xFF]).write(to: folder.file("picture.png"))
        let outcome = try await share.run(arguments)
        #expect(outcome.status == status, "\(outcome.standardError)")
        let said = outcome.standardError
        #expect(said.contains("rtcshare: ") && said.contains(problem), "\(said)")
        #expect(remedy.isEmpty || said.contains(remedy), "\(said)")
        #expect(
            !said.contains("secret") && !said.contains("OpenSSL") && !said.contains("choose in its window"), "\(said)")
        #expect(outcome.standardOutput.isEmpty)
    }
}
