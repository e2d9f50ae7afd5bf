import NIOCore
import NIOPosix
import Testing

@testable import RTCShareSignaling

@Suite("The limit of a server's connections")
struct ConnectionLimiterTests {
    /// A channel for the limiter, which sends nothing on it.
    private static func channel() async throws -> any Channel {
        try await DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton).bind(host: "127.0.0.1", port: 0).get()
    }

    @Test("A connection that carries media stays open when the server closes, for the goodbye of its peer connection")
    func media() async throws {
        let limiter = ConnectionLimiter(limits: HTTPServer.Limits())
        let (page, former) = (try await Self.channel(), try await Self.channel())
        let media = try await Self.channel()
        #expect(limiter.admit(page) && limiter.admit(former))
        limiter.replace(former, by: media)
        let closing = limiter.close().map { ObjectIdentifier($0) }
        #expect(closing == [ObjectIdentifier(page)])
        for channel in [page, former, media] { try await channel.close() }
    }

    @Test("A connection that begins to carry media after the server has closed is closed")
    func late() async throws {
        let limiter = ConnectionLimiter(limits: HTTPServer.Limits())
        let (former, media) = (try await Self.channel(), try await Self.channel())
        #expect(limiter.admit(former))
        #expect(limiter.close().count == 1)
        limiter.replace(former, by: media)
        try await media.closeFuture.get()
        #expect(!limiter.admit(former))
        try await former.close()
    }
}
