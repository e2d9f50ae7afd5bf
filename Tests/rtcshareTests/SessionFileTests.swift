import Foundation
import RTCShareContentShare
import RTCSharePeerConnection
import RTCShareSDP
import TestSupport
import Testing

@testable import rtcshare

/// The permissions and the owner of the file that `offer` stores for `send`.
@Suite(.timeLimit(.minutes(1)))
struct SessionFileTests {
    @Test("A session file that others can read is rejected with a remedy")
    func readableByOthers() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("{}", to: "session.json").path
        for mode in [0o644, 0o660, 0o602, 0o601] as [mode_t] {
            try #require(chmod(path, mode) == 0)
            let failure = #expect(throws: CommandFailure.self) { try SessionFile(path: path).take() }
            #expect(failure?.status == .notPermitted)
            #expect(failure?.remedy?.contains("chmod 600 \(path)") == true, "\(failure?.message ?? "")")
        }
        // A file that only its owner can read is opened.
        try #require(chmod(path, 0o600) == 0)
        let failure = #expect(throws: CommandFailure.self) { try SessionFile(path: path).take() }
        #expect(failure?.status == .badInput)
    }

    @Test("A session is read from a file, and neither from a symbolic link nor from a pipe")
    func linksAndPipes() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("session.json").path
        let target = try folder.write("{}", to: "target.json")
        try #require(chmod(target.path, 0o600) == 0)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target.path)
        var failure = #expect(throws: CommandFailure.self) { try SessionFile(path: path).take() }
        #expect(failure?.remedy?.contains("with a regular file") == true, "\(failure?.message ?? "")")
        try FileManager.default.removeItem(atPath: path)
        try #require(mkfifo(path, 0o600) == 0)
        failure = #expect(throws: CommandFailure.self) { try SessionFile(path: path).take() }
        #expect(failure?.remedy?.contains("with a regular file") == true, "\(failure?.message ?? "")")
    }

    @Test("The session is read from the file that was checked, even if another file replaces it")
    func replacedFile() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("{}", to: "session.json").path
        try #require(chmod(path, 0o600) == 0)
        let used = SessionFile(path: path)
        try used.open()
        let answered = try SessionDescription.parse(Self.session().session.offer)
        try used.consume(answered)
        let file = SessionFile(path: path)
        try file.open()
        try FileManager.default.removeItem(atPath: path)
        _ = try folder.write("{}", to: "session.json")
        try #require(chmod(path, 0o600) == 0)
        let failure = #expect(throws: CommandFailure.self) { try file.read() }
        #expect(failure?.status == .inputMissing && failure?.message.contains("was used at") == true)
    }

    @Test(
        "A session file of another user is rejected",
        .enabled(if: geteuid() == 0, "only root can give a file to another user"))
    func otherUser() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("{}", to: "session.json").path
        try #require(chmod(path, 0o600) == 0 && chown(path, 65_534, 65_534) == 0)
        let failure = #expect(throws: CommandFailure.self) { try SessionFile(path: path).take() }
        #expect(failure?.status == .notPermitted)
        #expect(failure?.message.contains("belongs to another user") == true, "\(failure?.message ?? "")")
    }

    // MARK: Several offers

    @Test("An answer finds the session of its own offer after a later offer")
    func severalOffers() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("session.json").path
        let (first, second) = (try Self.session(), try Self.session())
        #expect(!SessionFile(path: path).keepPrevious())
        try SessionFile(path: path).store(first)
        #expect(SessionFile(path: path).keepPrevious())
        try SessionFile(path: path).store(second)
        for session in [first, second] {
            let answer = try SessionDescription.parse(session.session.offer)
            let taken = try SessionFile.take(answeredBy: answer, among: SessionFile(path: path))
            #expect(taken.session.session.offer == session.session.offer)
            try taken.file.consume(taken.offer)
            // A session can be used once.
            #expect(throws: CommandFailure.self) { try SessionFile(path: taken.file.path).take() }
        }
    }

    @Test("A second use of an answer is reported as such, even if another offer waits for its answer")
    func usedTwice() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("session.json").path
        let (first, second) = (try Self.session(), try Self.session())
        try SessionFile(path: path).store(first)
        #expect(SessionFile(path: path).keepPrevious())
        try SessionFile(path: path).store(second)
        let answer = try SessionDescription.parse(first.session.offer)
        let taken = try SessionFile.take(answeredBy: answer, among: SessionFile(path: path))
        try taken.file.consume(taken.offer)
        let failure = #expect(throws: CommandFailure.self) {
            try SessionFile.take(answeredBy: answer, among: SessionFile(path: path))
        }
        #expect(failure?.message.contains("was used at") == true, "\(failure?.message ?? "")")
    }

    @Test("Sessions of earlier offers are removed after a day, and if there are more than sixteen")
    func pruning() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("session.json").path
        for _ in 0..<20 {
            _ = SessionFile(path: path).keepPrevious()
            try SessionFile(path: path).store(try Self.session())
        }
        func count() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: folder.url.path).count }
        #expect(try count() == 17)
        #expect(!SessionFile(path: path).keepPrevious(now: Date().addingTimeInterval(SharingSession.maximumAge + 60)))
        #expect(try count() == 1)
    }

    private static func session() throws -> SharingSession {
        var random = SystemRandomNumberGenerator()
        let attendee = try AttendeeID("alice")
        let identity = try LocalIdentity(
            media: try SharedMedia.kinds([.content], of: attendee), unixTime: Int64(Date().timeIntervalSince1970),
            random: &random)
        let mid = String(UInt32.random(in: 0 ... .max, using: &random), radix: 36)
        let offer =
            "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\na=mid:\(mid)\r\n"
        return SharingSession(
            createdAt: Date(), host: SharingSession.thisHost,
            session: StoredSession(attendee: attendee, identity: identity, addresses: [], offer: offer),
            sources: SourceSelection(audio: []), transportPolicy: "all",
            resolvesHostNames: false, acceptsTCP: false, servers: [], relays: [])
    }
}
