internal import FoundationEssentials
internal import Glibc

/// Through which proxies requests go, beside what libcurl makes of the environment itself.
enum Proxies {
    /// The proxy of a request: an empty text for none, nil for what libcurl finds.
    ///
    /// Nobody means this machine's own servers to be asked through a proxy, which would look for them on its own machine:
    /// browsers and others leave them out, libcurl does not. And it takes `HTTP_PROXY` in small letters alone, for a web
    /// server's program may have a client's words there, as this one never does.
    static func proxy(
        for url: WebAddress, environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> String? {
        if url.isLoopback { return "" }
        guard !url.isSecure, environment["http_proxy"] == nil, environment["REQUEST_METHOD"] == nil else { return nil }
        return environment["HTTP_PROXY"]
    }
}
