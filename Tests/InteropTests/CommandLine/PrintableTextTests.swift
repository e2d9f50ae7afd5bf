import Foundation
import RTCShareCapture
import RTCShareCaptureBroadcast
import RTCSharePeerConnection
import RTCShareTransport
import RTCShareWireFormat
import TestSupport
import Testing

@testable import rtcshare

/// What strangers wrote, where people read it.
@Suite(.timeLimit(.minutes(1)))
struct PrintableTextTests {
    /// What moves a cursor, ends a line or turns text around: C0, DEL, C1, bidirectional marks, tags, separators.
    private static let steering: [Unicode.Scalar] = [
        "\u{0}", "\u{7}", "\u{8}", "\t", "\n", "\r", "\u{1B}", "\u{7F}", "\u{85}", "\u{90}", "\u{9B}", "\u{9D}",
        "\u{AD}", "\u{200B}", "\u{200E}", "\u{200F}", "\u{202A}", "\u{202E}", "\u{2066}", "\u{2069}", "\u{2028}",
        "\u{2029}", "\u{FEFF}", "\u{E0041}",
    ]

    private static func steers(_ text: String) -> Bool {
        text.unicodeScalars.contains { steering.contains($0) && $0 != "\n" }
    }

    /// Each of them before what a terminal would take for a colour.
    private static let stranger = steering.map { "\($0)[31mred" }.joined()

    @Test(
        "A number that another program says is shown, whatever it is",
        arguments: [0, -1, 59.9, 3661, 1e18, 1e19, -1e300, 1e300, .infinity, -.infinity, .nan, .leastNonzeroMagnitude])
    func numbers(value: Double) {
        let whole = Int(clamping: value)
        switch value {
        case 1e19...: #expect(whole == .max)
        case ...(-1e19): #expect(whole == .min)
        case _ where value.isNaN: #expect(whole == 0)
        default: #expect(Double(whole) == value.rounded(.towardZero))
        }
        #expect(!value.clock.isEmpty && !value.words.isEmpty)
        _ = Date(timeIntervalSince1970: value).dayAndTime
    }

