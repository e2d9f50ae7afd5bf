internal import FoundationEssentials
internal import Glibc
internal import RTCShareCCURL
internal import RTCShareLocks
internal import RTCShareSecureTransport
internal import RTCShareTransport
internal import RTCShareWireFormat
internal import Synchronization

/// An HTTP client, by libcurl: TLS is verified, proxies are those of the environment (`https_proxy`, `no_proxy` and
/// similar) except for this machine's own servers, and `SSL_CERT_FILE` names other roots.
struct HTTPClient: Sendable {
    struct Request: Sendable {
        var method: String
        var url: WebAddress
        var headers: [(name: String, value: String)] = []
        var body: [UInt8]?
        /// The token, sent only to the URL's own origin, wherever a server redirects to.
        var token: AccessToken?
        /// Whether a server may redirect to other origins: not if the body or the URL contains secrets.
        var leavesOrigin = true
        /// The server that named this URL, with its scope; nil if a person named it.
        var guide: Guide?

        /// Returns the same request for the URL to which a server redirects.
        func redirected(to location: String?) throws(HTTPClientError) -> Request {
            let origin = url.origin
            guard let location, let next = url.resolving(location) else { throw .redirection(origin) }
            if url.isSecure, !next.isSecure {
                throw .redirectionRefused(origin, to: next.origin, "what goes there is not encrypted")
            }
            var request = self
            request.url = next
            guard next.origin != origin else { return request }
            guard leavesOrigin else {
                throw .redirectionRefused(origin, to: next.origin, "the secrets that are sent are not for others")
            }
            request.token = nil
            return request
        }
    }

    /// A server that names other URLs, which must not be nearer to this machine than the server itself.
    struct Guide: Sendable {
        let origin: String
        let reach: AddressReach
    }

    /// The timeout of a request.
    var timeout = Duration.seconds(15)
    /// Whether the request is repeated until it succeeds, so that a server that does not accept connections is given up
    /// after three seconds. The kernel asks such a server at growing intervals, and would not notice that it is back.
    var isRepeated = false
    /// The program's name for servers.
    var userAgent = "rtcshare"
    /// Returns the scope of an address.
    var reach: @Sendable (IPAddress) -> AddressReach = { AddressReach($0) }
    /// A Unix domain socket for the connection, instead of the hosts of URLs.
    var unixSocket: UnixSocket?
    /// Receives the body of a successful response as it arrives, and returns whether it accepts more. ``timeout`` is
    /// then the maximum time without data.
    var receive: (@Sendable ([UInt8]) -> Bool)?

    struct UnixSocket: Sendable {
        let path: String
        /// Returns whether a connection leads to the intended server. Nothing is sent to another.
        let isTrusted: @Sendable (_ descriptor: CInt) -> Bool
    }

    /// `TCP_SYNCNT` of netinet/tcp.h.
    private static let connectionRetransmissions: Int32 = 7
    private static let maximumRedirections = 5
    private static let maximumBodyBytes = 1 << 20
    private static let maximumHeaders = 200

    /// Sends a request, and follows redirections that keep the method (RFC 9110 §15.4.8, §15.4.9), except for forbidden
    /// ones: from `https` to `http`, and nearer to this machine than the server itself.
    func perform(_ asked: Request) async throws(HTTPClientError) -> Response {
        var request = asked
        for _ in 0...Self.maximumRedirections {
            var response = try await send(request)
            // That of the first server, whichever redirects.
            request.guide = request.guide ?? response.guide
            response.guide = request.guide
            guard response.status == 307 || response.status == 308 else { return response }
            request = try request.redirected(to: response["Location"])
        }
        throw .redirection(asked.url.origin)
    }

