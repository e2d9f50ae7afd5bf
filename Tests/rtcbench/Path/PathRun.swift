internal import Foundation

/// One share to Chromium through the relay.
struct PathRun {
    let executable: String
    let relay: String
    let scripts: String
    let python: String
    let folder: TemporaryFolder

    /// The results of a run.
    struct Result: Codable {
        let name: String
        let without: [String]
        let path: Use
        let framesPerSecond: Double
        /// The number of freezes of the video above 300 ms after its first two seconds and, below, the longest.
        let freezes: Int
        let longestFreeze: Double
        /// The mean time from the first packet of a frame to its last at the browser, for frames of several packets, in
        /// milliseconds.
        let assembly: Double?
    }

    /// The relay's report at its end.
    struct Use: Codable {
        let use: Double
        let wait95: Double
        let longestWait: Double
        let loss: Double
    }

    private struct Report: Decodable {
        struct Video: Decodable {
            struct Gap: Decodable {
                let atMs: Double
                let gapMs: Double
            }
            let fps: Double
            let firstFrameMs: Double?
            let gaps: [Gap]
        }
        struct Dump: Decodable {
            struct Entry: Decodable {
                let type: String
                let kind: String?
                let totalAssemblyTime: Double?
                let framesAssembledFromMultiplePackets: Int?
            }
            let stats: [Entry]
        }
        let error: String?
        let stats: [Dump]
        let videos: [Video]?
    }

    func run(_ plan: PathCase, without: [String]) async throws -> Result {
        for name in ["answer.sdp", "viewer/report.json"] {
            try? FileManager.default.removeItem(atPath: folder.file(name))
        }
        var environment = ProcessInfo.processInfo.environment
        environment["XDG_STATE_HOME"] = folder.path
        let sender = try ChildProcess(
            [executable, "send", "--bind", "127.0.0.1", "--source", try source(plan.source)] + plan.options
                + without.flatMap { ["--congestion-without", $0] },
            environment: environment, log: folder.file("sender.log"), processors: nil)
        defer { sender.end() }
        let offer = try await sender.read(within: .seconds(20))
        guard offer.hasPrefix("v=0") else { throw BenchmarkFailure("rtcshare made no offer: \(sender.lastWords)") }
        // The viewer receives the sender's address only by the relay's datagrams.
        try write(lines(offer).filter { !$0.hasPrefix("a=candidate:") }, to: folder.file("offer.sdp"))
        let viewer = try ChildProcess(
            [
                python, "\(scripts)/chromium_viewer.py", "--offer", folder.file("offer.sdp"), "--answer",
                folder.file("answer.sdp"), "--out", folder.file("viewer"), "--duration", "\(plan.seconds)",
                "--snapshot-at", "", "--bare-addresses",
            ], environment: environment, log: folder.file("viewer.log"), processors: nil)
        defer { viewer.end() }
        try await wait(for: "the answer", within: .seconds(120), viewer) {
            FileManager.default.fileExists(atPath: folder.file("answer.sdp"))
        }
        var answer = lines(try String(contentsOfFile: folder.file("answer.sdp"), encoding: .utf8))
        guard
            let index = answer.firstIndex(where: {
                $0.hasPrefix("a=candidate:") && $0.contains(" udp ") && !$0.contains("::")
            })
        else { throw BenchmarkFailure("Chromium's answer has no candidate of UDP and IPv4") }
        var words = answer[index].split(separator: " ").map(String.init)
        let path = try ChildProcess(
            [relay, "--to", "\(words[4]):\(words[5])", "--duration", "\(plan.seconds + 10)"] + plan.relay,
            environment: environment, log: folder.file("relay.log"), processors: nil)
        defer { path.end() }
        let port = try await path.read(lineOnly: true, within: .seconds(10)).split(separator: " ").last.map(String.init)
        _ = try await path.read(lineOnly: true, within: .seconds(10))
        (words[4], words[5]) = ("127.0.0.1", port ?? "")
        answer[index] = words.joined(separator: " ")
        answer = answer.indices.filter { $0 == index || !answer[$0].hasPrefix("a=candidate:") }.map { answer[$0] }
        sender.write(answer.joined(separator: "\r\n") + "\r\n")
        try await wait(for: "the viewer's end", within: .seconds(plan.seconds + 60), nil) { !viewer.isRunning }
        sender.end()
        let told = try await path.read(lineOnly: true, within: .seconds(30))
        let use = try JSONDecoder().decode(Use.self, from: Data(told.utf8))
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let report = try decoder.decode(
            Report.self, from: Data(contentsOf: URL(fileURLWithPath: folder.file("viewer/report.json"))))
        guard report.error == nil, let video = report.videos?.first, let first = video.firstFrameMs else {
            throw BenchmarkFailure("Chromium: \(report.error ?? "no picture"); rtcshare: \(sender.lastWords)")
        }
        return result(plan, without, use, report, video, first: first)
    }

    private func result(
        _ plan: PathCase, _ without: [String], _ use: Use, _ report: Report, _ video: Report.Video, first: Double
    ) -> Result {
        let freezes = video.gaps.filter { $0.gapMs > 300 && $0.atMs - first > 2000 }.map(\.gapMs)
        let entry = report.stats.last?.stats.first { $0.type == "inbound-rtp" && $0.kind == "video" }
        let assembly = entry.flatMap { entry in
            entry.totalAssemblyTime.flatMap { time in
                entry.framesAssembledFromMultiplePackets.map { time * 1000 / Double(max(1, $0)) }
            }
        }
        return Result(
            name: plan.name, without: without, path: use, framesPerSecond: video.fps, freezes: freezes.count,
            longestFreeze: freezes.max() ?? 0, assembly: assembly)
    }

    private func source(_ source: PathCase.Source) throws -> String {
        switch source {
        case .pattern: return "test:1280x720@30"
        case .pages:
            try TextPages.write(to: folder.file("pages.y4m"))
            return "file:\(folder.file("pages.y4m")):loop"
        }
    }

    private func lines(_ text: String) -> [String] { text.split(whereSeparator: \.isNewline).map(String.init) }

    private func write(_ lines: [String], to path: String) throws {
        try Data((lines.joined(separator: "\r\n") + "\r\n").utf8).write(to: URL(fileURLWithPath: path))
    }

    private func wait(
        for what: String, within patience: Duration, _ process: ChildProcess?, until condition: () -> Bool
    ) async throws {
        let end = ContinuousClock.now + patience
        while !condition() {
            if let process, !process.isRunning {
                throw BenchmarkFailure("the viewer ended before \(what): \(process.lastWords)")
            }
            guard ContinuousClock.now < end else { throw BenchmarkFailure("\(what) did not come") }
            try await Task.sleep(for: .milliseconds(50))
        }
    }
}
