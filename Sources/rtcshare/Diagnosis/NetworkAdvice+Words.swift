internal import RTCShareTransport

extension NetworkAdvice.Setting {
    /// The setting as an option, or as a command.
    var words: String {
        switch self {
        case .iceServer(let url): Self.option(url)
        case .iceServers: "--ice-server"
        case .address: "--bind ADDRESS"
        case .port: "--port"
        case .credentials:
            "put them into a file of mode 0600 for --ice-credentials, or into RTCSHARE_ICE_USERNAME and "
                + "RTCSHARE_ICE_PASSWORD, or put the server's secret into a file for --ice-secret-file"
        case .acceptsTCP: "--ice-tcp"
        case .resolvesHostNames: "--resolve-host-names"
        case .examination(let urls): (["rtcshare doctor"] + urls.map(Self.option)).joined(separator: " ")
        }
    }

    /// Returns the option with quotes around a question mark, which is a pattern in a shell.
    private static func option(_ url: String) -> String {
        url.contains("?") ? "--ice-server '\(url)'" : "--ice-server \(url)"
    }
}
