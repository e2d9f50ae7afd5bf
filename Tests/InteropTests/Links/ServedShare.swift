import Foundation
import Testing
import TestSupport

@testable import rtcshare

/// `rtcshare serve` of one test, and the commands that ask it. It listens on the loopback interface, at a port of its own.
struct ServedShare {
    let share: Share
    let program: RunningProgram

    /// The first of the links that it printed.
    var link: String { program.standardOutput.split(separator: "\n").first.map(String.init) ?? "" }

    /// The link without what is behind its `#`.
    var address: String { String(link.prefix { $0 != "#" }) }

    /// What is behind the `#`.
    var token: String { String(link.drop { $0 != "#" }.dropFirst()) }

    var port: Int { URL(string: address)?.port ?? 0 }

    /// Starts it, and waits for its links. With `largestFile` in kibibytes, the disk is full for larger ones.
    init(
        _ options: [String] = [], port: Int = 0, source: String = "test:640x360@30",
        environment: [String: String] = [:], largestFile: Int? = nil, in folder: TemporaryFolder
    ) async throws {
        let own = Interop.CommandLineTests.environment(folder).merging([
            "XDG_RUNTIME_DIR": folder.file("run").path
        ]) { $1 }
        share = try Share(environment: own.merging(environment) { $1 }, in: folder)
        let arguments =
            ["serve", "--attendee", "alice", "--source", source, "--audio", "tone", "--listen", "127.0.0.1:\(port)"]
            + options
        let program =
            if let largestFile {
                try RunningProgram(
                    URL(fileURLWithPath: "/bin/bash"),
                    ["-c", RunningProgram.line(largestFile: largestFile), share.rtcshare.path] + arguments,
                    environment: share.environment, in: folder)
            } else {
                try share.start(arguments)
            }
        self.program = program
        // Its commands find it once the links are there.
        try await program.wait(for: "the link", timeout: .seconds(30)) { program.standardOutput.hasSuffix("\n") }
    }

    func stop() { program.stop() }

    /// Asks it for something, and returns what is said: answers, and then what is for people.
    @discardableResult
    func ask(
        _ arguments: String..., status: Int32 = 0, _ location: SourceLocation = #_sourceLocation
    ) async throws -> String {
        let outcome = try await share.run(arguments, timeout: .seconds(30))
        #expect(outcome.status == status, "\(arguments): \(outcome.standardError)", sourceLocation: location)
        return outcome.standardOutput + outcome.standardError
    }

    func status() async throws -> ControlledShare {
        let outcome = try await share.run(["status", "--json"], timeout: .seconds(30))
        try #require(outcome.status == 0, "\(outcome.standardError)")
        return try ControlJSON.decode(ControlledShare.self, from: outcome.standardOutput.utf8)
    }

    /// Waits until the viewers are as `condition` has them, and returns how the share stands then.
    @discardableResult
    func wait(
        for awaited: String, until condition: ([ControlledShare.Viewer]) -> Bool
    ) async throws -> ControlledShare {
        let deadline = ContinuousClock.now + .seconds(30)
        while true {
            let status = try await status()
            if condition(status.viewers) { return status }
            try #require(
                ContinuousClock.now < deadline, "waited in vain for \(awaited): \(status.viewers)")
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    /// Has `rtcshare view` watch by a link, by default the share's own.
    func view(_ options: [String] = [], link: String? = nil) throws -> RunningProgram {
        try share.start(["view", link ?? self.link] + options)
    }
}
