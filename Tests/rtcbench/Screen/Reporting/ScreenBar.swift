internal import Foundation

/// A requirement for this sender on a screen of 1920 by 1080, compared with GStreamer in the same rounds.
struct ScreenBar: Codable {
    let content: ScreenContent
    let name: String
    /// The requirement and, below, the result; nil if the run does not have it.
    let asked: String
    let found: String?
    let passes: Bool?

    static let size = "1920x1080"
    /// The maximum delay of a change to the decoded frame, in milliseconds.
    static let longestLatency = 45.0
    /// The maximum processor time for an idle screen, in milliseconds per second.
    static let mostAtRest = 10.0
    /// The maximum fractions of GStreamer's processor time.
    static let shares: [ScreenContent: Double] = [.typing: 0.125, .scrolling: 0.5, .motion: 0.5]

    private init(
        _ content: ScreenContent, _ name: String, asked limit: Double?, decimals: Int, _ found: Double?
    ) {
        self.content = content
        self.name = name
        asked = "≤ " + limit.text(decimals)
        self.found = found.map { Optional($0).text(decimals) }
        passes = found.flatMap { found in limit.map { found <= $0 } }
    }

    /// Returns all bars that apply to these results.
    static func all(_ summaries: [ScreenReport.Summary]) -> [ScreenBar] {
        ScreenContent.allCases.flatMap { content -> [ScreenBar] in
            func summary(_ peer: ScreenPeer) -> ScreenReport.Summary? {
                summaries.first { ($0.size, $0.content, $0.peer) == (size, content, peer) }
            }
            guard let ours = summary(.ours) else { return [] }
            return bars(content, ours: ours, theirs: summary(.gstreamer))
        }
    }

    private static func bars(
        _ content: ScreenContent, ours: ScreenReport.Summary, theirs: ScreenReport.Summary?
    ) -> [ScreenBar] {
        var bars: [ScreenBar] = []
        if content == .still {
            bars.append(ScreenBar(content, "CPU, ms a second", asked: mostAtRest, decimals: 1, ours.senderProcessor))
        }
        if let share = shares[content] {
            bars.append(
                ScreenBar(content, "CPU, of GStreamer's", asked: share, decimals: 3, theirs?.processorRatio))
        }
        bars.append(
            ScreenBar(
                content, "1 − SSIM", asked: theirs?.similarity.map { 1 - $0 }, decimals: 4,
                ours.similarity.map { 1 - $0 }))
        guard content.interval != nil else { return bars }
        for (name, own, their) in [
            ("latency, 50 %, ms", ours.latency50, theirs?.latency50),
            ("latency, 95 %, ms", ours.latency95, theirs?.latency95),
        ] {
            bars.append(
                ScreenBar(
                    content, name, asked: min(longestLatency, their ?? longestLatency), decimals: 1, own))
        }
        return bars
    }

    /// Returns a table of all bars.
    static func table(_ bars: [ScreenBar]) -> String {
        Table(
            titles: ["content", "at \(size)", "asked", "found", ""],
            rows: bars.map {
                [
                    $0.content.rawValue, $0.name, $0.asked, $0.found ?? "–",
                    $0.passes.map { $0 ? "pass" : "FAIL" } ?? "",
                ]
            }
        ).description
    }
}
