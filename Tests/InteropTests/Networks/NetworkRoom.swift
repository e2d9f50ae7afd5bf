import Foundation
import Testing
import TestSupport

/// A room of a Janus on the server of a ``TestNetwork``, and rtcshare's publisher and viewers of it.
struct NetworkRoom {
    /// The URL of the server's API.
    let url: String
    /// The options of a program that publishes to the room or views it.
    var options: [String] { ["--janus", url, "--janus-room", "5"] }
    private let network: TestNetwork
    private let folder: TemporaryFolder
    private let configuration: TemporaryFolder

    private static let ports: (http: UInt16, webSocket: UInt16) = (8088, 8188)
    private static let environment = ["DISPLAY": "", "WAYLAND_DISPLAY": "", "http_proxy": ""]

    /// Starts it. `media` and `nat` are lines of those sections of its configuration.
    init(
        over network: TestNetwork, at address: String = TestNetwork.serverV4, isWebSocket: Bool = false,
        media: [String] = [], nat: [String] = [], in folder: TemporaryFolder
    ) async throws {
        (self.network, self.folder) = (network, folder)
        let host = address.contains(":") ? "[\(address)]" : address
        url = isWebSocket ? "ws://\(host):\(Self.ports.webSocket)" : "http://\(host):\(Self.ports.http)/janus"
        configuration = try TemporaryFolder()
        try JanusServer.write(
            [JanusServer.Room(id: 5, settings: ["bitrate = 0"])], ports: Self.ports, address: address, media: media,
            nat: nat, to: configuration)
        let janus = try network.start(
            JanusServer.executable, ["--configs-folder", configuration.url.path, "--disable-colors"], on: .server)
        try await janus.wait(for: "Janus", timeout: .seconds(30)) { JanusServer.isReady(janus) }
    }

    /// Publishes alice's content. Its statistics go to `sent.jsonl`.
    func publish(_ more: [String] = ["--source", "test:160x120@30"]) async throws -> RunningProgram {
        let program = try network.start(
            try #require(Peers.rtcshare),
            ["send", "--attendee", "alice", "--no-control", "--stats", folder.file("sent.jsonl").path] + more + options,
            on: .sender, environment: Self.environment)
        try await program.wait(for: "the publication", timeout: .seconds(40)) {
            program.standardError.contains("is published to")
        }
        return program
    }

    /// Views alice's content. The statistics go to `NAME.jsonl`.
    func view(_ name: String, on host: TestNetwork.Host, _ more: [String] = []) throws -> RunningProgram {
        try network.start(
            try #require(Peers.rtcshare),
            [
                "view", "--no-window", "--janus-publisher", "alice#content", "--stats",
                folder.file("\(name).jsonl").path,
            ] + more + options, on: host, environment: Self.environment)
    }

    /// Ends these programs as people do.
    func end(_ programs: [RunningProgram]) async throws {
        for program in programs { program.interrupt() }
        for program in programs {
            let outcome = try await program.outcome(timeout: .seconds(20))
            #expect(outcome.status == 0, "\(outcome.standardError)")
        }
    }
}
