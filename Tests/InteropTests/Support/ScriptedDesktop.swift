import Foundation
import TestSupport
import Testing

@testable import RTCShareCapture

/// The programs of a desktop as a test tells them to be, on a session bus of their own.
final class ScriptedDesktop {
    /// The environment of a program on this desktop.
    let environment: [String: String]
    private let bus: RunningProgram
    private let program: RunningProgram
    private let control: SessionBus
    private let folder: TemporaryFolder

    /// Reasons why it can't run here; nil if there are none.
    static let missing: String? =
        ["dbus-daemon", "dbus-send"].first { RunningProgram.find($0) == nil }
        ?? (FileManager.default.isExecutableFile(atPath: "/usr/bin/python3") ? nil : "python3")

    /// Starts these services: `notifications`, `screensaver`, `portal`, `inhibit`, `shortcuts`. As a person's, its portal can't
    /// identify a program that protects its memory. As root's it can.
    init(_ services: [String], asPerson: Bool = false, in folder: TemporaryFolder) async throws {
        self.folder = folder
        let socket = folder.file("session-bus")
        // The usual configuration would start services of this machine.
        let configuration = try folder.write(
            """
            <busconfig><type>session</type><listen>unix:path=\(socket.path)</listen>
            <policy context="default">
            <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
            </policy></busconfig>
            """, to: "session.conf")
        bus = try RunningProgram(
            try #require(RunningProgram.find("dbus-daemon")), ["--nofork", "--config-file", configuration.path],
            in: folder)
        try await bus.wait(for: "the bus", timeout: .seconds(30)) {
            FileManager.default.fileExists(atPath: socket.path)
        }
        let address = "unix:path=\(socket.path)"
        environment = ["DBUS_SESSION_BUS_ADDRESS": address]
        let command = ["/usr/bin/python3", Peers.script("desktop.py")]
        let script = asPerson ? ScriptedPortal.withoutPrivileges(command) : command
        program = try RunningProgram(
            URL(fileURLWithPath: script[0]), script.dropFirst() + services, environment: environment, in: folder)
        control = try SessionBus(address: address)
        try await program.wait(for: "the services", timeout: .seconds(30)) { [control] in
            control.owner(of: "test.Desktop") != nil
        }
    }

    deinit { stop() }

    /// Ends the session, with its bus.
    func stop() {
        program.stop()
        bus.stop()
    }

    @discardableResult
    private func call(_ method: String, _ arguments: [BusValue] = []) throws -> [BusValue] {
        try control.call("test.Desktop", "/test", "test.Desktop", method, arguments)
    }

    func set(_ settings: [String: BusValue]) throws { try call("Set", [.dictionary(settings)]) }

    /// The present notifications: summary, body and buttons.
    func shown() throws -> [String] { try call("Shown").first?.elements.compactMap(\.text) ?? [] }

    /// The calls since this was called last.
    func asked() throws -> [String] { try call("Asked").first?.elements.compactMap(\.text) ?? [] }

    func press(_ summary: String, _ key: String) throws { try call("Press", [.string(summary), .string(key)]) }
    func dismiss(_ summary: String) throws { try call("Dismiss", [.string(summary)]) }
    func activate(_ shortcut: String) throws { try call("Activate", [.string(shortcut)]) }

    /// Replaces the services by other programs.
    func restart() async throws {
        let before = control.owner(of: "test.Desktop")
        try call("Restart")
        try await program.wait(for: "the other services", timeout: .seconds(30)) { [control] in
            control.owner(of: "test.Desktop").map { $0 != before } ?? false
        }
    }

    /// Sends a signal that is not from the services: to all, and to the caller of the services only.
    func forge(_ path: String, _ signal: String, _ arguments: [String]) async throws {
        let caller = try #require(try call("Sender").first?.text)
        for destination in [[], ["--dest=\(caller)"]] {
            let outcome = try await RunningProgram.run(
                try #require(RunningProgram.find("dbus-send")),
                ["--session", "--type=signal"] + destination + [path, signal] + arguments, environment: environment,
                in: folder, timeout: .seconds(20))
            try #require(outcome.status == 0, "\(outcome.standardError)")
        }
    }

    /// Waits until the notifications are as `condition` requires.
    func wait(for awaited: String, until condition: ([String]) -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(20)
        while true {
            let shown = try shown()
            if condition(shown) { return }
            try #require(ContinuousClock.now < deadline, "waited in vain for \(awaited): \(shown)")
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Waits until these calls were among those since the last time. Returns all of them.
    @discardableResult
    func waits(forCalls expected: [String]) async throws -> [String] {
        let deadline = ContinuousClock.now + .seconds(20)
        var calls: [String] = []
        while true {
            calls += try asked()
            if expected.allSatisfy(calls.contains) { return calls }
            try #require(ContinuousClock.now < deadline, "waited in vain for \(expected): \(calls)")
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
