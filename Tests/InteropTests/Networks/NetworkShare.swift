import Foundation
import Testing
import TestSupport

/// A share over a ``TestNetwork``: the command line on both sides, each on its host.
struct NetworkShare {
    let network: TestNetwork
    let folder: TemporaryFolder
    let sending: RunningProgram
    let viewing: RunningProgram

    /// The path that was found, as one side's statistics tell it.
    struct Path: Equatable, CustomStringConvertible {
        let local: String
        let remote: String
        let localAddress: String
        let remoteAddress: String
        let remotePort: Int

        var description: String { "\(local) \(localAddress) → \(remote) \(remoteAddress):\(remotePort)" }
    }

    private static let environment = ["DISPLAY": "", "WAYLAND_DISPLAY": ""]

    /// Starts both sides and brings offer and answer across. The sender stays one process, so that what a server or a NAT
    /// holds for it stays.
    init(
        over network: TestNetwork, sender: [String] = [], viewer: [String] = [], viewFor seconds: Double = 1,
        environment: [String: String] = [:], in folder: TemporaryFolder
    ) async throws {
        let environment = Self.environment.merging(environment) { $1 }
        self.network = network
        self.folder = folder
        let rtcshare = try #require(Peers.rtcshare)
        let answer = folder.file("answer.pipe")
        try #require(mkfifo(answer.path, 0o600) == 0)
        // Open for both, so that opening waits for nobody; the reader's end comes when this is closed.
        let pipe = FileHandle(fileDescriptor: open(answer.path, O_RDWR | O_CLOEXEC), closeOnDealloc: true)
        let sending = try network.start(
            URL(fileURLWithPath: "/bin/sh"),
            [
                "-c", "exec \"$@\" <\(answer.path)", "sh", rtcshare.path, "send", "--attendee", "alice",
                "--source", "test:640x360@15", "--stats", folder.file("sender.jsonl").path,
            ] + sender, on: .sender, environment: environment)
        self.sending = sending
        try await sending.wait(for: "the offer", timeout: .seconds(20)) { Self.isWhole(sending.standardOutput) }
        let offer = try folder.write(sending.standardOutput, to: "offer.sdp")
        let viewing = try network.start(
            rtcshare,
            [
                "view", "--offer", offer.path, "--duration", "\(seconds)", "--snapshot", folder.file("seen.png").path,
                "--stats", folder.file("viewer.jsonl").path,
            ] + viewer, on: .viewer, environment: environment)
        self.viewing = viewing
        try await viewing.wait(for: "the answer", timeout: .seconds(20)) { Self.isWhole(viewing.standardOutput) }
        try pipe.write(contentsOf: Data(viewing.standardOutput.utf8))
        try pipe.close()
    }

    /// Serves a page from the sender's host, and watches it at a URL that leads there. Both sides have the same options
    /// for servers, unless the viewer has its own.
    init(
        servedOver network: TestNetwork, at url: String, port: Int, servers: [String], viewer: [String]? = nil,
        in folder: TemporaryFolder
    ) async throws {
        self.network = network
        self.folder = folder
        let rtcshare = try #require(Peers.rtcshare)
        let sending = try network.start(
            rtcshare,
            [
                "serve", "--no-control", "--no-token", "--listen", "\(port)", "--source", "test:640x360@15",
                "--stats", folder.file("sender.jsonl").path,
            ] + servers, on: .sender, environment: Self.environment)
        self.sending = sending
        try await sending.wait(for: "the link", timeout: .seconds(20)) {
            sending.standardOutput.contains("http://")
        }
        viewing = try network.start(
            rtcshare,
            ["view", url, "--duration", "1", "--stats", folder.file("viewer.jsonl").path]
                + (viewer ?? servers),
            on: .viewer, environment: Self.environment)
    }

    private static func isWhole(_ description: String) -> Bool {
        description.contains("a=candidate:") && description.contains("a=end-of-candidates")
            && description.utf8.last == UInt8(ascii: "\n")
    }

    /// Waits until the viewer has seen enough, which it must; the path is the sender's view of it.
    func seen(timeout: Duration = .seconds(30)) async throws -> Path {
        let outcome = try await viewing.outcome(timeout: timeout)
        try #require(outcome.status == 0, "\(said)")
        let picture = try Data(contentsOf: folder.file("seen.png"))
        #expect(picture.count > 1000, "a picture of the test pattern")
        let sent = try await sending.outcome(timeout: .seconds(10))
        #expect(sent.signal == nil, "send: \(sent.standardError)")
        return try #require(try path(in: "sender.jsonl"), "the sender selected no pair")
    }

    /// Waits until the viewer of a page has seen enough; the path is the viewer's view of it.
    func seenByViewer(timeout: Duration = .seconds(30)) async throws -> Path {
        defer { stop() }
        let outcome = try await viewing.outcome(timeout: timeout)
        try #require(outcome.status == 0, "\(said)")
        return try #require(try path(in: "viewer.jsonl"), "the viewer selected no pair")
    }

    /// The newest path in a side's statistics; nil before there is one.
    func path(in file: String) throws -> Path? {
        for report in try reports(in: file).reversed() {
            guard let transport = report.first(where: { $0["type"] as? String == "transport" }),
                let pair = Self.object(transport["selectedCandidatePairId"], of: report),
                let local = Self.object(pair["localCandidateId"], of: report),
                let remote = Self.object(pair["remoteCandidateId"], of: report)
            else { continue }
            return Path(
                local: local["candidateType"] as? String ?? "?", remote: remote["candidateType"] as? String ?? "?",
                localAddress: local["address"] as? String ?? "?", remoteAddress: remote["address"] as? String ?? "?",
                remotePort: remote["port"] as? Int ?? 0)
        }
        return nil
    }

    /// How many pictures the viewer has decoded.
    func picturesDecoded() throws -> Int {
        try reports(in: "viewer.jsonl").last?.compactMap { object in
            object["type"] as? String == "inbound-rtp" ? object["framesDecoded"] as? Int : nil
        }.reduce(0, +) ?? 0
    }

    /// Waits until the viewer has decoded this many pictures more than now.
    func waitForPictures(_ count: Int, timeout: Duration) async throws {
        let before = try picturesDecoded()
        try await viewing.wait(for: "\(count) pictures after the first \(before)", timeout: timeout) {
            (try? picturesDecoded()).map { $0 >= before + count } ?? false
        }
    }

    /// What both sides said, for whoever reads of a failure.
    var said: String { "send: \(sending.standardError)\nview: \(viewing.standardError)" }

    /// Ends both sides.
    func stop() {
        viewing.stop()
        sending.stop()
    }

    private func reports(in file: String) throws -> [[[String: Any]]] {
        let text = String(decoding: (try? Data(contentsOf: folder.file(file))) ?? Data(), as: UTF8.self)
        // The last line may be half written.
        return text.split(separator: "\n").compactMap { line in
            try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [[String: Any]]
        }
    }

    private static func object(_ id: Any?, of report: [[String: Any]]) -> [String: Any]? {
        guard let id = id as? String else { return nil }
        return report.first { $0["id"] as? String == id }
    }
}