    @Test("A text file is read without a mark of UTF-8 at its beginning")
    func markOfUTF8() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("\u{FEFF}v=0\r\n", to: "offer.sdp")
        #expect(try StandardStreams.readText(file.path, what: "offer").utf8.elementsEqual("v=0\r\n".utf8))
    }

    @Test("Text is shown as it is, and what steers a terminal is not")
    func controlCharacters() {
        for text in ["", "plain ~", "Grüße, κόσμε, שלום, 你好, 🙂", "e\u{301}"] { #expect(text.printable == text) }
        for scalar in Self.steering { #expect("a\(scalar)b".printable == "a\u{FFFD}b", "\(scalar.value)") }
        #expect("\r\n".printable == "\u{FFFD}\u{FFFD}")
    }

    @Test("JSON says what was written, by escapes where it would steer a terminal")
    func jsonEscapes() throws {
        let value = ["reason": Self.stranger + "Grüße 🙂"]
        for isPretty in [false, true] {
            let data = try JSONText.encode(value, isPretty: isPretty)
            let text = String(decoding: data, as: UTF8.self)
            #expect(!Self.steers(text) && text.contains("Grüße 🙂") && text.contains("\\u009b"))
            #expect(text.contains("\n") == isPretty)
            #expect(try JSONDecoder().decode([String: String].self, from: data) == value)
        }
    }

    @Test("A report keeps its lines, and they are its own; whatever else is said is one line")
    func reportKeepsLines() {
        var facts = ConnectivityFacts()
        facts.servers = [
            ConnectivityFacts.Server(text: Self.stranger, isDatagram: true, hasAnswered: false, isSilent: false)
        ]
        let report = ConnectionError.unreachable(facts)
        let reported = "\(report)".split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        #expect(reported.count > 4)
        for (lines, introduction) in [
            (CommandFailure(explaining: report).lines(after: "rtcshare: "), "rtcshare: "),
            (rtcshare.ShareCourse.departure(of: "Viewer 2", goneBy: report), "Viewer 2 is disconnected: "),
        ] { #expect(lines == [introduction + reported[0]] + reported.dropFirst()) }
        for error in [
            CommandFailure(.unavailable, Self.stranger), BroadcastError.network(Self.stranger),
            ConnectionError.insecure(reason: Self.stranger),
        ] as [any Error] {
            #expect(CommandFailure(explaining: error).lines(after: "rtcshare: ").count == 1)
            #expect(rtcshare.ShareCourse.departure(of: "Viewer 2", goneBy: error).count == 1)
        }
        #expect(rtcshare.ShareCourse.departure(of: "Viewer 2", goneBy: nil) == ["Viewer 2 left."])
    }

    /// Only these write to standard output and standard error: whatever else would is not looked at.
    @Test("Everything that people read leaves the program through one door")
    func oneDoor() throws {
        let sources = Peers.repository.appending(path: "Sources/rtcshare")
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        let doors: Set = ["Terminal.swift", "StandardStreams.swift", "StatisticsWriter.swift"]
        let bypass = /\b(print|debugPrint|dump|fputs|fwrite)\(|standard(Output|Error)\b|STD(OUT|ERR)_|\bstd(out|err)\b/
        var count = 0
        for case let file as URL in files where file.pathExtension == "swift" {
            count += 1
            guard !doors.contains(file.lastPathComponent) else { continue }
            let text = try String(contentsOf: file, encoding: .utf8)
            let code = text.split(separator: "\n").filter { !$0.drop { $0 == " " }.hasPrefix("//") }
            for line in code { #expect(!line.contains(bypass), "\(file.lastPathComponent): \(line)") }
        }
        #expect(count > 40)
    }

    // MARK: The program

    private static func run(_ arguments: [String], in folder: TemporaryFolder) async throws -> RunningProgram.Outcome {
        try await RunningProgram.run(
            try #require(Peers.rtcshare), arguments, environment: ["DISPLAY": ""], in: folder, timeout: .seconds(30))
    }

    @Test(
        "A description that means to steer the terminal is explained without",
        .enabled(if: Peers.hasCommandLine, "rtcshare is not built"))
    func hostileDescription() async throws {
        let folder = try TemporaryFolder()
        let forbidden = Set("\n\r\u{0}".unicodeScalars)
        let inline = String(String.UnicodeScalarView(Self.stranger.unicodeScalars.filter { !forbidden.contains($0) }))
        let lines = [
            "v=0", "o=\(inline) 1 1 IN IP4 0.0.0.0", "s=\(inline)", "t=0 0", "a=\(inline)", "a=tool:\(inline)",
            "m=audio 9 UDP/TLS/RTP/SAVPF\(inline) 96", "c=IN IP4 \(inline)", "a=mid:\(inline)",
            "a=rtpmap:96 \(inline)/90000", "a=fmtp:96 \(inline)=\(inline)", "a=msid:\(inline) \(inline)",
            "a=ssrc:1 cname:\(inline)", "a=candidate:1 1 udp 1 \(inline) 9 typ host",
        ]
        _ = try folder.write(lines.map { $0 + "\r\n" }.joined(), to: "stranger.sdp")
        let outcome = try await Self.run(["inspect", "stranger.sdp"], in: folder)
        #expect(outcome.standardOutput.contains("[31mred"), "\(outcome.standardError)")
        #expect(!Self.steers(outcome.standardOutput) && !Self.steers(outcome.standardError))
        #expect(outcome.standardOutput.split(separator: "\n").count == 2 * lines.count)
        let json = try await Self.run(["inspect", "--json", "stranger.sdp"], in: folder)
        let objects = try json.standardOutput.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(objects.compactMap { $0["number"] as? Int } == Array(1...lines.count))
        #expect(!Self.steers(json.standardOutput))
    }

    @Test(
        "What a share answers steers no terminal, and makes no lines of its own",
        .enabled(if: Peers.hasCommandLine, "rtcshare is not built"))
    func hostileAnswers() async throws {
        let folder = try TemporaryFolder()
        let share = ControlledShare(
            name: "share", pid: 1, attendee: "alice", state: .paused, source: "process:5000",
            interruption: Self.stranger, width: nil, height: nil, framesPerSecond: 0, bitrate: 0, maxBitrate: 1,
            maxFramerate: 1, hint: nil, isSlateShown: false, isAudioMuted: false, isMicrophoneMuted: false,
            destination: "main", subgroups: [Self.stranger], viewers: [], uptime: 1)
        let socket = folder.file("share.sock").path
        let responder = ControlResponder { request in
            switch request {
            case .status: .status(share)
            case .resume: .done(notice: Self.stranger)
            default: .failed(status: 69, reason: Self.stranger, list: [Self.stranger], remedy: Self.stranger)
            }
        }
        let server = try await ControlServer.start(try ControlSocket.listen(path: socket), answering: responder)
        let status = try await Self.run(["status", "--control", socket], in: folder)
        #expect(status.status == 0 && status.standardOutput.contains("[31mred"), "\(status.standardError)")
        #expect(!Self.steers(status.standardOutput) && status.standardOutput.split(separator: "\n").count == 14)
        let json = try await Self.run(["status", "--json", "--control", socket], in: folder)
        #expect(!Self.steers(json.standardOutput))
        #expect(try ControlJSON.decode(ControlledShare.self, from: json.standardOutput.utf8) == share)
        let resume = try await Self.run(["resume", "--control", socket], in: folder)
        #expect(resume.standardError.contains("[31mred") && !Self.steers(resume.standardError))
        #expect(resume.standardError.split(separator: "\n").count == 1)
        let pause = try await Self.run(["pause", "--control", socket], in: folder)
        #expect(pause.status == 69 && pause.standardError.contains("[31mred") && !Self.steers(pause.standardError))
        #expect(pause.standardError.split(separator: "\n").count == 3)
        await server.close()
    }
}
