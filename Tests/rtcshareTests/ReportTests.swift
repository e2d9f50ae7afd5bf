import Foundation
import RTCShareCryptography
import Testing
import TestSupport

@testable import rtcshare

/// The page that `rtcshare report` creates from files of statistics.
@Suite(.timeLimit(.minutes(1)))
struct ReportTests {
    // MARK: Files

    /// Returns a report of a sender. `time` is in seconds.
    private static func sent(
        _ time: Double, viewer: Int? = nil, ssrc: Int = 7, fragment: String = "ufrag",
        _ outbound: [String: Any] = [:], remote: [String: Any]? = nil, source: [String: Any] = [:],
        transport: [String: Any] = [:]
    ) -> [[String: Any]] {
        let common: [String: Any] = ["timestamp": 1_000_000 + time * 1000]
        var transport = common.merging(transport) { $1 }.merging([
            "id": "T0", "type": "transport", "iceLocalUsernameFragment": fragment, "iceState": "connected",
        ]) { old, _ in old }
        if let viewer {
            transport["viewer"] = viewer
            transport["viewerName"] = "Viewer \(viewer)"
        }
        var stream = common.merging(outbound) { $1 }.merging([
            "id": "OT0", "type": "outbound-rtp", "kind": "video", "ssrc": ssrc, "mediaSourceId": "MS0",
        ]) { old, _ in old }
        if remote != nil { stream["remoteId"] = "RI0" }
        let media = common.merging(source) { $1 }
            .merging(["id": "MS0", "type": "media-source", "kind": "video"]) { $1 }
        let reported = remote.map { remote in
            common.merging(remote) { $1 }.merging(["id": "RI0", "type": "remote-inbound-rtp"]) { $1 }
        }
        return [transport, media, stream] + (reported.map { [$0] } ?? [])
    }

    /// Returns two candidate pairs, `CP0` and `CP1`, with their candidates.
    private static func paths(_ time: Double) -> [[String: Any]] {
        let objects: [[String: Any]] = [
            ["id": "CP0", "type": "candidate-pair", "localCandidateId": "L0", "remoteCandidateId": "R"],
            ["id": "CP1", "type": "candidate-pair", "localCandidateId": "L1", "remoteCandidateId": "R"],
            ["id": "L0", "type": "local-candidate", "address": "192.0.2.1", "port": 5, "candidateType": "srflx"],
            ["id": "L1", "type": "local-candidate", "address": "fd00::1", "port": 5, "candidateType": "host"],
            [
                "id": "R", "type": "remote-candidate", "address": "192.0.2.2", "port": 6, "candidateType": "relay",
                "protocol": "tcp",
            ],
        ]
        return objects.map { $0.merging(["timestamp": 1_000_000 + time * 1000]) { $1 } }
    }

    /// Returns a report of a viewer.
    private static func received(_ time: Double, ssrc: Int = 7, _ inbound: [String: Any]) -> [[String: Any]] {
        let common: [String: Any] = ["timestamp": 1_000_000 + time * 1000]
        let transport = ["id": "T0", "type": "transport", "iceLocalUsernameFragment": "v", "iceState": "connected"]
        return [
            common.merging(transport) { $1 },
            common.merging(inbound) { $1 }.merging([
                "id": "IT0", "type": "inbound-rtp", "kind": "video", "ssrc": ssrc,
            ]) { $1 },
        ]
    }

    private static func lines(_ reports: [[[String: Any]]]) throws -> String {
        try reports.map { String(decoding: try JSONSerialization.data(withJSONObject: $0), as: UTF8.self) + "\n" }
            .joined()
    }

    /// Returns the history of files with these texts.
    private static func history(_ texts: String...) throws -> StatisticsHistory {
        let folder = try TemporaryFolder()
        var history = StatisticsHistory()
        for (index, text) in texts.enumerated() {
            try history.read(try folder.write(text, to: "stats-\(index).jsonl").path, file: index)
        }
        return history
    }

