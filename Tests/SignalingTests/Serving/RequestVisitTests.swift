import NIOHTTP1
import RTCShareLocks
import RTCShareWireFormat
import Testing

@testable import RTCShareContentShare
@testable import RTCShareSignaling

@Suite("The executors that a request visits", .timeLimit(.minutes(1)))
struct RequestVisitTests {
    /// Checks the three jobs. Between the first two is the thread pool, and between the last two the connection's event
    /// loop. The HTTP server's event loop is before and after them: that makes six switches.
    @Test("An offer is answered in three jobs of the sharing actor for any destination", arguments: [false, true])
    func offer(isOfSubgroup: Bool) async throws {
        let share = try await ServerFixture { $0.media = [.content, .contentAudio, .camera, .microphone] }
        await share.room.join(try Subgroup("design"))
        let token = try #require(isOfSubgroup ? share.token?.derived(for: "design") : share.token)
        let request = HTTPRequest(
            method: .POST, target: try #require(HTTPTarget("/whep/\(token.secretText)")),
            headers: ["Host": "localhost", "Content-Type": "application/sdp"],
            body: Array(try await share.offer(videos: 2, sounds: 2).utf8), peer: .v4(0x7F00_0001), isSecure: false)
        let resumptions = Locked(0)
        // The task starts as a request of the HTTP server does.
        let response = await Task { @SharingActor in
            // A task identifies its jobs.
            let task = withUnsafeCurrentTask { $0.map { unsafeBitCast($0, to: Int.self) } }
            SharingActor.executor.observe { job in
                if unsafeBitCast(job, to: Int.self) == task { resumptions.withLock { $0 += 1 } }
            }
            defer { SharingActor.executor.observe(nil) }
            return await share.server.respond(to: request)
        }.value
        #expect(response.status == .created)
        #expect(resumptions.withLock { $0 } == 2)
        await share.end()
    }
}
