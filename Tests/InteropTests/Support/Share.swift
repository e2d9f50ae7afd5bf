import Foundation
import Testing
import TestSupport

/// One share by the command line, in a folder of its own: an offer, an answer from some peer, a send.
struct Share {
    let folder: TemporaryFolder
    var environment: [String: String] = [:]
    let rtcshare: URL

    /// The session is named in the folder, so that a test neither finds nor leaves one in the user's home.
    var session: URL { folder.file("session") }
    var answer: URL { folder.file("answer.sdp") }

    init(environment: [String: String] = [:], in folder: TemporaryFolder) throws {
        self.folder = folder
        self.environment = environment
        rtcshare = try #require(Peers.rtcshare)
    }

    /// Runs `rtcshare offer` and keeps what it printed as `offer.sdp`.
    @discardableResult
    func offer(_ options: [String] = []) async throws -> String {
        let outcome = try await run(["offer", "--attendee", "alice", "--session", session.path] + options)
        try #require(outcome.status == 0, "rtcshare offer: \(outcome.standardError)")
        _ = try folder.write(outcome.standardOutput, to: "offer.sdp")
        return outcome.standardOutput
    }

    func send(_ options: [String] = []) throws -> RunningProgram {
        try start(["send", "--answer", answer.path, "--session", session.path] + options)
    }

    /// Starts `rtcshare view` and keeps the answer that it prints at once as `answer.sdp`. Its window would lie on the display
    /// that is shared.
    func view(_ options: [String] = []) async throws -> RunningProgram {
        let viewer = try start(["view", "--no-window", "--offer", folder.file("offer.sdp").path] + options)
        try await viewer.wait(for: "the whole answer", timeout: .seconds(30)) {
            // The last m-section ends with its candidates: a fingerprint alone may be an answer half written.
            let text = viewer.standardOutput
            return text.contains("a=candidate:") && text.contains("a=end-of-candidates")
                && text.utf8.last == UInt8(ascii: "\n")
        }
        _ = try folder.write(viewer.standardOutput, to: "answer.sdp")
        return viewer
    }

    func start(_ arguments: [String]) throws -> RunningProgram {
        try RunningProgram(rtcshare, arguments, environment: environment, in: folder)
    }

    /// Starts the program at a terminal of its own, whose text is the standard output of what is returned.
    func startAtTerminal(_ arguments: [String]) throws -> RunningProgram {
        let command = ([rtcshare.path] + arguments).map { "'\($0)'" }.joined(separator: " ")
        return try RunningProgram(
            try #require(RunningProgram.find("script")), ["-qfec", "stty cols 200; exec \(command)", "/dev/null"],
            environment: environment, in: folder)
    }

    func run(_ arguments: [String], timeout: Duration = .seconds(60)) async throws -> RunningProgram.Outcome {
        try await start(arguments).outcome(timeout: timeout)
    }

    /// Shows this share to `viewer` for `seconds` and gives its report, and the milliseconds from the start of `send`
    /// with a ready answer to the first frame on the viewer's side.
    func show(
        to viewer: Viewer, seconds: Int, snapshotAt: String = "2.5", source: [String], sendWith options: [String] = [],
        watchWith more: [String] = []
    ) async throws -> (report: ViewerReport, firstFrame: Double) {
        try await offer(source)
        let watching = try viewer.start(duration: seconds, snapshotAt: snapshotAt, more, in: folder)
        defer { watching.stop() }
        try await watching.wait(for: "the answer", timeout: .seconds(120)) {
            FileManager.default.fileExists(atPath: answer.path)
        }
        let begin = Date().timeIntervalSince1970 * 1000
        let sending = try send(source + options + ["--max-bitrate", "2500", "--duration", "\(seconds + 10)"])
        defer { sending.stop() }
        let seen = try await watching.outcome(timeout: .seconds(seconds + 120))
        let said = sending.standardError
        try #require(seen.status == 0, "\(seen.standardError)\nrtcshare send: \(said)")
        // The viewer left first, so how send ends is a race that is not judged here; that it does not crash is.
        sending.interrupt()
        let sent = try await sending.outcome(timeout: .seconds(20))
        #expect(sent.signal == nil, "rtcshare send: \(sent.standardError)")
        let report = try viewer.report(in: folder)
        let firstFrame = try #require(report.firstFrameMs)
        return (report, firstFrame - begin)
    }
}