    private static func failure(_ text: String) throws -> CommandFailure? {
        do {
            _ = try history(text)
            return nil
        } catch let failure as CommandFailure {
            return failure
        }
    }

    // MARK: Reading

    @Test("A rate is a counter's difference divided by the time between two reports")
    func rates() throws {
        let history = try Self.history(
            try Self.lines([
                Self.sent(0, ["bytesSent": 1000, "headerBytesSent": 0, "framesSent": 10, "pliCount": 0]),
                Self.sent(1, ["bytesSent": 126_000, "headerBytesSent": 0, "framesSent": 40, "pliCount": 2]),
                Self.sent(3, ["bytesSent": 376_000, "headerBytesSent": 0, "framesSent": 70, "pliCount": 2]),
            ]))
        let stream = try #require(history.connections.first?.streams.first)
        #expect(stream[.rate].values == [1000, 1000])
        #expect(stream[.frames].values == [30, 15])
        #expect(stream[.pictureLossIndications].values == [2, 0])
        #expect(stream[.rate].times == [1001, 1003])
        #expect(history.remarks == [])
    }

    @Test("A counter that restarts has no rate")
    func resets() throws {
        let fewer = try Self.history(
            try Self.lines([1000, 2000, 300, 425].enumerated().map { Self.sent(Double($0), ["bytesSent": $1]) }))
        #expect(fewer.connections.first?.streams.first?[.rate].values == [8, 1])
        #expect(fewer.remarks.count == 1 && fewer.remarks[0].contains("restarted once"))
        // A new source has new counts, even if they are higher.
        let other = try Self.history(
            try Self.lines(
                [(1, 1000), (1, 2000), (2, 90_000), (2, 91_000)].enumerated().map {
                    Self.sent(Double($0), ssrc: $1.0, ["bytesSent": $1.1])
                }))
        #expect(other.connections.count == 1 && other.connections[0].streams[0][.rate].values == [8, 8])
    }

    @Test("A number of losses that late packets reduce is neither a loss nor a restart")
    func lateLosses() throws {
        let history = try Self.history(
            try Self.lines(
                [(0, 5), (90, 15), (190, 12)].enumerated().map {
                    Self.received(Double($0), ["packetsReceived": $1.0, "packetsLost": $1.1])
                }))
        #expect(history.connections[0].streams[0][.loss].values == [10, 0])
        #expect(history.remarks == [])
    }

    @Test("Each viewer has a history of its own, by its number, its ICE user name or its streams")
    func severalViewers() throws {
        let numbered = try Self.history(
            try Self.lines((0..<4).map { Self.sent(Double($0 / 2), viewer: $0 % 2 + 1, ["bytesSent": $0 * 1000]) }))
        #expect(numbered.connections.map(\.name) == ["Viewer 1", "Viewer 2"])
        #expect(numbered.connections.allSatisfy { $0.streams[0][.rate].values == [16] })
        let unnumbered = try Self.history(
            try Self.lines((0..<4).map { Self.sent(Double($0 / 2), ssrc: $0 % 2, fragment: "\($0 % 2)") }))
        #expect(unnumbered.connections.map(\.name) == ["Viewer 1", "Viewer 2"])
        // An ICE restart changes the user name of the same streams.
        let restarted = try Self.history(try Self.lines((0..<4).map { Self.sent(Double($0), fragment: "\($0 / 2)") }))
        #expect(restarted.connections.count == 1)
    }

    @Test("A truncated last line is skipped and reported, wherever it ends")
    func cutOff() throws {
        let whole = try Self.lines([Self.sent(0, ["framesSent": 1]), Self.sent(1, ["framesSent": 31])])
        let last = try Self.lines([Self.sent(2, ["framesSent": 61])])
        for length in 1..<(last.utf8.count - 1) {
            let history = try Self.history(whole + String(last.prefix(length)))
            try #require(history.remarks.count == 1)
            try #require(history.remarks[0].hasPrefix("Line 3 of ") && history.remarks[0].hasSuffix(" is left out."))
            try #require(history.connections[0].streams[0][.frames].values == [30])
        }
        // A last line without its end of line is complete.
        #expect(try Self.history(whole + last.dropLast()).connections[0].streams[0][.frames].values == [30, 30])
    }

