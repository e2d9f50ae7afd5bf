internal import Foundation

/// The results of runs, for people.
struct ViewerReport {
    let records: [ViewerRecord]

    /// Returns the complete text.
    func text(brief: Bool) -> String {
        let tables = brief ? [] : records.map(Self.table)
        return (tables + [summary]).joined(separator: "\n\n")
    }

    /// Returns the seconds of a run.
    static func table(of record: ViewerRecord) -> String {
        let rows = record.seconds.enumerated().map { second, entry in
            [
                "\(second + 1)", entry.similarity.text(4), entry.signalToNoise.text(1), entry.ownSimilarity.text(4),
                entry.ownSignalToNoise.text(1), "\(entry.frames)", "\(entry.freezes)",
                Optional(entry.longestGap).text(0), Optional(entry.longestStall).text(0), entry.latency.text(0),
                Optional(entry.bitrate).text(0), Optional(entry.processor).text(2),
            ]
        }
        let titles = [
            "second", "SSIM", "PSNR", "own SSIM", "own PSNR", "frames", "freezes", "gap ms", "stall ms", "latency ms",
            "kbit/s", "CPU",
        ]
        let total = record.total
        let rest = [
            "connected after \(total.connecting.text(0)) ms", "first picture \(total.firstPicture.text(0)) ms",
            "30 dB \(total.readable.text(0)) ms and 45 dB \(total.sharp.text(0)) ms after the connection",
            "jitter buffer \(total.jitterBufferDelay.text(0)) ms", "key frames \(total.keyFrames.text(0))",
            "dropped \(total.framesDropped.text(0))",
            "PLI \(total.pictureLossIndications.text(0))", "NACK \(total.negativeAcknowledgements.text(0))",
            "retransmitted \(total.retransmissions.text(0))", "lost \(total.packetsLost.text(0))",
            "freezeCount \(total.freezeCount.text(0))", "never seen \(total.unseenChanges)",
            "unreadable \(total.unreadablePictures)", "replaced unseen \(total.replacedPictures)",
            "CPU of Xvfb \(Optional(total.serverProcessor).text(2)), of the receiver "
                + Optional(total.receiverProcessor).text(2), "size \(total.size)",
        ]
        return "\(record.plan.sender.name), \(record.plan.title), round \(record.plan.round)"
            + (record.origin.label.isEmpty ? "" : " (\(record.origin.label))") + "\n"
            + Table(titles: titles, rows: rows, leading: 0).description + "\n" + rest.joined(separator: ", ")
    }

    // MARK: Pairs

    /// The runs of one sender with one label, for a comparison.
    struct Group {
        let pair: ViewerCase
        let sender: ViewerCase.Sender
        let name: String
        var records: [ViewerRecord]
    }

    /// The groups, with compared ones next to each other, in the order of their first measurement.
    var groups: [Group] {
        var groups: [Group] = []
        for record in records {
            let plan = record.plan
            let name = [plan.sender.name, plan.oursWith, record.origin.label].filter { !$0.isEmpty }
                .joined(separator: " ")
            if let index = groups.firstIndex(where: { ($0.pair, $0.name) == (plan.pair, name) }) {
                groups[index].records.append(record)
            } else {
                let place = groups.lastIndex { $0.pair == plan.pair }.map { $0 + 1 } ?? groups.count
                groups.insert(Group(pair: plan.pair, sender: plan.sender, name: name, records: [record]), at: place)
            }
        }
        return groups
    }

    /// A row for each sender, with a pair one below the other; medians of the rounds.
    var summary: String {
        let groups = groups
        let rows = groups.enumerated().map { index, group -> [String] in
            func middle(_ figure: (ViewerRecord.Total) -> Double?) -> Double? {
                group.records.compactMap { figure($0.total) }.median
            }
            let theirs = groups.first { $0.pair == group.pair && $0.sender == .chromium }
            let ratio = theirs.flatMap { theirs -> Double? in
                guard group.sender == .ours, let their = theirs.records.map(\.total.processor).median, their > 0 else {
                    return nil
                }
                return middle(\.processor).map { $0 / their }
            }
            let isFirst = index == 0 || groups[index - 1].pair != group.pair
            return [
                isFirst ? group.pair.title : "", group.name, "\(group.records.count)",
                middle(\.similarity).text(4), middle(\.leastSimilarity).text(4),
                middle(\.signalToNoise).text(1), middle(\.leastSignalToNoise).text(1),
                middle(\.ownSimilarity).text(4), middle(\.leastOwnSimilarity).text(4),
                middle(\.ownSignalToNoise).text(1), middle(\.leastOwnSignalToNoise).text(1),
                middle(\.frameRate).text(1), middle { Double($0.freezes) }.text(0), middle(\.freezeCount).text(0),
                middle(\.longestGap).text(0), middle(\.longestStall).text(0),
                middle(\.latency).text(0), middle(\.latency95).text(0), middle(\.bitrate).text(0),
                middle(\.processor).text(3), ratio.text(3), middle(\.firstPicture).text(0),
            ]
        }
        let titles = [
            "content", "sender", "runs", "SSIM", "least", "PSNR", "least", "own SSIM", "least", "own PSNR", "least",
            "frames/s", "freezes", "its count", "gap ms", "stall ms", "latency ms", "95 %", "kbit/s", "CPU", "ours/its",
            "first ms",
        ]
        return Table(titles: titles, rows: rows, leading: 2).description
    }

    // MARK: Chart

    /// The seconds of the newest run of each sender, pair by pair.
    var chart: Chart {
        let groups = groups
        var pairs: [ViewerCase] = []
        for group in groups where !pairs.contains(group.pair) { pairs.append(group.pair) }
        let further = ["#2a8a3a", "#8a4fbf", "#b8860b", "#444444"]
        let panels = pairs.flatMap { pair -> [Chart.Panel] in
            let shown = groups.filter { $0.pair == pair }
            func panel(_ title: String, _ unit: String, _ figure: @escaping (ViewerRecord.Second) -> Double?)
                -> Chart.Panel
            {
                let series = shown.enumerated().map { index, group in
                    let isFirst = !shown[..<index].contains { $0.sender == group.sender }
                    return Chart.Series(
                        name: group.name,
                        color: isFirst ? group.sender.colour : further[index % further.count],
                        points: (group.records.last?.seconds ?? []).enumerated().map {
                            (Double($0.offset) + 0.5, figure($0.element))
                        })
                }
                return Chart.Panel(title: "\(pair.title): \(title)", unit: unit, height: 90, series: series)
            }
            return [
                panel("PSNR of the screen at that time", "dB", \.signalToNoise),
                panel("unlikeness to the screen at that time, 1 − SSIM", "1/1000") {
                    $0.similarity.map { 1000 * (1 - $0) }
                },
                panel("PSNR of the picture's own change", "dB", \.ownSignalToNoise),
                panel("frames", "1/s") { Double($0.frames) },
                panel("longest gap", "ms", \.longestGap),
                panel("latency", "ms", \.latency),
                panel("bitrate", "kbit/s", \.bitrate),
                panel("processor", "of a core", \.processor),
            ]
        }
        return Chart(
            title: "What a receiver shows, second by second",
            length: Double(records.map(\.seconds.count).max() ?? 1), panels: panels)
    }
}
