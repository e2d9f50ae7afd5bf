internal import Foundation

/// The rows of `rtcbench rivals`, as a table of Markdown.
struct RivalsReport {
    /// A case, and what was measured or why nothing was.
    struct Row: Codable {
        var plan: ViewerCase
        var record: ViewerRecord?
        var obstacle: String?
    }

    private var hasBegun = false
    private var receiver: String?
    /// The version of each sender that was found.
    private var senders: [String] = []
    /// The reasons for which the others can't be measured here.
    private(set) var obstacles: [ViewerCase.Sender: String] = [:]
    private var described: Set<ViewerCase.Sender> = []

    /// Notes the version of a sender, and whether it is installed, at its first case.
    mutating func describe(_ plan: ViewerCase, by command: [String]) {
        guard described.insert(plan.sender).inserted else { return }
        // The options of scripts; rtcshare has another.
        let check = plan.sender.isOurs ? [command[0], "--version"] : command + ["--check"]
        let outcome = PeerCommands.run(check)
        guard outcome.status == 0 else {
            obstacles[plan.sender] = outcome.text.split(separator: "\n").last.map(String.init) ?? "it does not start"
            return
        }
        let words = plan.sender.isOurs ? outcome.text : PeerCommands.run(command + ["--describe"]).text
        let version = words.split(separator: "\n").first.map(String.init) ?? "unknown version"
        let options = command.dropFirst(plan.sender.isOurs ? 1 : 2).joined(separator: " ")
        senders.append("- \(plan.sender.name): \(version), in its first row with `\(options)`")
    }

    /// Returns the line of a row, after the head of the table if it is the first one.
    mutating func text(of row: Row) -> String {
        receiver = receiver ?? row.record?.origin.receiver
        let line = Self.line(Self.columns.map { $0.text(row) } + [Self.note(of: row)])
        guard !hasBegun else { return line }
        hasBegun = true
        let titles = Self.columns.map(\.title) + ["Note"]
        let date = ISO8601DateFormatter().string(from: Date())
        return ["\(date), \(MachineDescription())", "", Self.line(titles), Self.line(titles.map { _ in "---" }), line]
            .joined(separator: "\n")
    }

    /// The versions of the receiver and the senders, as a list.
    var versions: String { (["- Receiver: \(receiver ?? "none")"] + senders).joined(separator: "\n") }

    private static func line(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |" }

    private struct Column {
        let title: String
        let text: (Row) -> String

        init(_ title: String, _ text: @escaping (Row) -> String) { (self.title, self.text) = (title, text) }

        init(_ title: String, _ decimals: Int, _ figure: @escaping (ViewerRecord.Total) -> Double?) {
            self.init(title) { row in row.record.flatMap { figure($0.total) }.text(decimals) }
        }
    }

    private static var columns: [Column] {
        [
            Column("Content") { $0.plan.content.rawValue },
            Column("Screen") { "\($0.plan.size), \($0.plan.framerate ?? 30)/s" },
            Column("Viewers") { "\($0.plan.viewers ?? 1)" },
            Column("Sender") { $0.plan.sender.name },
            Column("CPU ms/s", 0) { $0.processor * 1000 },
            Column("kbit/s", 0) { $0.bitrate },
            Column("SSIM", 4) { $0.similarity },
            Column("own SSIM", 4) { $0.ownSimilarity },
            Column("Latency ms", 0) { $0.latency },
            Column("95 %", 0) { $0.latency95 },
            Column("Pictures/s", 1) { $0.frameRate },
            Column("First picture ms", 0) { $0.firstPicture },
            Column("Memory MiB", 0) { $0.memory },
        ]
    }

    private static func note(of row: Row) -> String {
        guard let total = row.record?.total else {
            return (row.obstacle ?? "").replacing("|", with: "/")
        }
        var notes: [String] = []
        if total.size != row.plan.size { notes.append("shown as \(total.size), and compared when scaled back") }
        if total.unseenChanges > 0 { notes.append("\(total.unseenChanges) changes not seen") }
        if total.unreadablePictures > 0 { notes.append("\(total.unreadablePictures) pictures between two changes") }
        return notes.joined(separator: "; ")
    }
}
