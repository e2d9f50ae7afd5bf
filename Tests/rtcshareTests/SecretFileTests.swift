import Foundation
import RTCShareContentShare
import Testing
import TestSupport

@testable import rtcshare

/// The files from which passwords and tokens are read.
@Suite(.timeLimit(.minutes(1)))
struct SecretFileTests {
    @Test("A secret is read from its user's private file, also through a symbolic link")
    func privateFile() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("sesame\n", to: "secret")
        let link = folder.file("link").path
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "secret")
        try #require(chmod(file.path, 0o600) == 0)
        #expect(try SecretFile.readText(file.path, what: "token") == "sesame\n")
        #expect(try SecretFile.readText(link, what: "token") == "sesame\n")
        for (mode, path) in [(0o640, file.path), (0o602, link)] as [(mode_t, String)] {
            try #require(chmod(file.path, mode) == 0)
            let failure = #expect(throws: CommandFailure.self) { try SecretFile.readText(path, what: "token") }
            #expect(failure?.status == .notPermitted)
            #expect(failure?.remedy?.contains("chmod 600 \(path)") == true, "\(failure?.message ?? "")")
        }
    }

    static let urls = [
        ("http://127.0.0.1:8080/#sesame", "http://127.0.0.1:8080/*******"),
        ("http://127.0.0.1:8080/%23sesame", "http://127.0.0.1:8080/*********"),
        ("http://[::1]:8080/whep/sesame?key=sesame#sesame", "http://[::1]:8080/" + String(repeating: "*", count: 29)),
        ("https://server.example/sesame/webRTC/publish", "https://server.example/*********************"),
        ("https://user:sesame@server.example?sesame", "https://***********@server.example?******"),
        ("ws://server.example:8188", "ws://server.example:8188"), ("http://server.example/", "http://server.example/"),
        ("server.example/sesame@", "server.example/*******"), ("", ""), ("://", "://"),
    ]

    @Test("All parts of a URL except scheme, host and port are hidden from the list of processes", arguments: urls)
    func urlSecrets(url: String, shown: String) {
        var bytes = Array(url.utf8)
        for range in ProcessArguments.secrets(in: url) { for index in range { bytes[index] = UInt8(ascii: "*") } }
        #expect(String(decoding: bytes, as: UTF8.self) == shown)
    }

    @Test("A secret is read from a pipe, as a shell passes the output of a command")
    func pipe() throws {
        let pipe = Pipe()
        let path = "/dev/fd/\(pipe.fileHandleForReading.fileDescriptor)"
        // The command can take long, and the reader waits for it.
        let descriptor = try PrivateFile(path: path).open(O_RDONLY, takesLinks: true)
        #expect(fcntl(descriptor, F_GETFL) & O_NONBLOCK == 0)
        close(descriptor)
        try pipe.fileHandleForWriting.write(contentsOf: Data("sesame\n".utf8))
        try pipe.fileHandleForWriting.close()
        #expect(try SecretFile.readText(path, what: "token") == "sesame\n")
    }

    @Test("A pipe without a writer does not block")
    func silentPipe() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("pipe").path
        try #require(mkfifo(path, 0o600) == 0)
        #expect(try SecretFile.readText(path, what: "token") == "")
    }

    @Test("A path that is not a file is rejected with a remedy, even if it is private to the user")
    func notAFile() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("folder").path
        try #require(mkdir(path, 0o700) == 0)
        var failure = #expect(throws: CommandFailure.self) { try SecretFile.readText(path, what: "token") }
        #expect(failure?.status == .badInput)
        #expect(failure?.remedy?.contains("name a file of mode 0600") == true, "\(failure?.message ?? "")")
        let link = folder.file("nowhere").path
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.file("missing").path)
        for path in [link, folder.file("missing").path] {
            failure = #expect(throws: CommandFailure.self) { try SecretFile.readText(path, what: "token") }
            #expect(failure?.status == .inputMissing)
        }
    }

    @Test(
        "A secret of another user's file is rejected",
        .enabled(if: geteuid() == 0, "only root can give a file to another user"))
    func otherUser() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("sesame\n", to: "secret").path
        try #require(chmod(path, 0o600) == 0 && chown(path, 65_534, 65_534) == 0)
        let failure = #expect(throws: CommandFailure.self) { try SecretFile.readText(path, what: "token") }
        #expect(failure?.status == .notPermitted)
        #expect(failure?.message.contains("belongs to another user") == true, "\(failure?.message ?? "")")
    }
}
