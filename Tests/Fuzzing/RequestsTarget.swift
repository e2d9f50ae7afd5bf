import Dispatch
import NIOHTTP1
import RTCShareCapture
import RTCShareContentShare
import RTCShareLocks
import RTCShareMedia
import RTCShareTransport
import RTCShareWireFormat
import TestSupport

@testable import RTCShareSignaling

/// What strangers, and viewers with the token, ask a link's server for: a line with the method and the target, lines with
/// headers, an empty line and the body.
///
/// The first byte says whether the request shows the token, and whether it comes from this machine. `KEY` stands for the
/// session that was begun last.
final class RequestsTarget: FuzzTarget {
    private let server: ViewerServer
    private let screen: TestPatternSource
    private let token = AccessToken()
    private let lastKey = Locked("")

    init() throws {
        let screen = try TestPatternSource.testPattern(size: PixelSize(width: 128, height: 96))
        let token = token
        server = try Self.wait {
            let room = try SharingRoom(owner: AttendeeID("alice"))
            var configuration = ViewerServer.Configuration()
            configuration.addresses = [.v4(0x7F00_0001)]
            configuration.port = 0
            configuration.token = token
            configuration.basePath = ["office"]
            configuration.isBehindProxy = true
            configuration.maximumViewers = 4
            configuration.connectTimeout = .milliseconds(100)
            configuration.firstWait = .zero
            configuration.connection.addresses = [.v4(0x7F00_0001)]
            let server = try await ViewerServer(room: room, configuration: configuration)
            try await room.contentShare.start(source: screen)
            return server
        }
        self.screen = screen
    }

    func run(_ input: [UInt8]) throws {
        guard let first = input.first else { return }
        let showsToken = first & 1 != 0
        let text = String(decoding: input.dropFirst(), as: UTF8.self)
        let parts = text.split(separator: "\n\n", maxSplits: 1, omittingEmptySubsequences: false)
        var lines = parts[0].split(separator: "\n", omittingEmptySubsequences: false)[...]
        guard let line = lines.popFirst() else { return }
        let words = line.split(separator: " ", maxSplits: 1)
        let key = lastKey.withLock { $0 }
        guard words.count == 2, let target = HTTPTarget(String(words[1]).replacing("KEY", with: key)) else { return }
        var headers: HTTPHeaders = ["Host": "localhost"]
        for line in lines {
            // The parser of requests lets no others through.
            let header = line.split(separator: ":", maxSplits: 1)
            guard header.count == 2, header[0].utf8.allSatisfy({ (0x21..<0x7F).contains($0) }),
                header[1].utf8.allSatisfy({ $0 >= 0x20 })
            else { continue }
            headers.add(name: String(header[0]), value: String(header[1]))
        }
        if showsToken { headers.replaceOrAdd(name: "Authorization", value: "Bearer " + token.secretText) }
        let request = HTTPRequest(
            method: HTTPMethod(rawValue: String(words[0])), target: target, headers: headers,
            body: parts.count > 1 ? Array(parts[1].utf8) : [],
            peer: .v4(first & 2 != 0 ? 0x7F00_0001 : 0xC000_0207), isSecure: false)
        let server = server
        let response = try Self.wait { await server.respond(to: request) }
        expect(showsToken || response.status != .created, "nobody gets in without the token")
        for (name, value) in response.headers {
            expect(!(name + value).utf8.contains { $0 == 10 || $0 == 13 }, "what a request says makes no header")
        }
        if response.status == .created, let place = response.headers.first(name: "Location") {
            lastKey.withLock { $0 = String(place.split(separator: "/").last ?? "") }
        }
        if case .bytes(let bytes) = response.body, response.status.code >= 400 {
            expect(!String(decoding: bytes, as: UTF8.self).contains("<script"), "no refusal has a script")
        }
    }

    private final class Outcome<Value: Sendable>: Sendable {
        let result = Locked<Result<Value, any Error>?>(nil)
    }

    /// What an asynchronous call gives; the fuzzer's thread waits for it.
    private static func wait<Value: Sendable>(_ call: @escaping @Sendable () async throws -> Value) throws -> Value {
        let isDone = DispatchSemaphore(value: 0)
        let outcome = Outcome<Value>()
        Task {
            do {
                let value = try await call()
                outcome.result.withLock { $0 = .success(value) }
            } catch {
                outcome.result.withLock { $0 = .failure(error) }
            }
            isDone.signal()
        }
        isDone.wait()
        guard let result = outcome.result.withLock({ $0 }) else { fatalError("the call gave nothing") }
        return try result.get()
    }

    func seeds() -> [String: [UInt8]] {
        let offer = "1POST /office/whep\nContent-Type: application/sdp\n\n" + PeerDescriptions.chromiumOffer
        let fragment = """
            1PATCH /whep/sessions/KEY
            Content-Type: application/trickle-ice-sdpfrag
            If-Match: *

            a=ice-ufrag:aBcD
            a=ice-pwd:0123456789abcdef01234567
            """
        return [
            "offer": Array(offer.utf8), "stranger": Array(offer.replacing("1POST", with: "0POST").utf8),
            "restart": Array(fragment.utf8), "end": Array("1DELETE /whep/sessions/KEY".utf8),
            "events": Array("1GET /whep/sessions/KEY/events".utf8),
            "page": Array("2GET /office/\nAccept: text/html\nX-Forwarded-For: 192.0.2.1, [2001:db8::9]:443".utf8),
            "escaped-link": Array("0GET /%230123456789abcdefXYZ\nAccept: text/html".utf8),
            "metrics": Array("2GET /metrics\nHost: localhost\nAuthorization: Bearer 0123456789abcdefXYZ".utf8),
            "options": Array("0OPTIONS /whep/0123456789abcdefXYZ\nOrigin: https://player.example".utf8),
        ]
    }
}
