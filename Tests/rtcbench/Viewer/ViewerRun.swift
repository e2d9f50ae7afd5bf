internal import Foundation
internal import RTCShareMedia
import RTCShareTransport
internal import RTCShareWireFormat

/// A content with the images for drawing it, in the X server and here.
struct PreparedContent {
    let content: SharedContent
    let stage: Stage
    let pictures: MovingPictures
    let upload: ContentDisplay.Upload?
    let buffer: ContentDisplay.Buffer?

    init(
        _ content: SharedContent, seed: UInt64, video: String? = nil, buffer: ContentDisplay.Buffer,
        on display: ContentDisplay
    ) throws {
        self.content = content
        stage = Stage(
            size: display.size, font: display.font, seed: seed, hasSmallLetters: content.hasSmallLetters)
        pictures = try content.pictures(stage, video: video)
        upload = pictures.pictures.isEmpty ? nil : try display.upload(pictures)
        self.buffer = content.redrawsAll ? buffer : nil
    }

    func makeScript() -> SharedScript { SharedScript(content, stage: stage) }
}

/// One sender, one receiver and a relay between them, while a content is on the screen.
struct ViewerRun {
    /// The programs that a run starts.
    struct Tools {
        let executable: String
        let relay: String
        let scripts: String
        let python: String
        let selkies: String
    }

    let tools: Tools
    let screen: VirtualScreen
    let folder: TemporaryFolder
    let label: String
    let commit: String?
    var pictures: String?
    /// The seconds from the receiver's first picture to the beginning of the content, the same for each sender. Nil if the
    /// content begins with the connection or, of a page, with the first picture.
    var settling: Int?

    /// A line of a receiver's output.
    private struct Line: Decodable {
        let answer: String?
        let connected: Double?
    }

    func run(_ plan: ViewerCase, _ prepared: PreparedContent) async throws -> ViewerRecord {
        var environment = ProcessInfo.processInfo.environment
        environment["XDG_STATE_HOME"] = folder.path
        let out = folder.file("receiver")
        try? FileManager.default.removeItem(atPath: out)
        let receiver = try ChildProcess(
            receiverCommand(plan, out: out), environment: environment, log: folder.file("receiver.log"),
            processors: nil)
        defer { receiver.end(within: .seconds(12)) }
        environment["DISPLAY"] = screen.name
        try draw(prepared)
        let sender = try ChildProcess(
            senderCommand(plan), environment: environment, log: folder.file("sender.log"), processors: nil)
        defer { sender.end(within: .seconds(12)) }
        do {
            return try await run(plan, prepared, sender, receiver, out: out)
        } catch {
            throw BenchmarkFailure(
                "\(plan.sender.name), \(plan.title): \(error)\n\(sender.lastWords)\n\(receiver.lastWords)")
        }
    }

    private func run(
        _ plan: ViewerCase, _ prepared: PreparedContent, _ sender: ChildProcess, _ receiver: ChildProcess, out: String
    ) async throws -> ViewerRecord {
        let offer = try await sender.read(lineOnly: plan.sender.hasPage, within: .seconds(120))
        guard offer.hasPrefix(plan.sender.hasPage ? "http://" : "v=0") else {
            throw BenchmarkFailure("the sender made no offer, and has no page")
        }
        // Chromium's notice about its capture is on the screen.
        if plan.sender.chromiumCodec != nil { try screen.display.raise() }
        let first = try DrawnTick { try draw(prepared) }
        let others = try await FurtherViewers(of: plan, at: offer, tools, folder)
        let path = plan.sender.hasPage ? nil : try await connect(plan, offer, sender, receiver)
        defer { path?.end() }
        if plan.sender.hasPage { receiver.write(offer) }
        let answered = MonotonicClock.now
        guard let connected = try await line(receiver, within: .seconds(150)).connected else {
            throw BenchmarkFailure("there is no connection")
        }
        // Selkies lays out the display for its viewer, which can clear what was drawn.
        if plan.sender.chromiumCodec != nil || plan.sender == .selkies {
            try screen.display.raise()
            try draw(prepared)
        }
        try await Task.sleep(for: .seconds(settling ?? 0))
        var script = prepared.makeScript()
        _ = script.begin()
        let player = ContentPlayer(
            after: first, ticks: script, display: screen.display, pictures: prepared.upload, through: prepared.buffer)
        var record = ViewerRecord(plan: plan, origin: try origin(plan, receiver: ""))
        let drawn: [DrawnTick]
        do {
            try await watch(plan, sender, receiver, from: player.start, into: &record)
            drawn = try player.stop()
        } catch {
            _ = try? player.stop()
            throw error
        }
        let report = try await self.report(of: receiver, out: out)
        await others.end()
        record.origin.receiver = report.receiver
        let from = report.openedMs ?? Double(answered.nanoseconds) / 1e6
        record.total.connecting = connected - from
        record.total.firstPicture = report.frames?.first.map { $0.time - from }
        let judge = ViewerJudge(
            plan: plan, report: report, folder: out, drawn: drawn, start: player.start, prepared: prepared,
            pictures: pictures)
        sender.end(within: .seconds(12))
        try judge.judge(into: &record, on: screen.display)
        return record
    }

