/// What one run of `rtcbench viewer` is of.
struct ViewerCase: Codable, Hashable, Sendable {
    /// Who sends the screen.
    enum Sender: String, CaseIterable, Codable {
        case ours
        /// Chromium's getDisplayMedia, on the same X server.
        case chromium

        var name: String { self == .ours ? "rtcshare" : "Chromium" }
        var colour: String { self == .ours ? "#0057b8" : "#d1410c" }
    }

    /// Who receives it, alike whoever sends.
    enum Receiver: String, CaseIterable, Codable {
        case chromium, aiortc
    }

    var content: SharedContent
    var sender: Sender
    var receiver: Receiver
    var path: ViewerPath
    /// The most that the sender's pictures may take, in kbit/s.
    var bitrate: Int
    var size: String
    var seconds: Int
    /// Pictures of the receiver's screen that are judged, a second.
    var samples: Int
    /// The track's content hint.
    var hint: String
    var seed: UInt64
    /// Further options of `rtcshare send`.
    var oursWith: String
    var round: Int

    /// The same of any sender: what runs are compared within.
    var pair: ViewerCase {
        var pair = self
        (pair.sender, pair.oursWith, pair.round) = (.ours, "", 0)
        return pair
    }

    /// What people call it.
    var title: String {
        "\(content.rawValue), \(path.name), \(bitrate) kbit/s, \(size)" + (receiver == .aiortc ? ", to aiortc" : "")
    }

    /// For files' names.
    var fileName: String {
        [content.rawValue, path.name, "\(bitrate)", size, receiver.rawValue, sender.rawValue, "\(round)"]
            .joined(separator: "-").replacing("%", with: "pct")
    }
}

/// A path between sender and receiver, by a name that says it: `40ms-2%-bursts`.
struct ViewerPath: Codable, Hashable, Sendable {
    let name: String
    /// Options of the relay.
    let options: [String]

    /// `clean`, or parts with hyphens between: `40ms` each way, `j5` for jitter of 5 ms, `2%` of loss each way, `bursts`
    /// or `bursts8` for losses that come four or eight in a row, `2000kbps` for what passes, `q200` for a queue of 200 ms.
    init?(name: String) {
        self.name = name
        var options: [String] = []
        for part in name.split(separator: "-") where part != "clean" {
            func number(after prefix: String = "", before suffix: String = "") -> Double? {
                guard part.hasPrefix(prefix), part.hasSuffix(suffix) else { return nil }
                return Double(part.dropFirst(prefix.count).dropLast(suffix.count)).flatMap { $0 >= 0 ? $0 : nil }
            }
            if let delay = number(before: "ms") {
                options += ["--delay", "\(Int(delay))"]
            } else if let rate = number(before: "kbps"), rate > 0 {
                options += ["--rate", "\(Int(rate))"]
            } else if let loss = number(before: "%"), loss <= 100 {
                options += ["--loss", "\(loss / 100)"]
            } else if let jitter = number(after: "j") {
                options += ["--jitter", "\(Int(jitter))"]
            } else if let queue = number(after: "q") {
                options += ["--queue", "\(Int(queue))"]
            } else if part == "bursts" {
                options += ["--burst", "4"]
            } else if let burst = number(after: "bursts"), burst >= 1 {
                options += ["--burst", "\(burst)"]
            } else {
                return nil
            }
        }
        guard !name.isEmpty else { return nil }
        self.options = options
    }
}
