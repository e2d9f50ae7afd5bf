import Foundation
import Testing

@testable import RTCShareCapture

/// A desktop's portal that answers as a test tells it to.
final class ScriptedPortal {
    private let program: RunningProgram
    private let control: SessionBus
    private let address: String
    private static let service = PortalRequests.service

    /// Starts it on a desktop. As a person's it sees into no program that keeps its memory to itself; as root's it does.
    init(on desktop: WaylandDesktop, asPerson: Bool = false) async throws {
        let script = ["/usr/bin/python3", Peers.script("portal.py")]
        let command = asPerson ? Self.withoutPrivileges(script) : script
        program = try desktop.start(command[0], Array(command.dropFirst()))
        address = try #require(desktop.environment["DBUS_SESSION_BUS_ADDRESS"])
        control = try SessionBus(address: address)
        try await desktop.owns(Self.service)
    }

    deinit {
        program.stop()
    }

    /// A command that has none of root's privileges.
    static func withoutPrivileges(_ command: [String]) -> [String] {
        guard getuid() == 0, let setpriv = RunningProgram.find("setpriv") else { return command }
        return [setpriv.path, "--inh-caps=-all", "--ambient-caps=-all", "--bounding-set=-all"] + command
    }

    /// Another connection to its bus.
    func bus() throws -> SessionBus { try SessionBus(address: address) }

    private func call(_ method: String, _ arguments: [BusValue] = []) throws -> [BusValue] {
        try control.call(Self.service, "/test", "test.Portal", method, arguments)
    }

    /// Has it answer otherwise from now on.
    func set(_ settings: [String: BusValue]) throws { _ = try call("Set", [.dictionary(settings)]) }

    /// What was asked of it since this was called last.
    func asked() throws -> [String] {
        try call("Asked").first?.elements.compactMap(\.text) ?? []
    }

    /// Ends the newest session, as a desktop does.
    func close() throws { _ = try call("Close") }

    /// Has it go.
    func leave() throws { _ = try call("Leave") }
}
