import NIOCore
import NIOEmbedded
import Testing

@testable import RTCShareSignaling

@Suite("The limit of a server's connections")
struct ConnectionLimiterTests {
    private static func channel() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        try channel.connect(to: .init(ipAddress: "127.0.0.1", port: 1)).wait()
        return channel
    }

    @Test("A connection that carries media stays open when the server closes, for the goodbye of its peer connection")
    func media() throws {
        let limiter = ConnectionLimiter(limits: HTTPServer.Limits())
        let (page, former, media) = (try Self.channel(), try Self.channel(), try Self.channel())
        #expect(limiter.admit(page) && limiter.admit(former))
        limiter.replace(former, by: media)
        let closing = limiter.close().map { ObjectIdentifier($0) }
        #expect(closing == [ObjectIdentifier(page)])
        #expect(media.isActive)
    }

    @Test("A connection that begins to carry media after the server has closed is closed")
    func late() throws {
        let limiter = ConnectionLimiter(limits: HTTPServer.Limits())
        let (former, media) = (try Self.channel(), try Self.channel())
        #expect(limiter.admit(former))
        #expect(limiter.close().count == 1)
        limiter.replace(former, by: media)
        let later = try Self.channel()
        #expect(!media.isActive && !limiter.admit(later))
    }
}