    @Test(
        "A file without statistics is an error with its line and a remedy",
        arguments: [
            ("", " is empty"), ("\n \n", " is empty"), ("v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\n", "line 1 "),
            ("[]\n[]\n", "are empty"), ("[{\"id\":\"a\"", "line 1, which is incomplete"), ("{}\n", "not an array"),
            ("[1]\n", "not an array"), ("[{\"type\":\"transport\",\"timestamp\":1}]\n", "without id"),
            ("[{\"id\":\"T0\",\"timestamp\":1}]\n", "without type"),
            ("[{\"id\":\"T0\",\"type\":\"transport\"}]\n", "without timestamp"),
            ("[{\"id\":\"T0\",\"type\":\"transport\",\"timestamp\":-1}]\n", "without timestamp"),
            ("[{\"id\":\"T0\",\"type\":\"transport\",\"timestamp\":1e300}]\n", "without timestamp"),
            ("[{\"id\":\"T0\",\"type\":\"transport\",\"timestamp\":1}]\nnonsense\n[]\n", "line 2 "),
            ("\u{0}\u{0}\u{0}\u{0}\n", "line 1 "),
        ])
    func refused(text: String, words: String) throws {
        let failure = try #require(try Self.failure(text))
        #expect(failure.status == .badInput)
        #expect(failure.message.contains(words), "\(failure.message)")
        #expect(!failure.message.contains("\n"))
    }

    @Test("A line that nests too deeply or is too long is rejected", arguments: [100_000, 20_000_000])
    func nesting(depth: Int) throws {
        let failure = try #require(try Self.failure(String(repeating: "[", count: depth) + "\n"))
        #expect(failure.status == .badInput && failure.message.contains("line 1 "))
        #expect(failure.message.utf8.count < 1000)
    }

