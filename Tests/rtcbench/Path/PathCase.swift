/// A network route to a browser, and the share on it.
struct PathCase {
    let name: String
    let title: String
    /// The time for which its viewer watches, in seconds.
    let seconds: Int
    /// The options of the relay.
    let relay: [String]
    /// The source and, below, options of `rtcshare send`.
    let source: Source
    let options: [String]

    enum Source {
        /// Motion everywhere, at 30 frames per second.
        case pattern
        /// Another page of text every two seconds.
        case pages
    }

    private static let film = ["--hint", "motion", "--max-bitrate", "6000"]

    static let all: [PathCase] = [
        PathCase(
            name: "profile", title: "RFC 8867 5.1: 1000, 2500, 600, 1000 kbit/s", seconds: 100,
            relay: ["--rate", "1000,40:2500,60:600,80:1000", "--delay", "50"], source: .pattern,
            options: ["--hint", "motion", "--max-bitrate", "1500"]),
        PathCase(
            name: "steady", title: "3 Mbit/s", seconds: 40, relay: ["--rate", "3000", "--delay", "50"],
            source: .pattern, options: film),
        PathCase(
            name: "quarter", title: "3 Mbit/s that fall to 750 kbit/s", seconds: 50,
            relay: ["--rate", "3000,25:750", "--queue", "1000", "--delay", "50"], source: .pattern, options: film),
        PathCase(
            name: "loss-5", title: "3 Mbit/s with 5 % random loss", seconds: 40,
            relay: ["--rate", "3000", "--delay", "50", "--loss", "0.05"], source: .pattern, options: film),
        PathCase(
            name: "loss-20", title: "3 Mbit/s with 20 % random loss", seconds: 40,
            relay: ["--rate", "3000", "--delay", "50", "--loss", "0.2"], source: .pattern, options: film),
        PathCase(
            name: "tcp", title: "3 Mbit/s beside a long TCP flow", seconds: 60,
            relay: ["--rate", "3000", "--delay", "50", "--tcp"], source: .pattern, options: film),
        PathCase(
            name: "pages", title: "20 Mbit/s, 10 ms: another page each 2 s", seconds: 40,
            relay: ["--rate", "20000", "--delay", "10"], source: .pages,
            options: ["--hint", "detail", "--max-bitrate", "2500"]),
    ]
}