    func send(_ request: Request) async throws(HTTPClientError) -> Response {
        let translation = await ServerNames.translation(ofHost: request.url.hostName)
        let transfer = Transfer(request, self, to: translation)
        // libcurl blocks its thread. It has one of its own, because the threads for tasks and SwiftNIO's files are few,
        // and a server that does not answer must not delay others.
        let result = await withTaskCancellationHandler {
            await WorkerThread.run(named: "HTTP request") { transfer.run() }
        } onCancel: {
            transfer.cancel()
        }
        return try result.get()
    }

    /// The reason for a server that accepts a connection but does not answer.
    static let silence = "it does not answer"
    /// The reasons for a missing TCP connection.
    static let refusal = "nothing listens there: the connection was refused"
    static let noRoute = "this machine has no route to it"
    static let lostPackets = "nothing answers there: a firewall may drop the packets, or the machine is off"

    /// The beginning of the reasons for a missing address.
    static let noName = "its name "

    /// Returns the reason for a missing address: a name server reports that at once, and the resolver times out after
    /// some seconds if there is no answer.
    static func reason(withoutAddressAfter lookUp: Duration?) -> String {
        let seconds = Int(((lookUp ?? .zero) / .seconds(1)).rounded())
        return seconds < 4
            ? noName + "has no address" : noName + "was not found: DNS did not answer within \(seconds) s"
    }

    /// One request in progress, used by one thread except for its end.
    private final class Transfer: Sendable {
        private let request: Request
        private let client: HTTPClient
        /// The address to connect to instead of that in the URL.
        private let translation: IPAddress?
        private let isCancelled = Atomic(false)

        init(_ request: Request, _ client: HTTPClient, to translation: IPAddress?) {
            self.request = request
            self.client = client
            self.translation = translation
        }

        func cancel() { isCancelled.store(true, ordering: .relaxed) }

        /// The received data; libcurl's callbacks have its address during the request, on this thread.
        private final class Received {
            var lines: [String] = []
            var body: [UInt8] = []
            /// Whether an address was rejected that is nearer than the redirecting server.
            var isTooNear = false
            /// The last socket that was created.
            var socket = CURL_SOCKET_BAD
            let client: HTTPClient
            let isCancelled: () -> Bool
            let mayReach: (IPAddress) -> Bool

            init(_ client: HTTPClient, isCancelled: @escaping () -> Bool, mayReach: @escaping (IPAddress) -> Bool) {
                self.client = client
                self.isCancelled = isCancelled
                self.mayReach = mayReach
            }

            var isSuccess: Bool { lines.first?.split(separator: " ").dropFirst().first?.first == "2" }
        }

        func run() -> Result<Response, HTTPClientError> {
            guard Self.isReady, let handle = curl_easy_init() else { return .failure(.unavailable) }
            defer { curl_easy_cleanup(handle) }
            var list: UnsafeMutablePointer<curl_slist>?
            let places = translation.flatMap { curl_slist_append(nil, "::[\($0)]:") }
            defer {
                curl_slist_free_all(list)
                curl_slist_free_all(places)
            }
            if let places { ccurl_set_pointer(handle, CURLOPT_CONNECT_TO, places) }
            var headers = request.headers
            if let token = request.token { headers.append(("Authorization", "Bearer \(token.secretText)")) }
            // Without an `Expect` header, and without a type that libcurl would add.
            for line in headers.map({ "\($0.name): \($0.value)" }) + ["Expect:"] {
                list = curl_slist_append(list, line)
            }
            let received = Received(client) { [self] in
                isCancelled.load(ordering: .relaxed)
            } mayReach: { [self] address in
                request.guide.map { client.reach(address) <= $0.reach } ?? true
            }
            return withExtendedLifetime(received) {
                let context = Unmanaged.passUnretained(received).toOpaque()
                set(handle, list, context)
                let start = ContinuousClock.now
                let code = curl_easy_perform(handle)
                guard code == CURLE_OK else {
                    let lookUp = ccurl_look_up_seconds(handle) > 0 ? nil : ContinuousClock.now - start
                    let reason = noConnection(code, handle)
                    return .failure(
                        failure(code, isTooNear: received.isTooNear, lookUp: lookUp, noConnection: reason))
                }
                let address = String(cString: ccurl_address(handle))
                let reach = IPAddress(address).map(client.reach) ?? .internet
                return .success(
                    Response(
                        status: ccurl_status(handle), headers: Response.headers(in: received.lines),
                        body: received.body, url: request.url, address: address,
                        guide: Guide(origin: request.url.origin, reach: reach)))
            }
        }