    @Test("A damaged file is rejected or shown, and does not trap")
    func damaged() throws {
        let text = try Self.lines([
            Self.sent(
                0, viewer: 1, ["bytesSent": 1, "targetBitrate": 1, "frameWidth": 64, "frameHeight": 48],
                remote: ["fractionLost": 0.1]),
            Self.sent(1, viewer: 1, ["bytesSent": 9, "targetBitrate": 5e5, "frameWidth": 32, "frameHeight": 24]),
        ])
        let bytes = Array(text.utf8)
        let folder = try TemporaryFolder()
        for position in bytes.indices {
            for value in [UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "\""), 0xFF, 0] {
                var damaged = bytes
                damaged[position] = value
                let file = folder.file("stats.jsonl")
                try Data(damaged).write(to: file)
                var history = StatisticsHistory()
                do {
                    try history.read(file.path, file: 0)
                } catch {
                    try #require(error.status == .badInput)
                    continue
                }
                try #require(ReportPage(history, title: "t").markup.hasSuffix("</html>\n"))
            }
        }
    }

    @Test("Extreme numbers and long names are shown within limits")
    func extremes() throws {
        let extremes: [Any] = [
            -1, 0, 1e-300, 1e14, 1e15, 1e300, Int64.max, Int64.min, true, NSNull(), "text", ["x": 1], [1],
        ]
        var reports: [[[String: Any]]] = []
        for (index, value) in extremes.enumerated() {
            let members = [
                "bytesSent", "framesSent", "targetBitrate", "frameWidth", "frameHeight", "qualityLimitationReason",
                "ssrc", "pliCount", "keyFramesSent", "totalPacketSendDelay", "packetsSent", "qpSum", "framesEncoded",
            ]
            let outbound = Dictionary(uniqueKeysWithValues: members.map { ($0, value) })
            reports.append(
                Self.sent(
                    Double(index), outbound, remote: ["fractionLost": value, "roundTripTime": value],
                    source: ["framesPerSecond": value, "sharePaused": value, "shareSource": value],
                    transport: ["bitrateLimitation": value, "viewer": value, "selectedCandidatePairId": value]))
        }
        let history = try Self.history(try Self.lines(reports))
        #expect(ReportPage(history, title: "t").markup.hasSuffix("</html>\n"))
        // The times go from 1970 to the last day of Date, and back.
        let times = try Self.history(
            [0, 8.64e15, 5].map { "[{\"id\":\"T0\",\"type\":\"transport\",\"timestamp\":\($0)}]\n" }.joined())
        #expect(times.remarks.contains { $0.contains("go back in time") })
        #expect(ReportPage(times, title: "t").markup.hasSuffix("</html>\n"))
    }

    // MARK: Events

    private static func words(_ history: StatisticsHistory) -> [String] {
        EventFinder.events(in: history).map { event in
            "\(event.kind.rawValue) at \(EventFinder.number(event.time - 1000)): \(event.what) <- "
                + event.reasons.joined(separator: "; ")
        }
    }

    @Test("A target that falls is reported with the loss and the delay of that time")
    func targetFalls() throws {
        let targets = [2100, 2100, 1400, 900, 950, 1800, 0, 0, 1800]
        let history = try Self.history(
            try Self.lines(
                targets.enumerated().map { second, kilobits in
                    Self.sent(
                        Double(second), ["targetBitrate": kilobits * 1000],
                        remote: ["fractionLost": second == 2 ? 0.07 : 0, "roundTripTime": second == 3 ? 0.3 : 0.05],
                        transport: ["bitrateLimitation": (2...3).contains(second) ? "delay" : "application"])
                }))
        let words = Self.words(history)
        #expect(
            words.contains(
                "target at 2: the target fell from 2100 to 900 kbit/s <- the delay on the route grew; loss 7 %; round trip "
                    + "300 ms, usually 50 ms"), "\(words)")
        #expect(words.contains("loss at 2: loss of up to 7 % <- "))
        // A pause is not a fall.
        #expect(words.count { $0.hasPrefix("target") } == 1)
    }

    @Test("A key frame is reported with the viewer that requested it")
    func keyFrames() throws {
        let reports = (0..<12).flatMap { second -> [[[String: Any]]] in
            let keys = second < 4 ? 1 : second < 8 ? 2 : 3
            let first = Self.sent(
                Double(second), viewer: 1, ssrc: 1, ["keyFramesSent": keys, "pliCount": 0, "firCount": 0],
                source: ["shareSource": second < 8 ? "test" : "display", "sharePaused": false])
            let second = Self.sent(
                Double(second), viewer: 2, ssrc: 2,
                ["keyFramesSent": keys, "pliCount": second < 4 ? 0 : 1, "firCount": 0])
            return [first, second]
        }
        let events = EventFinder.events(in: try Self.history(try Self.lines(reports)))
        let keys = events.filter { $0.kind == .keyFrame }
        #expect(keys.count == 4)
        let told = keys.map { "\($0.place) at \($0.time): \($0.reasons.joined(separator: "; "))" }
        #expect(told.contains("To Viewer 1 at 1004.0: Viewer 2 requested it: PLI"), "\(told)")
        #expect(told.contains("To Viewer 2 at 1004.0: this viewer requested it: PLI"))
        #expect(told.contains("To Viewer 1 at 1008.0: the source changed"))
        #expect(events.contains { $0.kind == .source && $0.what == "the source changed from test to display" })
    }

    @Test("A freeze is reported with the viewer's measurements and the sender's of the same stream")
    func freezes() throws {
        let viewer = (0..<20).map { second -> [[String: Any]] in
            let (lost, asked): (Int, Int) = second < 5 ? (0, 0) : (10, 3)
            let (count, duration): (Int, Double) = second < 5 ? (0, 0) : second < 12 ? (1, 0.48) : (2, 0.98)
            return Self.received(
                Double(second),
                [
                    "framesDecoded": second * 30, "packetsReceived": second * 90, "packetsLost": lost,
                    "nackCount": asked, "pliCount": 0, "freezeCount": count, "totalFreezesDuration": duration,
                ])
        }
        let sender = (0..<20).map { second -> [[String: Any]] in
            Self.sent(
                Double(second), ["framesSent": second * 30, "packetsSent": second * 90],
                source: ["shareSource": "test", "sharePaused": second == 11])
        }
        let alone = try Self.history(try Self.lines(viewer))
        #expect(
            Self.words(alone).contains(
                "freeze at 5: a freeze of 480 ms <- loss 10 %; packets were requested again (3 NACK)"),
            "\(Self.words(alone))")
        // A freeze without a visible cause is shown without one.
        #expect(Self.words(alone).contains("freeze at 12: a freeze of 500 ms <- "))
        let both = try Self.history(try Self.lines(viewer), try Self.lines(sender))
        #expect(Self.words(both).contains("freeze at 12: a freeze of 500 ms <- the share was paused"))
    }

    @Test("Freezes that webrtc-stats counts for an unchanged screen are reported once, with that reason")
    func rest() throws {
        // Typing for five seconds, and then one frame per second.
        let viewer = (0..<20).map { second -> [[String: Any]] in
            let (frames, freezes): (Int, Int) = second <= 5 ? (second * 8, 0) : (35 + second, second - 5)
            return Self.received(
                Double(second),
                [
                    "framesDecoded": frames, "packetsReceived": frames, "packetsLost": 0, "nackCount": 0, "pliCount": 0,
                    "freezeCount": freezes, "totalFreezesDuration": freezes,
                ])
        }
        let sender = (0..<20).map { second -> [[String: Any]] in
            let (frames, given): (Int, Int) = second <= 5 ? (second * 8, 8) : (35 + second, 0)
            return Self.sent(Double(second), ["framesSent": frames], source: ["framesPerSecond": given])
        }
        let alone = try Self.history(try Self.lines(viewer))
        let both = try Self.history(try Self.lines(viewer), try Self.lines(sender))
        for (history, reason) in [(alone, "no packets were lost"), (both, "hardly changed")] {
            let events: [NotableEvent] = EventFinder.events(in: history)
            #expect(events.map(\.kind) == [NotableEvent.Kind.rest], "\(Self.words(history))")
            #expect(events.first?.what == "frames up to 1000 ms apart (freezeCount grows by 14)")
            #expect(events.first?.reasons.first?.contains(reason) == true)
            #expect(ReportPage(history, title: "t").markup.contains("none, and 14 of an idle screen"))
        }
    }

    @Test("Few frames, waiting packets, gaps, and changes of size and route are reported")
    func otherEvents() throws {
        let reports = (0..<20).map { second -> [[String: Any]] in
            let isFew = (5..<9).contains(second)
            let frames = second < 5 ? second * 30 : isFew ? 120 + (second - 4) * 6 : 144 + (second - 8) * 30
            let (width, height, changes): (Int, Int, Int) = second < 12 ? (1280, 720, 0) : (640, 360, 1)
            let outbound: [String: Any] = [
                "framesSent": frames, "frameWidth": width, "frameHeight": height, "packetsSent": second * 10,
                "totalPacketSendDelay": second < 5 ? 0.0 : 2.5, "qualityLimitationReason": isFew ? "cpu" : "none",
                "qualityLimitationResolutionChanges": changes,
            ]
            let time = Double(second < 15 ? second : second + 40)
            let state = second == 10 ? "disconnected" : "connected"
            return Self.sent(
                time, outbound, source: ["framesPerSecond": 30],
                transport: ["iceState": state, "selectedCandidatePairId": second < 7 ? "CP0" : "CP1"])
                + Self.paths(time)
        }
        let history = try Self.history(try Self.lines(reports))
        let words = Self.words(history)
        #expect(
            words.contains { $0.hasPrefix("frames at 5: only 6 to 6 of 30 frames per second") && $0.contains("cpu") })
        #expect(words.contains { $0.hasPrefix("delay at 5: packets waited 250 ms in the queue") })
        #expect(words.contains { $0.hasPrefix("size at 12: the size changed from 1280×720 to 640×360") })
        #expect(
            words.contains { $0.hasPrefix("connection at 10: the connection changed from connected to disconnected") })
        let (new, old) = ("[fd00::1]:5 (host)", "192.0.2.1:5 (srflx)")
        let peer = "→ 192.0.2.2:6 (relay, TCP)"
        #expect(words.contains("route at 7: the route changed from \(old) \(peer) to \(new) \(peer) <- "), "\(words)")
        #expect(words.contains { $0.hasPrefix("gap at 14: no statistics for 41 s") })
    }

    @Test("A share without problems has no events")
    func quiet() throws {
        let history = try Self.history(
            try Self.lines(
                (0..<60).map { second in
                    Self.sent(
                        Double(second),
                        ["framesSent": second * 30, "targetBitrate": 2_000_000, "keyFramesSent": 1, "pliCount": 0],
                        remote: ["fractionLost": 0.004, "roundTripTime": 0.05])
                }))
        #expect(EventFinder.events(in: history) == [])
    }

    // MARK: The page

    @Test("Everything that comes from a file is escaped, and stays in its place")
    func escaping() throws {
        let hostile = "\"><script>alert(1)</script><img src=x onerror='a()'>\u{202E}&amp;</style>"
        let history = try Self.history(
            try Self.lines(
                (0..<4).map { second in
                    Self.sent(
                        Double(second), ssrc: 1,
                        ["qualityLimitationReason": hostile + "\(second)", "framesSent": second],
                        source: [
                            "shareSource": hostile + "\(second)", "sharePaused": second == 1,
                            "shareInterruption": hostile,
                        ],
                        transport: [
                            "bitrateLimitation": hostile, "viewer": 1, "viewerName": hostile,
                            "iceState": second == 2 ? "failed" : hostile,
                        ])
                }))
        let page = ReportPage(history, title: hostile).markup
        #expect(!page.contains("<script>alert") && !page.contains("<img") && !page.contains("\u{202E}"))
        #expect(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"))
        #expect(page.components(separatedBy: "<script>").count == 2)
        #expect(page.components(separatedBy: "</style>").count == 2)
        // No attribute ends early: the text between tags has no markup characters.
        #expect(!page.contains("onerror='") && !page.contains("\"><script"))
    }

    @Test("Each text of a connection is escaped, also if it has no streams")
    func escapingEverywhere() throws {
        let names = [
            "iceState", "bitrateLimitation", "viewerName", "address", "protocol", "candidateType", "kind",
            "qualityLimitationReason", "shareSource", "shareInterruption", "iceLocalUsernameFragment",
        ]
        let hostile = Dictionary(uniqueKeysWithValues: names.map { ($0, "<b>\($0)" as Any) })
        let paths = Self.paths(0).map { $0.merging(hostile) { $1 } }
        for type in ["inbound-rtp", "outbound-rtp", "codec"] {
            let reports = (0..<3).map { second in
                let common = hostile.merging(["timestamp": 1_000_000 + second * 1000, "remoteId": "R"]) { $1 }
                let transport = ["id": "T", "type": "transport", "selectedCandidatePairId": "CP\(second % 2)"]
                let stream = ["id": "<b>S", "type": type, "mediaSourceId": "M", "ssrc": 7, "frameWidth": second + 1]
                let media: [String: Any] = ["id": "M", "type": "media-source", "sharePaused": second == 1]
                let objects = [transport, stream, media] as [[String: Any]]
                return objects.map { common.merging($0) { $1 } } + paths
            }
            let page = ReportPage(try Self.history(try Self.lines(reports)), title: "<b>title").markup
            #expect(!page.contains("<b><") && page.components(separatedBy: "&lt;b&gt;").count > 3)
            for name in names + ["S", "title"] { #expect(!page.contains("<b>\(name)"), "\(name)") }
        }
    }

    @Test("The page permits only its own script and style")
    func securityPolicy() throws {
        let page = ReportPage(StatisticsHistory(), title: "").markup
        for element in ["script", "style"] {
            let content = try #require(page.components(separatedBy: "<\(element)>").last)
            let own = try #require(content.components(separatedBy: "</\(element)>").first)
            let digest = Data(try HashFunction.sha256.digest(of: Array(own.utf8).span.bytes)).base64EncodedString()
            #expect(page.contains("; \(element)-src 'sha256-\(digest)';"))
        }
        #expect(page.contains("base-uri 'none'; form-action 'none'\">"))
    }

    @Test("If a stream's source changes with each report, the newest sources are kept")
    func manySources() throws {
        let history = try Self.history(
            try Self.lines((0..<200).map { Self.sent(Double($0), ssrc: $0, fragment: "\($0 / 2)") }))
        #expect(history.connections.count == 100)
        let one = try Self.history(try Self.lines((0..<200).map { Self.sent(Double($0), ssrc: $0) }))
        #expect(one.connections.count == 1 && one.connections[0].last == 1199)
        #expect(one.connections[0].streams[0].sources.members == Set(136..<200))
    }

    @Test("Reports that follow each other within 20 ms are skipped")
    func denseReports() throws {
        let history = try Self.history(
            try Self.lines((0..<1000).map { Self.sent(Double($0) / 1000, ["targetBitrate": $0]) }))
        #expect(history.connections.first?.streams.first?[.target].values.count == 50)
    }

    @Test("The first span that overlaps an interval is found")
    func spans() {
        let spans = [TimeSpan(from: 1, to: 2), TimeSpan(from: 4, to: 4), TimeSpan(from: 5, to: 9)]
        #expect(spans.first(from: 0, to: 0.5) == nil && [TimeSpan]().first(from: 0, to: 9) == nil)
        #expect(spans.first(from: 0, to: 1) == spans[0] && spans.first(from: 2, to: 9) == spans[0])
        #expect(spans.first(from: 3, to: 3.5) == nil && spans.first(from: 3, to: 6) == spans[1])
        #expect(spans.first(from: 6, to: 6.5) == spans[2] && spans.first(from: 10, to: 11) == nil)
    }

    @Test("A series of any length is thinned to its extremes")
    func thinning() {
        var series = Series()
        for index in 0..<100_000 { series.append(index == 54_321 ? 900 : Double(index % 7), at: Double(index)) }
        let thin = series.thinned(to: 1600)
        #expect(thin.values.count <= 1602 && thin.values.contains(900) && thin.values.contains(0))
        #expect(zip(thin.times, thin.times.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test(
        "The number of an axis's labels is limited for any length and height",
        arguments: [0.0, 0.4, 7, 61, 3599, 3600, 259_200, 1e9, 8.64e12] as [Double])
    func axes(length: Double) throws {
        let axis = TimeAxis(from: 5, to: 5 + length)
        #expect((1...8).contains(axis.ticks.count))
        #expect(axis.preciseLabel(-1e15) == axis.label(0) + ".0")
        #expect(axis.label(0) == (axis.length < 3600 ? "00:00" : "0:00:00"))
        var series = Series()
        series.append(length, at: 1)
        let graph = try #require(ReportGraph("", "", [.init(name: "", series: series)]))
        #expect((3...7).contains(graph.ticks.count) && graph.ticks.last ?? 0 >= length)
    }
}
