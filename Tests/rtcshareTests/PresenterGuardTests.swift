import Glibc
import NIOHTTP1
import RTCShareWireFormat
import Testing

@testable import RTCShareSignaling
@testable import rtcshare

/// The rules for the connections and the requests to the presenter's page.
@Suite("The guard of the presenter's page")
struct PresenterGuardTests {
    /// A TCP connection over loopback to a server that has not accepted it.
    private final class LoopbackConnection {
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let client: Int32
        let serverAddress: TransportAddress
        let clientAddress: TransportAddress

        /// - Parameter family: The family of the client, `AF_INET` or `AF_INET6`.
        init(_ family: Int32) throws {
            client = socket(family, Int32(SOCK_STREAM.rawValue), 0)
            var name = sockaddr_in()
            name.sin_family = sa_family_t(AF_INET)
            name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            try #require(Self.call(bind, server, &name) == 0 && listen(server, 8) == 0)
            serverAddress = try Self.name(of: server)
            name.sin_port = serverAddress.port.bigEndian
            if family == AF_INET {
                try #require(Self.call(connect, client, &name) == 0)
            } else {
                var mapped = sockaddr_in6()
                mapped.sin6_family = sa_family_t(AF_INET6)
                mapped.sin6_port = name.sin_port
                try #require(inet_pton(AF_INET6, "::ffff:127.0.0.1", &mapped.sin6_addr) == 1)
                try #require(Self.call(connect, client, &mapped) == 0)
            }
            clientAddress = try Self.name(of: client)
        }

        deinit { for descriptor in [server, client] { close(descriptor) } }

        private static func call<Name>(
            _ function: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32, _ descriptor: Int32, _ name: inout Name
        ) -> Int32 {
            withUnsafeBytes(of: &name) { bytes in
                bytes.withMemoryRebound(to: sockaddr.self) { name in
                    name.baseAddress.map { function(descriptor, $0, socklen_t(bytes.count)) } ?? -1
                }
            }
        }

        /// Returns the socket's address, whose port is at the same place in both families.
        private static func name(of descriptor: Int32) throws -> TransportAddress {
            var name = sockaddr_in6()
            var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
            let result = withUnsafeMutableBytes(of: &name) { bytes in
                bytes.withMemoryRebound(to: sockaddr.self) { getsockname(descriptor, $0.baseAddress, &length) }
            }
            try #require(result == 0)
            return TransportAddress(ip: .v4(0x7F00_0001), port: UInt16(bigEndian: name.sin6_port))
        }
    }

    @Test("A connection is the user's own while a program of the user has it open", arguments: [AF_INET, AF_INET6])
    func sockets(family: Int32) throws {
        let connection = try LoopbackConnection(family)
        let (client, server) = (connection.clientAddress, connection.serverAddress)
        let socket = try KernelSocket(at: client, to: server)
        #expect(socket.isConnection(of: geteuid()))
        #expect(!socket.isConnection(of: geteuid() + 1))
        // Nobody has accepted the server's end yet, and a program that listens is not connected.
        #expect(try !KernelSocket(at: server, to: client).isConnection(of: geteuid()))
        let nothing = TransportAddress(ip: .v4(0), port: 0)
        #expect(try !KernelSocket(at: server, to: nothing).isConnection(of: geteuid()))
        #expect(throws: CommandFailure.self) { try KernelSocket(at: client, to: client) }
        shutdown(connection.client, Int32(SHUT_RDWR))
        // The kernel may have forgotten it.
        #expect((try? KernelSocket(at: client, to: server))?.isConnection(of: geteuid()) != true)
    }

    @Test(
        "A user without a number in its namespace can't be told from other users",
        arguments: [
            (1000, "0 0 4294967295", false), (1000, "1000 1000 1", false), (0, "0 1000 1", false),
            (65_534, "         0          0 4294967295\n", false), (65_534, "", true), (65_534, "0 1000 1", true),
        ])
    func namespaces(user: UInt32, map: String, isAmbiguous: Bool) {
        #expect(KernelSocket.isAmbiguous(user, overflow: 65_534, map: map) == isAmbiguous)
    }

    @Test(
        "A connection is kept for the page only if its request has passed the check",
        arguments: [
            ([:], .ok, true), (["Host": "evil.example"], .misdirectedRequest, false),
            (["Sec-Fetch-Site": "cross-site"], .forbidden, false), (["Authorization": "x"], .unauthorized, false),
        ] as [([String: String], HTTPResponseStatus, Bool)])
    func invited(changes: [String: String], status: HTTPResponseStatus, isInvited: Bool) async throws {
        let responder = ControlResponder { _ in .done(notice: nil) }
        let headers = Self.right.compactMapValues(\.first).merging(changes) { $1 }
        let request = HTTPRequest(
            method: .GET, target: try #require(HTTPTarget("/v1/share")), headers: HTTPHeaders(Array(headers)), body: [],
            peer: nil, isSecure: false)
        let entrance = PresenterGuard(port: 8080, secret: try AccessToken(Self.secret))
        let response = await PresenterServer.response(to: request, entrance, responder)
        #expect(response.status == status && response.isForInvited == isInvited)
    }