        private func set(
            _ handle: UnsafeMutableRawPointer, _ list: UnsafeMutablePointer<curl_slist>?,
            _ context: UnsafeMutableRawPointer
        ) {
            ccurl_set_string(handle, CURLOPT_URL, request.url.description)
            ccurl_set_string(handle, CURLOPT_PROTOCOLS_STR, "http,https")
            ccurl_set_string(handle, CURLOPT_USERAGENT, client.userAgent)
            // Some methods have no response body.
            if request.method == "HEAD" { ccurl_set_long(handle, CURLOPT_NOBODY, 1) }
            ccurl_set_string(handle, CURLOPT_CUSTOMREQUEST, request.method)
            ccurl_set_pointer(handle, CURLOPT_HTTPHEADER, list)
            if client.receive == nil {
                ccurl_set_long(handle, CURLOPT_TIMEOUT_MS, Int(client.timeout / .milliseconds(1)))
            } else {
                ccurl_set_long(handle, CURLOPT_LOW_SPEED_LIMIT, 1)
                ccurl_set_long(handle, CURLOPT_LOW_SPEED_TIME, Int(client.timeout / .seconds(1)))
            }
            ccurl_set_long(handle, CURLOPT_NOSIGNAL, 1)
            if let proxy = Proxies.proxy(for: request.url) { ccurl_set_string(handle, CURLOPT_PROXY, proxy) }
            if let roots = ProcessInfo.processInfo.environment["SSL_CERT_FILE"], !roots.isEmpty {
                ccurl_set_string(handle, CURLOPT_CAINFO, roots)
            }
            if let body = request.body {
                body.withUnsafeBytes {
                    _ = ccurl_set_body(handle, $0.baseAddress ?? UnsafeRawPointer(context), $0.count)
                }
            }
            ccurl_set_write(handle, takeBody, takeHeader, context)
            ccurl_set_progress(handle, mayGoOn, context)
            ccurl_set_open_socket(handle, openSocket, context)
            guard let unixSocket = client.unixSocket else { return }
            ccurl_set_string(handle, CURLOPT_UNIX_SOCKET_PATH, unixSocket.path)
            ccurl_set_connected(handle, mayAsk, context)
        }

        /// Rejects an address that is not allowed: libcurl tries the next one of the name.
        private let openSocket: ccurl_open_socket = { context, _, address in
            guard let context, let address else { return CURL_SOCKET_BAD }
            let received = Unmanaged<Received>.fromOpaque(context).takeUnretainedValue()
            if address.pointee.family != AF_UNIX {
                guard let ip = IPAddress(address), received.mayReach(ip) else {
                    received.isTooNear = true
                    return CURL_SOCKET_BAD
                }
            }
            let kind = address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
            received.socket = socket(address.pointee.family, kind, address.pointee.protocol)
            if received.client.isRepeated {
                var retransmissions: Int32 = 1
                setsockopt(
                    received.socket, Int32(IPPROTO_TCP), HTTPClient.connectionRetransmissions, &retransmissions,
                    socklen_t(MemoryLayout<Int32>.size))
            }
            return received.socket
        }

        private let mayAsk: ccurl_connected = { context, _, _, _, _ in
            guard let context else { return CURL_PREREQFUNC_ABORT }
            let received = Unmanaged<Received>.fromOpaque(context).takeUnretainedValue()
            let isTrusted = received.client.unixSocket?.isTrusted(received.socket) ?? true
            return isTrusted ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
        }

