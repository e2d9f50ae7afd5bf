import Foundation
import RTCShareCapture
import RTCShareMedia
import RTCSharePeerConnection
import RTCShareSDP
import RTCShareTransport
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCShareContentShare

/// Sessions that one process hands over to another.
@Suite(.timeLimit(.minutes(2)))
struct HandoverTests {
    /// A temporary directory.
    private final class Folder: Sendable {
        let url = FileManager.default.temporaryDirectory.appending(path: "rtcshare-handover-\(UUID().uuidString)")

        init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false) }
        deinit { try? FileManager.default.removeItem(at: url) }

        func file(_ name: String) -> PrivateFile { PrivateFile(path: url.appending(path: name).path) }

        var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? [] }
    }

    // MARK: The file

    @Test("A private file replaces any file, only its owner can read it, and no other file remains")
    func privateFile() throws {
        let folder = try Folder()
        let file = folder.file("session")
        try Data("of everybody".utf8).write(to: URL(filePath: file.path))
        for mode: mode_t in [0o666, 0o640, 0o620, 0o610, 0o604, 0o602, 0o601] {
            #expect(chmod(file.path, mode) == 0)
            #expect(throws: POSIXError(.EACCES)) { try file.read() }
            #expect(throws: PrivateFile.Objection.accessible) { try file.open(O_RDONLY) }
        }
        for text in ["first", "second, and longer", ""] {
            try file.write(Data(text.utf8))
            var status = stat()
            #expect(lstat(file.path, &status) == 0 && status.st_mode & 0o777 == 0o600)
            #expect(try file.read() == Data(text.utf8))
        }
        // A link is replaced, and its target is not changed.
        try file.remove()
        let other = folder.file("other")
        try other.write(Data("other".utf8))
        try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: other.path)
        // Another user can choose the target of a link.
        #expect(throws: PrivateFile.Objection.notRegular) { try file.open(O_RDONLY) }
        #expect(throws: POSIXError(.EINVAL)) { try file.read() }
        try file.write(Data("mine".utf8))
        #expect(try other.read() == Data("other".utf8) && file.read() == Data("mine".utf8))
        try file.remove()
        #expect(throws: POSIXError(.ENOENT)) { try file.read() }
        #expect(throws: POSIXError(.ENOENT)) { try file.remove() }
        #expect(throws: POSIXError(.ENOENT)) { try folder.file("no/folder").write(Data()) }
        #expect(folder.names == ["other"])
    }

    /// The ways in which a file can disappear.
    enum Removal: CaseIterable {
        case removed, moved, folderRemoved, folderMoved, neverThere
    }

    @Test("The removal of a file is reported once", arguments: Removal.allCases)
    func removedFile(removal: Removal) async throws {
        let folder = try Folder()
        let inner = folder.url.appending(path: "inner")
        try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: false)
        let file = folder.file("inner/session")
        if removal != .neverThere { try file.write(Data("session".utf8)) }
        let removals = try file.removals()
        // Neither of these removes the file.
        if removal != .neverThere { try file.write(Data("anew".utf8)) }
        try folder.file("inner/other").write(Data())
        try folder.file("inner/other").remove()
        if removal != .neverThere { #expect(access(file.path, F_OK) == 0) }
        switch removal {
        case .removed: try file.remove()
        case .moved:
            try FileManager.default.moveItem(atPath: file.path, toPath: folder.url.appending(path: "elsewhere").path)
        case .folderRemoved: try FileManager.default.removeItem(at: inner)
        case .folderMoved: try FileManager.default.moveItem(at: inner, to: folder.url.appending(path: "outer"))
        case .neverThere: break
        }
        var count = 0
        for await _ in removals { count += 1 }
        #expect(count == 1)
    }

    @Test("A file that is replaced by another write is not removed")
    func rewrittenFile() async throws {
        let folder = try Folder()
        let file = folder.file("session")
        try file.write(Data())
        let removals = try file.removals()
        let told = EventLog<String>()
        let watching = Task {
            for await _ in removals { told.append("gone") }
            told.append("end")
        }
        for round in 0..<50 { try file.write(Data("\(round)".utf8)) }
        #expect(told.entries.isEmpty)
        try file.remove()
        await told.wait(count: 2)
        await watching.value
        #expect(told.entries == ["gone", "end"])
        // A reader that stops leaves no descriptor open.
        let before = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        try file.write(Data())
        for _ in 0..<20 {
            let removals = try file.removals()
            let task = Task { for await _ in removals {} }
            task.cancel()
            await task.value
        }
        // They are closed a short time later, on a queue.
        var after = Int.max
        for _ in 0..<1_000_000 where after > before + 10 {
            after = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
            await Task.yield()
        }
        #expect(after <= before + 10)
        #expect(throws: POSIXError(.ENOENT)) { try folder.file("no/folder").removals() }
    }

    // MARK: The session

    @Test("A stored session is resumed by another one, and the viewer sees one share")
    func storedSession() async throws {
        let pair = try await Pair(connects: false)
        let folder = try Folder()
        let offer = try await pair.alice.connection.offer()
        let answer = try await pair.bob.connection.answer(offer: offer)
        let addresses = await pair.alice.connection.localAddresses
        let handed = try await pair.alice.handOver(answer: answer)
        #expect(handed.attendee == "alice" && handed.addresses == addresses && !addresses.isEmpty)
        let file = folder.file("session")
        try file.write(try JSONEncoder().encode(handed))
        let stored = try JSONDecoder().decode(StoredSession.self, from: try file.read())
        #expect(stored.attendee == handed.attendee && stored.addresses == handed.addresses)
        #expect(stored.offer == offer && stored.answer == answer)
        let alice = try await AttendeeSession.takingUp(stored, configuration: Pair.configuration)
        let source = try pattern(320, 180)
        try await alice.contentShare.start(source: source)
        let pictures = await pair.tiles.pictures.wait(count: 5)
        #expect(pictures.allSatisfy { $0.attendee.rawValue == "alice#content" && $0.counter != nil })
        #expect(pair.tiles.kindsButPauses == [.added])
        await alice.leave()
        #expect(await pair.tiles.wait(for: .removed) != nil)
        source.stop()
        await pair.bob.leave()
    }

    @Test("A session that can't be handed over is rejected without a change")
    func invalidSession() async throws {
        let pair = try await Pair(connects: false)
        let offer = try await pair.alice.connection.makeOffer()
        let answer = try await pair.bob.connection.answer(offer: offer)
        await #expect(throws: HandoverError.notOffered) { try await pair.bob.handOver(offer: offer, answer: answer) }
        // The session has no offer that was created elsewhere.
        await #expect(throws: HandoverError.notOffered) {
            try await pair.alice.handOver(answer: answer.description)
        }
        // An offer is not an answer to itself.
        await #expect(throws: (any Error).self) { try await pair.alice.handOver(offer: offer, answer: offer) }
        let known = await pair.alice.identity
        let identity = try #require(known)
        let unanswered = StoredSession(
            attendee: try AttendeeID("alice"), identity: identity,
            addresses: await pair.alice.connection.localAddresses, offer: offer.description)
        await #expect(throws: HandoverError.unanswered) { _ = try await AttendeeSession.takingUp(unanswered) }
        // These addresses are still in use here.
        var answered = unanswered
        answered.answer = answer.description
        await #expect(throws: (any Error).self) {
            _ = try await AttendeeSession.takingUp(answered, configuration: Pair.configuration)
        }
        answered.answer = "no answer"
        await #expect(throws: (any Error).self) { _ = try await AttendeeSession.takingUp(answered) }
        try await pair.alice.connection.accept(answer: answer, to: offer)
        await #expect(throws: HandoverError.notOffered) { try await pair.alice.handOver(offer: offer, answer: answer) }
        let source = try pattern(320, 180)
        try await pair.alice.contentShare.start(source: source)
        await pair.tiles.pictures.wait(count: 2)
        source.stop()
        await pair.end()
    }
}