    private static let secret = "0123456789abcdefghij"
    private static let right = ["Host": ["127.0.0.1:8080"], "Authorization": ["Bearer \(secret)"]]

    /// Returns the status of the refusal; nil for a request that is accepted.
    private static func refusal(
        _ method: HTTPMethod, isControl: Bool = true, _ changes: [String: [String]]
    ) throws -> HTTPResponseStatus? {
        let headers = right.merging(changes) { $1 }
        let entrance = PresenterGuard(port: 8080, secret: try AccessToken(secret))
        do throws(ProblemDetails) {
            try entrance.check(method, isControl: isControl) { headers[$0] ?? [] }
            return nil
        } catch {
            return error.response.status
        }
    }

    @Test(
        "Requests need the name of the page",
        arguments: [
            (["127.0.0.1:8080"], true), (["localhost:8080"], true), (["evil.example:8080"], false),
            (["evil.example"], false), (["127.0.0.1"], false), (["127.0.0.1:8081"], false), (["[::1]:8080"], false),
            (["localhost.:8080"], false), (["127.0.0.1:8080", "127.0.0.1:8080"], false), ([], false),
            (["127.1:8080"], false), (["127.0.0.1:8080@evil.example"], false),
        ])
    func hosts(hosts: [String], isAccepted: Bool) throws {
        #expect(try Self.refusal(.GET, ["Host": hosts]) == (isAccepted ? nil : .misdirectedRequest))
        #expect(try Self.refusal(.GET, isControl: false, ["Host": hosts]) == (isAccepted ? nil : .misdirectedRequest))
    }

    @Test(
        "Requests of pages with another origin are refused, also for files",
        arguments: [
            (.GET, [:], true), (.GET, ["Sec-Fetch-Site": ["same-origin"]], true),
            (.GET, ["Sec-Fetch-Site": ["none"]], true), (.GET, ["Sec-Fetch-Site": ["same-site"]], false),
            (.GET, ["Sec-Fetch-Site": ["cross-site"]], false),
            (.GET, ["Sec-Fetch-Site": ["same-origin", "cross-site"]], false),
            (.GET, ["Origin": ["http://127.0.0.1:8080"]], true), (.GET, ["Origin": ["http://localhost:8080"]], false),
            (.GET, ["Origin": ["null"]], false), (.GET, ["Origin": ["https://127.0.0.1:8080"]], false),
            (.HEAD, [:], true), (.POST, [:], false), (.POST, ["Origin": ["http://127.0.0.1:8080"]], true),
            (.POST, ["Origin": ["http://127.0.0.1:8081"]], false), (.PATCH, [:], false), (.DELETE, [:], false),
            (.OPTIONS, ["Origin": ["http://evil.example"]], false),
        ] as [(HTTPMethod, [String: [String]], Bool)])
    func origins(method: HTTPMethod, headers: [String: [String]], isAccepted: Bool) throws {
        #expect(try Self.refusal(method, headers) == (isAccepted ? nil : .forbidden))
        #expect(try Self.refusal(method, isControl: false, headers) == (isAccepted ? nil : .forbidden))
    }

    @Test(
        "The control interface needs the secret, once and as a bearer token",
        arguments: [
            (["Bearer \(secret)"], true), (["bearer \(secret)"], true), ([], false), ([secret], false),
            (["Bearer"], false), (["Bearer "], false), (["Basic \(secret)"], false), (["Bearer \(secret)x"], false),
            (["Bearer \(secret.dropLast())"], false), (["Bearer \(secret)", "Bearer \(secret)"], false),
        ])
    func secrets(values: [String], isAccepted: Bool) throws {
        #expect(try Self.refusal(.GET, ["Authorization": values]) == (isAccepted ? nil : .unauthorized))
        #expect(try Self.refusal(.GET, isControl: false, ["Authorization": values]) == nil)
    }

    @Test("The files of the page are those of both pages that it names")
    func files() throws {
        #expect(PresenterFiles.file("")?.type == "text/html; charset=utf-8")
        let page = String(decoding: try #require(PresenterFiles.file("")).bytes, as: UTF8.self)
        for match in page.matches(of: /(?:src|href)="([^"#]+)"/) {
            #expect(PresenterFiles.file(String(match.1)) != nil, "\(match.1)")
        }
        for name in ["viewer.css", "whep.js", "main.js", "sdp.js", "../base.css", "texts", "texts/xx.js"] {
            #expect(PresenterFiles.file(name) == nil)
        }
    }
}
