import Foundation
import Testing
import TestSupport

/// A Janus of the operating system's, with VideoRoom and a configuration of its own.
final class JanusServer {
    /// A room, as its configuration has it.
    struct Room {
        var id: Int
        /// Lines of the configuration file.
        var settings: [String] = []
    }

    /// What is missing on this machine, or nil.
    static let missing: String? = {
        if !FileManager.default.isExecutableFile(atPath: executable.path) { return "janus is not installed" }
        return modules == nil ? "janus' plugins are not where Debian has them" : nil
    }()

    static let executable = URL(fileURLWithPath: "/usr/bin/janus")
    /// Where its plugins and transports are, of whatever architecture.
    private static let modules: URL? = {
        let places = ["/usr/lib/x86_64-linux-gnu/janus", "/usr/lib/aarch64-linux-gnu/janus", "/usr/lib/janus"]
        return places.first { FileManager.default.fileExists(atPath: "\($0)/plugins/libjanus_videoroom.so") }
            .map { URL(fileURLWithPath: $0) }
    }()
    private static let unusedPlugins = [
        "audiobridge", "duktape", "echotest", "lua", "nosip", "recordplay", "sip", "streaming", "textroom", "videocall",
        "voicemail",
    ]
    private static let unusedTransports = ["mqtt", "nanomsg", "rabbitmq", "pfunix"]

    let folder: TemporaryFolder
    let secret: String?
    /// The secret goes where nobody reads it but the server.
    private let configuration: TemporaryFolder
    private let ports: (http: UInt16, webSocket: UInt16)
    private(set) var program: RunningProgram

    /// The URL of its HTTP API.
    var url: String { "http://127.0.0.1:\(ports.http)/janus" }
    /// The URL of its WebSocket.
    var webSocketURL: String { "ws://127.0.0.1:\(ports.webSocket)" }

    /// Starts one with these rooms, at ports that the system picks.
    init(_ rooms: [Room], secret: String? = nil, in folder: TemporaryFolder) async throws {
        self.folder = folder
        self.secret = secret
        let configuration = try TemporaryFolder()
        self.configuration = configuration
        ports = (try freePort(), try freePort())
        try Self.write(rooms, secret: secret, ports: ports, to: configuration)
        program = try Self.run(configuration, in: folder)
        try await untilReady()
    }

    deinit { program.stop() }

    /// Ends it as a crash does.
    func kill() {
        Foundation.kill(program.processIdentifier, SIGKILL)
    }

    /// Starts it once more, at the same ports.
    func startAgain() async throws {
        program.stop()
        program = try Self.run(configuration, in: folder)
        try await untilReady()
    }

    /// Asks the plugin by a program that is not ours.
    func ask(_ request: [String: Any]) async throws -> [String: Any] {
        let text = String(decoding: try JSONSerialization.data(withJSONObject: request), as: UTF8.self)
        let outcome = try await RunningProgram.run(
            try #require(RunningProgram.find("python3")), [Peers.script("janus_room.py"), url, "ask", text],
            environment: ["JANUS_SECRET": secret ?? ""], in: folder, timeout: .seconds(30))
        try #require(outcome.status == 0, "\(outcome.standardError)")
        let answer = try JSONSerialization.jsonObject(with: Data(outcome.standardOutput.utf8))
        return try #require(answer as? [String: Any])
    }

    /// Those who publish in a room, by their names.
    func publishers(in room: Int) async throws -> [String: UInt64] {
        let listed = try await ask(["request": "listparticipants", "room": room])
        let people = try #require(listed["participants"] as? [[String: Any]])
        return Dictionary(
            people.filter { $0["publisher"] as? Bool == true }.compactMap { person in
                guard let name = person["display"] as? String, let id = person["id"] as? NSNumber else { return nil }
                return (name, id.uint64Value)
            }, uniquingKeysWith: { first, _ in first })
    }

    /// Subscribes to a publisher, and to this layer of its video, 0 for the lowest: `offer.sdp` comes into `viewing`, whose
    /// `answer.sdp` goes back.
    func subscribe(
        to display: String, in room: Int, pin: String = "", layer: Int? = nil, viewing: TemporaryFolder
    ) async throws -> RunningProgram {
        let program = try RunningProgram(
            try #require(RunningProgram.find("python3")),
            [Peers.script("janus_room.py"), url, "subscribe", "\(room)", display, viewing.url.path, pin]
                + (layer.map { ["\($0)"] } ?? []), environment: ["JANUS_SECRET": secret ?? ""], in: folder)
        try await program.wait(for: "the room's offer", timeout: .seconds(30)) {
            FileManager.default.fileExists(atPath: viewing.file("offer.sdp").path)
        }
        return program
    }

    private func untilReady() async throws {
        try await program.wait(for: "Janus", timeout: .seconds(30)) { Self.isReady(program) }
    }

    /// Whether a Janus that was started can be asked.
    static func isReady(_ program: RunningProgram) -> Bool {
        program.standardOutput.contains("HTTP transport timer started")
            && program.standardOutput.contains("WebSockets thread started")
    }

    private static func run(_ configuration: TemporaryFolder, in folder: TemporaryFolder) throws -> RunningProgram {
        try RunningProgram(executable, ["--configs-folder", configuration.url.path, "--disable-colors"], in: folder)
    }

    /// Writes the configuration of one that listens at these ports of an address. `media` and `nat` are lines of those
    /// sections.
    static func write(
        _ rooms: [Room], secret: String? = nil, ports: (http: UInt16, webSocket: UInt16),
        address: String = "127.0.0.1", media: [String] = [], nat: [String] = [], to folder: TemporaryFolder
    ) throws {
        let modules = try #require(modules)
        func names(_ kind: String) -> String {
            kind.split(separator: " ").map { "libjanus_\($0).so" }.joined(separator: ",")
        }
        _ = try folder.write(
            """
            general: {
                configs_folder = "\(folder.url.path)"
                plugins_folder = "\(modules.path)/plugins"
                transports_folder = "\(modules.path)/transports"
                \(secret.map { "api_secret = \"\($0)\"" } ?? "")
            }
            media: { slowlink_threshold = 4 \(media.joined(separator: " ")) }
            nat: { \(nat.joined(separator: " ")) }
            plugins: { disable = "\(names(unusedPlugins.joined(separator: " ")))" }
            transports: { disable = "\(names(unusedTransports.joined(separator: " ")))" }
            """, to: "janus.jcfg")
        _ = try folder.write(
            "general: { json = \"compact\" base_path = \"/janus\" http = true port = \(ports.http) ip = \"\(address)\" }\n",
            to: "janus.transport.http.jcfg")
        _ = try folder.write(
            "general: { json = \"compact\" ws = true ws_port = \(ports.webSocket) ws_ip = \"\(address)\" }\n",
            to: "janus.transport.websockets.jcfg")
        let sections = rooms.map { "room-\($0.id): {\n\($0.settings.joined(separator: "\n"))\n}" }
        _ = try folder.write(sections.joined(separator: "\n"), to: "janus.plugin.videoroom.jcfg")
    }
}