    /// Exchanges descriptions, with a relay between sender and receiver, which is returned.
    private func connect(
        _ plan: ViewerCase, _ offer: String, _ sender: ChildProcess, _ receiver: ChildProcess
    ) async throws -> ChildProcess? {
        // GStreamer's ICE does not reach the relay, which is at the loopback interface.
        if plan.sender == .gstreamer {
            guard plan.path.options.isEmpty else { throw BenchmarkFailure("GStreamer's path can only be clean") }
            receiver.write(offer)
            guard let answer = try await line(receiver, within: .seconds(120)).answer else {
                throw BenchmarkFailure("the receiver gave no answer")
            }
            sender.write(answer)
            return nil
        }
        // The receiver receives the sender's address only by the relay's datagrams.
        receiver.write(
            joined(lines(offer).filter { !$0.hasPrefix("a=candidate:") && $0 != "a=end-of-candidates" }))
        guard let answer = try await line(receiver, within: .seconds(120)).answer else {
            throw BenchmarkFailure("the receiver gave no answer")
        }
        var (description, candidate) = try firstCandidate(lines(answer))
        let path = try ChildProcess(
            [
                tools.relay, "--to", "\(candidate[4]):\(candidate[5])", "--duration", "\(plan.seconds + 120)", "--seed",
                "\(plan.seed)",
            ] + plan.path.options, environment: ProcessInfo.processInfo.environment, log: folder.file("relay.log"),
            processors: nil)
        let port = try await path.read(lineOnly: true, within: .seconds(10)).split(separator: " ").last
        (candidate[4], candidate[5]) = ("127.0.0.1", port.map(String.init) ?? "")
        description.description.insert(candidate.joined(separator: " "), at: description.place)
        sender.write(joined(description.description))
        return path
    }

    /// Draws the initial content.
    private func draw(_ prepared: PreparedContent) throws {
        var script = prepared.makeScript()
        try screen.display.draw(script.begin(), pictures: prepared.upload, through: prepared.buffer)
    }

    /// Measures the processor time, from the start to the end of each second.
    private func watch(
        _ plan: ViewerCase, _ sender: ChildProcess, _ receiver: ChildProcess, from start: Instant,
        into record: inout ViewerRecord
    ) async throws {
        let programs = [sender, screen.server, receiver]
        func times() -> [Double] { programs.map { ProgramTime.seconds(of: $0.pid) } }
        let before = times()
        var last = (time: start, used: before)
        for second in 1...plan.seconds {
            let rest = start.advanced(by: .seconds(second)) - MonotonicClock.now
            if rest > .zero { try await Task.sleep(for: rest) }
            let now = (time: MonotonicClock.now, used: times())
            var entry = ViewerRecord.Second()
            entry.processor = (now.used[0] - last.used[0]) / (now.time - last.time).seconds
            record.seconds.append(entry)
            last = now
            guard sender.isRunning else { throw BenchmarkFailure("the sender ended by itself") }
            guard receiver.isRunning else { throw BenchmarkFailure("the receiver ended by itself") }
        }
        let whole = (last.time - start).seconds
        record.total.serverProcessor = (last.used[1] - before[1]) / whole
        record.total.receiverProcessor = (last.used[2] - before[2]) / whole
        // A script that only starts the sender is not part of it.
        let own = plan.sender.isStarted ? ProgramTime.children(of: sender.pid) : [sender.pid]
        record.total.memory = own.map(ProgramTime.memory).reduce(0, +) / 1_048_576
    }

    // MARK: Programs

