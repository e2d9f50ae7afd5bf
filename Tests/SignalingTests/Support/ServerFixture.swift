import Dispatch
import Glibc
import RTCShareCapture
import RTCShareLocks
import RTCShareMedia
import RTCSharePeerConnection
import RTCShareSDP
import RTCShareTransport
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCShareContentShare
@testable import RTCShareSignaling

/// A share of alice's behind a link, over real sockets of the loopback interface.
struct ServerFixture {
    let room: SharingRoom
    let server: ViewerServer
    let screen: TestPatternSource
    let token = try? AccessToken("0123456789abcdefXYZ")

    init(
        shares: Bool = true, _ change: (inout ViewerServer.Configuration) -> Void = { _ in }
    ) async throws {
        room = try SharingRoom(owner: AttendeeID("alice"))
        var configuration = ViewerServer.Configuration()
        configuration.addresses = [.v4(0x7F00_0001)]
        configuration.port = 0
        configuration.token = token
        configuration.connection = Self.connection
        change(&configuration)
        server = try await ViewerServer(room: room, configuration: configuration)
        screen = try TestPatternSource.testPattern(size: PixelSize(width: 192, height: 144))
        guard shares else { return }
        try await room.contentShare.start(source: screen)
        try screen.start()
    }

    static var connection: Connection.Configuration {
        var configuration = Connection.Configuration()
        configuration.addresses = [.v4(0x7F00_0001)]
        return configuration
    }

    var origin: String { "http://127.0.0.1:\(server.port)" }
    var link: String { origin + "/#" + (token?.secretText ?? "") }

    func end() async {
        await WorkerThread.run(named: "test") { screen.stop() }
        await room.end()
        await server.close()
    }

    /// Returns a player, which connects with `start()`.
    func player(_ url: String? = nil) async throws -> WHEPPlayer {
        try await WHEPPlayer(
            url: url ?? link, as: AttendeeID("viewer"), configuration: Self.connection)
    }

    /// Sends a request.
    func ask(
        _ method: String, _ path: String, _ headers: [(String, String)] = [], body: String? = nil,
        token: AccessToken? = nil
    ) async throws -> HTTPClient.Response {
        let url = try #require(WebAddress(origin + path))
        return try await HTTPClient().perform(
            HTTPClient.Request(
                method: method, url: url, headers: headers.map { (name: $0.0, value: $0.1) },
                body: body.map { Array($0.utf8) }, token: token))
    }

    /// Returns the path of a response's session.
    func session(in response: HTTPClient.Response) throws -> String {
        let location = try #require(response["Location"])
        return try #require(response.url.resolving(location)).path
    }

    /// Opens the stream of events for the page of the first viewer.
    func listen() async throws -> RawConnection {
        let key = try #require(await server.firstKey)
        let connection = try RawConnection(port: server.port)
        connection.write("GET /whep/sessions/\(key)/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        return connection
    }

    /// An offer as a player makes it.
    func offer(videos: Int = 1, sounds: Int = 1) async throws -> String {
        let session = try await AttendeeSession.receiving(
            as: AttendeeID("viewer"), pictures: videos, sounds: sounds, configuration: Self.connection)
        let offer = try await session.connection.makeOffer().description
        await session.leave()
        return offer
    }

    /// Requests to view.
    func post(
        _ offer: String, path: String = "/whep", _ headers: [(String, String)] = [], token: AccessToken? = nil
    ) async throws -> HTTPClient.Response {
        try await ask(
            "POST", path, [("Content-Type", "application/sdp")] + headers, body: offer, token: token ?? self.token)
    }
}

extension ViewerServer {
    fileprivate var firstKey: String? { sessions.keys.first }

    /// Returns whether a viewer that has not answered for this time is removed for a new one.
    func makesRoom(after time: Duration) -> Bool {
        guard let away = sessions.values.compactMap(\.holder.awaySince).min() else { return false }
        let places = ViewerPlaces(limit: sessions.count)
        let now = away.advanced(by: time)
        return (try? places.check(for: nil, among: sessions.mapValues(\.holder), now: now)) != nil
    }

    var pageCount: Int { sessions.values.reduce(0) { $0 + $1.pages.count } }

    func stopHeartbeat() { heartbeat?.cancel() }

    /// Makes the viewer one that has not answered for this time.
    func setAway(for time: Duration) {
        for session in sessions.values {
            session.attendeeSession.change(to: .connected)
            session.attendeeSession.change(to: .disconnected, at: MonotonicClock.now.advanced(by: .zero - time))
        }
    }
}

/// Counts the frames of a session's tiles.
final class PictureCounter: VideoTileObserver, VideoSink {
    private struct Counts {
        var pictures = 0
        var tiles: [String] = []
    }

    private let counts = Locked(Counts())
    private let controller: VideoTileController

    init(_ session: AttendeeSession) {
        controller = session.tiles
        session.tiles.add(observer: self)
    }

    var pictures: Int { counts.withLock { $0.pictures } }
    var tiles: [String] { counts.withLock { $0.tiles } }

    func videoTileDidAdd(_ tile: VideoTileState) {
        counts.withLock { $0.tiles.append(tile.attendeeID.rawValue) }
        try? controller.bind(self, toTile: tile.tileID)
    }

    func receive(_ frame: VideoFrame) { counts.withLock { $0.pictures += 1 } }

    /// Waits for this number of further frames.
    func wait(for count: Int = 3) async {
        let goal = pictures + count
        await waitUntil { pictures >= goal }
    }
}

/// A connection whose bytes a test writes itself.
final class RawConnection {
    private let descriptor: Int32

    init(port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(result == 0)
    }

    deinit { close(descriptor) }

    /// False once the server has closed the connection.
    @discardableResult
    func write(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    /// Writes, and ends the stream in the same packet.
    func writeLast(_ text: String) {
        let bytes = Array(text.utf8)
        send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL | MSG_MORE))
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Reads until the server closes the connection or has sent `end`, off the cooperative threads.
    func read(until end: String? = nil) async -> String {
        let descriptor = descriptor
        return await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                var text: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 4096)
                while end.map({ !String(decoding: text, as: UTF8.self).contains($0) }) ?? true {
                    let count = recv(descriptor, &buffer, buffer.count, 0)
                    guard count > 0 else { break }
                    text += buffer[..<count]
                }
                continuation.resume(returning: String(decoding: text, as: UTF8.self))
            }
        }
    }
}

/// A UDP port that receives datagrams and never answers.
final class SilentPort {
    private let descriptor: Int32
    let port: UInt16

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 ? getsockname(descriptor, $0, &size) : -1
            }
        }
        try #require(result == 0)
        port = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(descriptor) }

    /// Whether something came.
    var hasDatagram: Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, 0) >= 0
    }
}
