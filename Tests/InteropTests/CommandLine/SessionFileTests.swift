import Foundation
import Testing

@testable import rtcshare

/// The file that `offer` leaves for `send`: whose it may be.
@Suite(.timeLimit(.minutes(1)))
struct SessionFileTests {
    @Test("A session that others may have read is not taken, and the cure is named")
    func readableByOthers() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("{}", to: "session.json").path
        for mode in [0o644, 0o660, 0o602, 0o601] as [mode_t] {
            try #require(chmod(path, mode) == 0)
            let failure = #expect(throws: CommandFailure.self) { try SessionFile(path: path).take() }
            #expect(failure?.status == .notPermitted)
            #expect(failure?.message.contains("chmod 600 \(path)") == true, "\(failure?.message ?? "")")
        }
        // What only its owner could read is looked into.
        try #require(chmod(path, 0o600) == 0)
        let failure = #expect(throws: CommandFailure.self) { try SessionFile(path: path).take() }
        #expect(failure?.status == .badInput)
    }

    @Test("A session is a file, and neither a link to one nor a pipe")
    func linksAndPipes() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("session.json").path
        let target = try folder.write("{}", to: "target.json")
        try #require(chmod(target.path, 0o600) == 0)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target.path)
        var failure = #expect(throws: CommandFailure.self) { try SessionFile(path: path).take() }
        #expect(failure?.message.contains("name the file itself") == true, "\(failure?.message ?? "")")
        try FileManager.default.removeItem(atPath: path)
        try #require(mkfifo(path, 0o600) == 0)
        failure = #expect(throws: CommandFailure.self) { try SessionFile(path: path).take() }
        #expect(failure?.message.contains("name the file itself") == true, "\(failure?.message ?? "")")
    }

    @Test("What is read is what was looked at, whatever is put in its place meanwhile")
    func replacedFile() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("{}", to: "session.json").path
        try #require(chmod(path, 0o600) == 0)
        let used = SessionFile(path: path)
        try used.open()
        try used.consume()
        let file = SessionFile(path: path)
        try file.open()
        try FileManager.default.removeItem(atPath: path)
        _ = try folder.write("{}", to: "session.json")
        try #require(chmod(path, 0o600) == 0)
        let failure = #expect(throws: CommandFailure.self) { try file.read() }
        #expect(failure?.status == .inputMissing && failure?.message.contains("was used at") == true)
    }

    @Test(
        "A session of another user is not taken",
        .enabled(if: geteuid() == 0, "only root can give a file to another user"))
    func otherUser() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("{}", to: "session.json").path
        try #require(chmod(path, 0o600) == 0 && chown(path, 65_534, 65_534) == 0)
        let failure = #expect(throws: CommandFailure.self) { try SessionFile(path: path).take() }
        #expect(failure?.status == .notPermitted)
        #expect(failure?.message.contains("belongs to another user") == true, "\(failure?.message ?? "")")
    }
}