    func senderCommand(_ plan: ViewerCase) -> [String] {
        let limits = ["--bitrate", "\(plan.bitrate)", "--framerate", "\(plan.framerate ?? 30)"]
        let size = ["--width", "\(screen.display.size.width)", "--height", "\(screen.display.size.height)"]
        func script(_ name: String) -> String { "\(tools.scripts)/\(name)_sender.py" }
        switch plan.sender {
        case .ours, .served:
            let command = plan.sender == .ours ? ["send"] : ["serve", "--no-qr", "--listen", "127.0.0.1:0"]
            return [tools.executable] + command + [
                "--no-control", "--bind", "127.0.0.1", "--source", "display", "--max-bitrate", "\(plan.bitrate)",
                "--max-framerate", "\(plan.framerate ?? 30)",
            ] + (plan.hint == "none" ? [] : ["--hint", plan.hint])
                + plan.oursWith.split(separator: " ").map(String.init)
        case .chromium, .chromiumVP9, .chromiumH264, .chromiumAV1:
            return [tools.python, script("chromium")] + limits + size + [
                "--hint", plan.hint == "none" ? "" : plan.hint, "--codec", plan.sender.chromiumCodec ?? "",
            ]
        case .gstreamer: return [PeerCommands.systemPython, script("gstreamer")] + limits
        case .x11vnc: return [tools.python, script("page"), "x11vnc"] + limits + size
        case .selkies: return [tools.python, script("page"), "selkies", "--selkies", tools.selkies] + limits + size
        }
    }

    private func receiverCommand(_ plan: ViewerCase, out: String) -> [String] {
        let script = plan.receiver == .chromium ? "screen_receiver.py" : "aiortc_screen_receiver.py"
        return [
            tools.python, "\(tools.scripts)/\(script)", "--out", out, "--duration",
            "\((settling ?? 0) + plan.seconds + 1)", "--samples", "\(plan.samples)", "--width",
            "\(screen.display.size.width)", "--square", "\(TickCode.side)", "--squares", "\(TickCode.bitCount)",
        ] + (plan.sender.hasPage ? ["--page"] : settling != nil ? ["--from-picture"] : [])
    }

    private func origin(_ plan: ViewerCase, receiver: String) throws -> ViewerRecord.Origin {
        ViewerRecord.Origin(
            date: ISO8601DateFormatter().string(from: Date()), label: label,
            commit: plan.sender.isOurs ? commit : nil,
            sender: ([plan.sender.name] + senderCommand(plan).dropFirst(plan.sender.isOurs ? 1 : 2)).joined(
                separator: " "),
            receiver: receiver, machine: MachineDescription())
    }

    private func line(_ receiver: ChildProcess, within patience: Duration) async throws -> Line {
        let text = try await receiver.read(lineOnly: true, within: patience)
        guard !text.isEmpty else { throw BenchmarkFailure("the receiver ended before it was connected") }
        return try JSONDecoder().decode(Line.self, from: Data(text.utf8))
    }

    private func report(of receiver: ChildProcess, out: String) async throws -> ScreenReceiverReport {
        let end = ContinuousClock.now + .seconds(60)
        while receiver.isRunning {
            guard ContinuousClock.now < end else { throw BenchmarkFailure("the receiver does not end") }
            try await Task.sleep(for: .milliseconds(20))
        }
        let report = try ScreenReceiverReport(file: "\(out)/report.json")
        if let error = report.error { throw BenchmarkFailure("\(report.receiver): \(error)") }
        guard report.frames?.isEmpty == false else { throw BenchmarkFailure("\(report.receiver) showed no picture") }
        return report
    }

    // MARK: Descriptions

    private func lines(_ text: String) -> [String] { text.split(whereSeparator: \.isNewline).map(String.init) }
    private func joined(_ lines: [String]) -> String { lines.joined(separator: "\r\n") + "\r\n" }

    /// Returns an answer without candidates, with their position, and the words of the first UDP candidate with IPv4.
    private func firstCandidate(
        _ lines: [String]
    ) throws -> (answer: (description: [String], place: Int), candidate: [String]) {
        let isCandidate: (String) -> Bool = { $0.hasPrefix("a=candidate:") }
        guard let place = lines.firstIndex(where: isCandidate),
            let candidate = lines.first(where: {
                isCandidate($0) && $0.lowercased().contains(" udp ") && !$0.contains("::")
            })?.split(separator: " ").map(String.init), candidate.count > 5
        else { throw BenchmarkFailure("the answer has no candidate of UDP and IPv4") }
        return ((lines.filter { !isCandidate($0) }, place), candidate)
    }
}
