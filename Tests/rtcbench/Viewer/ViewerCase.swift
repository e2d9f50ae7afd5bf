/// The parameters of one run of `rtcbench viewer`.
struct ViewerCase: Codable, Hashable, Sendable {
    /// The sender of the screen.
    enum Sender: String, CaseIterable, Codable {
        case ours
        /// `rtcshare serve`, whose page the receiver opens.
        case served
        /// Chromium's getDisplayMedia, on the same X server, with VP8 or another codec.
        case chromium
        case chromiumVP9 = "chromium-vp9"
        case chromiumH264 = "chromium-h264"
        case chromiumAV1 = "chromium-av1"
        case gstreamer
        /// x11vnc, behind websockify, with noVNC's page.
        case x11vnc
        /// Selkies, with its own page.
        case selkies

        /// The name of Chromium's codec in descriptions; nil for other senders.
        var chromiumCodec: String? {
            switch self {
            case .chromium: "VP8"
            case .chromiumVP9: "VP9"
            case .chromiumH264: "H264"
            case .chromiumAV1: "AV1"
            case .ours, .served, .gstreamer, .x11vnc, .selkies: nil
            }
        }

        var isOurs: Bool { self == .ours || self == .served }

        /// Whether a script starts the sender, and only waits then.
        var isStarted: Bool { !isOurs && self != .gstreamer }

        /// Whether the receiver opens the sender's own page. Such a sender has any number of viewers; the others have one
        /// connection, which an offer begins.
        var hasPage: Bool { self == .served || self == .x11vnc || self == .selkies }

        var name: String {
            switch self {
            case .ours: "rtcshare"
            case .served: "rtcshare serve"
            case .gstreamer: "GStreamer"
            case .x11vnc: "x11vnc with noVNC"
            case .selkies: "Selkies"
            case .chromium, .chromiumVP9, .chromiumH264, .chromiumAV1:
                chromiumCodec.map { $0 == "VP8" ? "Chromium" : "Chromium \($0)" } ?? ""
            }
        }

        var colour: String {
            switch self {
            case .ours: "#0057b8"
            case .served: "#0090c8"
            case .gstreamer: "#444444"
            case .x11vnc: "#a0522d"
            case .selkies: "#c71585"
            case .chromium: "#d1410c"
            case .chromiumVP9: "#b58900"
            case .chromiumH264: "#8a2fb5"
            case .chromiumAV1: "#2a8a3a"
            }
        }
    }

    /// The receiver, the same for each sender.
    enum Receiver: String, CaseIterable, Codable {
        case chromium, aiortc
    }

    var content: SharedContent
    var sender: Sender
    var receiver: Receiver
    var path: ViewerPath
    /// The maximum bitrate of the sender's video, in kbit/s.
    var bitrate: Int
    var size: String
    var seconds: Int
    /// The number of evaluated frames of the receiver's screen per second.
    var samples: Int
    /// The track's content hint.
    var hint: String
    var seed: UInt64
    /// Further options of `rtcshare send`.
    var oursWith: String
    var round: Int
    /// The maximum frame rate of the sender's video; nil for 30.
    var framerate: Int?
    /// The number of viewers, of which the receiver is one; nil for 1.
    var viewers: Int?

    /// The same for any sender: the group within which runs are compared.
    var pair: ViewerCase {
        var pair = self
        (pair.sender, pair.oursWith, pair.round) = (.ours, "", 0)
        return pair
    }

    /// The title for people.
    var title: String {
        "\(content.rawValue), \(path.name), \(bitrate) kbit/s, \(size)" + (receiver == .aiortc ? ", to aiortc" : "")
            + (framerate.map { ", \($0) frames/s" } ?? "") + (viewers.map { ", \($0) viewers" } ?? "")
    }

    /// The name for files.
    var fileName: String {
        [content.rawValue, path.name, "\(bitrate)", size, receiver.rawValue, sender.rawValue, "\(round)"]
            .joined(separator: "-").replacing("%", with: "pct")
    }
}

/// A route between sender and receiver, described by its name: `40ms-2%-bursts`.
struct ViewerPath: Codable, Hashable, Sendable {
    let name: String
    /// The options of the relay.
    let options: [String]

    /// Creates a route named `clean`, or with parts separated by hyphens: `40ms` in each direction, `j5` for jitter of
    /// 5 ms, `2%` of loss in each direction, `bursts` or `bursts8` for four or eight consecutive losses, `2000kbps` for
    /// the capacity, `q200` for a queue of 200 ms.
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
