internal import Foundation
internal import RTCShareSignaling

/// The viewers of a page besides the receiver, which receive everything and decode nothing.
struct FurtherViewers {
    private var players: [WHEPPlayer] = []
    private var process: ChildProcess?

    /// Opens the page as often as a case says.
    init(of plan: ViewerCase, at link: String, _ tools: ViewerRun.Tools, _ folder: TemporaryFolder) async throws {
        let count = (plan.viewers ?? 1) - 1
        guard count > 0 else { return }
        guard plan.sender.hasPage else { throw BenchmarkFailure("it has one viewer") }
        if plan.sender == .served {
            for _ in 0..<count {
                let player = try await LinkCommand.player(of: link)
                players.append(player)
                try await player.start()
            }
            return
        }
        let process = try ChildProcess(
            [tools.python, "\(tools.scripts)/page_viewers.py", plan.sender.rawValue, link, "\(count)"],
            environment: ProcessInfo.processInfo.environment, log: folder.file("viewers.log"), processors: nil)
        self.process = process
        guard try await process.read(lineOnly: true, within: .seconds(150)) == "ready" else {
            throw BenchmarkFailure("the further viewers: \(process.lastWords)")
        }
    }

    /// Leaves.
    func end() async {
        for player in players { await player.leave() }
        process?.end()
    }
}
