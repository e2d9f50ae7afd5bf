internal import ArgumentParser
internal import FoundationEssentials
internal import Glibc

/// `rtcshare report`: statistics over time, as a page.
struct ReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Turn --stats files into an HTML report with graphs.",
        discussion: """
            Writes one HTML page to standard output. The page shows rates and what limits them, frames, sizes, loss, delays and
            freezes over time, and explains notable events.

                rtcshare serve --stats stats.jsonl
                rtcshare report stats.jsonl > report.html

            Show a sender and a viewer of the same share on one page:

                rtcshare report sender.jsonl viewer.jsonl > report.html
            """)

    @Argument(
        help: ArgumentHelp(
            "File that --stats of serve, send or view wrote, or two of the same share. - for standard input.",
            valueName: "file"), completion: .file())
    var files: [String]

    private static let mostFiles = 2

    func validate() throws {
        guard (1...Self.mostFiles).contains(files.count) else {
            throw ValidationError("\(files.count) files: use one file, or the presenter's and a viewer's")
        }
        guard Set(files).count == files.count else {
            throw ValidationError("\(files[0]) is given twice: use the presenter's file and a viewer's")
        }
    }

    func run() async throws {
        try await reportingFailure {
            guard !StandardStreams.isOutputTerminal else {
                throw CommandFailure(
                    .usage, "the report is an HTML page, which a terminal can't show",
                    try: "rtcshare report \(files.joined(separator: " ")) > report.html")
            }
            var history = StatisticsHistory()
            for (index, file) in files.enumerated() { try history.read(file, file: index) }
            try checkOverlap(of: history)
            for remark in history.remarks { Terminal.shared.say(remark) }
            try StandardStreams.writeData(ReportPage(history, title: title).markup)
        }
    }

    private var title: String {
        files.map { $0 == "-" ? "standard input" : URL(filePath: $0).lastPathComponent }.joined(separator: " and ")
    }

    /// Throws if two files do not overlap in time, because they need separate pages.
    private func checkOverlap(of history: StatisticsHistory) throws(CommandFailure) {
        let (first, second) = (history.connections.filter { $0.file == 0 }, history.connections.filter { $0.file == 1 })
        guard let begin = second.map(\.first).min(), let end = second.map(\.last).max(),
            let firstBegin = first.map(\.first).min(), let firstEnd = first.map(\.last).max(),
            begin > firstEnd || end < firstBegin
        else { return }
        throw CommandFailure(
            .badInput, "\(files[0]) and \(files[1]) are of different times", try: "make a page for each file")
    }
}
