import RTCShareTransport
import Testing

@testable import rtcshare

@Suite struct ServerNameReportTests {
    @Test("A name that DNS does not resolve in time is reported without further waiting")
    func silentNameServer() async throws {
        let answers = AsyncStream.makeStream(of: Void.self)
        let late = await ServerNameReport.lookUp(patience: .zero) { for await _ in answers.stream {} }
        #expect(late.map { _ in 0 } == nil)
        let missing = await ServerNameReport.lookUp(patience: .seconds(60)) {
            throw ICEServerError.unanswered(host: "stun.example.org")
        }
        #expect(throws: ICEServerError.unanswered(host: "stun.example.org")) { try missing?.get() }
        let found = await ServerNameReport.lookUp(patience: .seconds(60)) {}
        #expect(throws: Never.self) { try #require(found).get() }
        #expect(
            ServerNameReport.lateAnswer("stun.example.org", after: .seconds(5))
                == "The name stun.example.org was not found: DNS did not answer within 5 s.")
    }
}
