import Foundation
import Testing
import TestSupport

extension Share {
    /// Puts the relay, with these options, between the sender and the viewer of `answer.sdp`, which then names the relay in
    /// the viewer's place. `address` is the relay's.
    func startRelay(
        _ options: [String], at address: String = "127.0.0.1", in folder: TemporaryFolder
    ) async throws -> RunningProgram {
        let text = try String(contentsOf: answer, encoding: .utf8)
        let lines = text.split(whereSeparator: \.isNewline).map(String.init)
        let candidate = try #require(
            lines.first { $0.hasPrefix("a=candidate:") && $0.lowercased().contains(" udp ") && !$0.contains("::") })
        var words = candidate.split(separator: " ").map(String.init)
        let relay = try RunningProgram(
            try #require(Peers.networkRelay), ["--to", "\(words[4]):\(words[5])", "--address", address] + options,
            in: folder)
        try await relay.wait(for: "the relay's ports", timeout: .seconds(30)) {
            relay.standardOutput.contains("right")
        }
        let left = try #require(
            relay.standardOutput.split(whereSeparator: \.isNewline).first?.split(separator: " "))
        words[4] = address
        words[5] = String(left[1])
        let others = lines.filter { !$0.hasPrefix("a=candidate:") }
        // In the first section, whose transport is that of all.
        let end = try #require(others.firstIndex { $0.hasPrefix("a=ice-ufrag:") })
        let told = others[...end] + [words.joined(separator: " ")] + others[(end + 1)...]
        _ = try folder.write(told.joined(separator: "\r\n") + "\r\n", to: "answer.sdp")
        return relay
    }
}
