internal import FoundationEssentials
internal import Glibc

/// The proxies of requests, in addition to libcurl's own use of the environment.
enum Proxies {
    /// Returns the proxy of a request: an empty text for none, nil for libcurl's choice.
    ///
    /// Requests to this machine's own servers must not use a proxy, which would connect to its own machine: browsers
    /// exclude them, but libcurl does not. And libcurl accepts `HTTP_PROXY` only in lower case, because a web server's
    /// program may have a client's text in it; this program never does.
    static func proxy(
        for url: WebAddress, environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> String? {
        if url.isLoopback { return "" }
        guard !url.isSecure, environment["http_proxy"] == nil, environment["REQUEST_METHOD"] == nil else { return nil }
        return environment["HTTP_PROXY"]
    }
}