        private let takeBody: ccurl_write = { bytes, size, count, context in
            guard let bytes, let context else { return 0 }
            let received = Unmanaged<Received>.fromOpaque(context).takeUnretainedValue()
            let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
            if let receive = received.client.receive, received.isSuccess {
                return receive(Array(piece)) ? piece.count : 0
            }
            guard received.body.count + piece.count <= HTTPClient.maximumBodyBytes else { return 0 }
            received.body.append(contentsOf: piece)
            return size * count
        }

        private let takeHeader: ccurl_write = { bytes, size, count, context in
            guard let bytes, let context else { return 0 }
            let received = Unmanaged<Received>.fromOpaque(context).takeUnretainedValue()
            let line = String(decoding: UnsafeRawBufferPointer(start: bytes, count: size * count), as: UTF8.self)
            // Of several heads, as with an interim response or a proxy, the last counts.
            if line.hasPrefix("HTTP/") { received.lines = [] }
            guard received.lines.count < HTTPClient.maximumHeaders else { return 0 }
            received.lines.append(line)
            return size * count
        }

        private let mayGoOn: ccurl_progress = { context, _, _, _, _ in
            guard let context else { return 1 }
            return Unmanaged<Received>.fromOpaque(context).takeUnretainedValue().isCancelled() ? 1 : 0
        }

        /// Returns the reason why there is no TCP connection; nil if there was one, or the reason is unknown.
        private func noConnection(_ code: CURLcode, _ handle: UnsafeMutableRawPointer) -> String? {
            guard client.unixSocket == nil else { return nil }
            if code == CURLE_OPERATION_TIMEDOUT {
                return ccurl_connect_seconds(handle) == 0 ? HTTPClient.lostPackets : nil
            }
            return switch Int32(truncatingIfNeeded: ccurl_errno(handle)) {
            case ECONNREFUSED: HTTPClient.refusal
            case ENETUNREACH, EHOSTUNREACH: HTTPClient.noRoute
            case ETIMEDOUT: HTTPClient.lostPackets
            default: nil
            }
        }

        /// Returns the error for a libcurl code. `lookUp` is the duration of the name's lookup without an answer; nil
        /// for a name that was resolved.
        private func failure(
            _ code: CURLcode, isTooNear: Bool, lookUp: Duration?, noConnection: String?
        ) -> HTTPClientError {
            let host = request.url.origin
            switch code {
            case CURLE_COULDNT_CONNECT where isTooNear:
                return .redirectionRefused(
                    request.guide?.origin ?? host, to: host, "that is this machine, or its own network")
            case CURLE_ABORTED_BY_CALLBACK: return .cancelled
            case CURLE_COULDNT_RESOLVE_HOST: return .unreachable(host, HTTPClient.reason(withoutAddressAfter: lookUp))
            case CURLE_COULDNT_CONNECT:
                return .unreachable(host, noConnection ?? "nothing listens there, or there is no route to it")
            case CURLE_OPERATION_TIMEDOUT:
                let lookUp = client.unixSocket == nil ? lookUp : nil
                let reason = lookUp.map(HTTPClient.reason(withoutAddressAfter:)) ?? noConnection
                return .unreachable(host, reason ?? HTTPClient.silence)
            case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR:
                return .certificate(host)
            case CURLE_SSL_CONNECT_ERROR: return .noTLS(host)
            case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY:
                return .unreachable(host, "the server there does not speak HTTP")
            case CURLE_WRITE_ERROR: return .unreachable(host, "the server's answer is too long")
            case CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE:
                return .unreachable(host, "the server closed the connection before its answer was complete")
            default: return .unreachable(host, String(cString: curl_easy_strerror(code)))
            }
        }

        /// Whether libcurl is initialized for the whole process, once.
        private static let isReady: Bool = {
            SecurityLibraries.skipCleanupAtExit()
            return curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK
        }()
    }
}
