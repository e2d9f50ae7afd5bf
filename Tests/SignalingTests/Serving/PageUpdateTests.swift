import RTCSharePeerConnection
import Testing

@testable import RTCShareContentShare
@testable import RTCShareSignaling

@Suite("The messages to viewers' pages", .timeLimit(.minutes(1)))
@SharingActor struct PageUpdateTests {
    /// Opens a page for each session of the server.
    private func openPages(_ share: ServerFixture) async throws -> [AsyncStream<[UInt8]>] {
        let pages = try share.server.sessions.keys.map { try share.server.openPage(of: $0) }
        await settle()
        return pages
    }

    /// Waits until the messages that are due were sent.
    private func settle() async {
        await withCheckedContinuation { continuation in SharingActor.post { continuation.resume() } }
    }

    /// Returns the states of the share that a page was sent, without heartbeats.
    private func states(_ page: AsyncStream<[UInt8]>) async -> [String] {
        var states: [String] = []
        for await message in page {
            let text = String(decoding: message, as: UTF8.self)
            if text.hasPrefix("event: state") { states.append(text) }
        }
        return states
    }

    @Test("A pause, a resumption and a pause in one job cause one message with the last state")
    func lastState() async throws {
        let share = try await ServerFixture()
        _ = try await share.post(try await share.offer())
        let page = try #require(try await openPages(share).first)
        for isPaused in [true, false, true] { share.server.setPaused(isPaused) }
        await settle()
        share.server.end()
        let states = await states(page)
        #expect(states.count == 3 && states[0].contains("\"state\":\"live\",\"tiles\""))
        #expect(states.dropFirst().first?.contains("\"state\":\"paused\",\"tiles\":[{\"state\":\"paused\"") == true)
        #expect(states.last?.contains("\"state\":\"ended\"") == true)
        await share.end()
    }

    @Test("A page that connects after the end of the share receives the end")
    func pageAfterEnd() async throws {
        let share = try await ServerFixture()
        let location = try share.session(in: try await share.post(try await share.offer()))
        share.server.end()
        for page in try await openPages(share) {
            let states = await states(page)
            #expect(states.count == 1 && states.first?.contains("\"state\":\"ended\"") == true)
        }
        let state = try await share.ask("GET", location + "/state")
        #expect(String(decoding: state.body, as: UTF8.self).contains("ended"))
        await share.end()
    }

    @Test("The end of the room is the end of the share for pages and new viewers")
    func endOfRoom() async throws {
        let share = try await ServerFixture()
        let offer = try await share.offer()
        _ = try await share.post(offer)
        let page = try #require(try await openPages(share).first)
        await share.room.end()
        #expect(await states(page).last?.contains("\"state\":\"ended\"") == true)
        #expect(try await share.post(offer).status == 410)
        await share.end()
    }

    @Test("Viewers who connect at the same time cause one message for each page")
    func crowd() async throws {
        let count = 100
        let share = try await ServerFixture()
        let offer = try await share.offer()
        for _ in 0..<count { #expect(try await share.post(offer).status == 201) }
        let pages = try await openPages(share)
        #expect(pages.count == count)
        for session in share.server.sessions.values {
            SharingActor.post { session.attendeeSession.change(to: .connected) }
        }
        await settle()
        await settle()
        share.server.end()
        for page in pages {
            let states = await states(page)
            #expect(states.count == 3, "the first state, that of all viewers and the end")
            #expect(states.dropFirst().first?.contains("\"viewers\":\(count)") == true)
        }
        await share.end()
    }
}
