internal import ArgumentParser
internal import Glibc

/// The running share that a command controls.
struct ControlOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The share to control. Needed if several run.", valueName: "name"),
        completion: ShellCompletion.runningShare)
    var name: String?

    @Option(
        help: ArgumentHelp("Control socket of the share, if it was started with --control.", valueName: "path"),
        completion: .file())
    var control: String?

    func validate() throws {
        if name != nil, control != nil { throw ValidationError("--name and --control exclude each other: use one") }
    }

    /// Returns a client of the share. Throws if it does not run.
    func connect() async throws(CommandFailure) -> ControlClient {
        let socket = try await socket()
        guard let client = try Self.client(at: socket) else {
            if let control {
                throw CommandFailure(
                    .inputMissing, "no share is running at \(control)", try: "rtcshare serve --control \(control)")
            }
            throw Self.noShare(named: socket.name, running: ControlSocket.running().map(\.name))
        }
        return client
    }

    /// Returns a client of the share at a socket. Nil if none runs there.
    private static func client(at socket: ControlSocket) throws(CommandFailure) -> ControlClient? {
        guard let descriptor = try socket.connect() else { return nil }
        let peer = SocketPeer(of: descriptor)
        close(descriptor)
        if let stop = peer.stop { throw stop }
        return ControlClient(path: socket.path, peer: peer)
    }

    /// Returns the running shares without presenter pages that share nothing, or all of these if nothing is shared.
    static func sharing(among running: [ControlSocket]) async -> [ControlSocket] {
        guard running.count > 1 else { return running }
        var sharing: [ControlSocket] = []
        for socket in running {
            let status = try? await client(at: socket)?.ask(.status, ControlledShare.self)
            if status != nil { sharing.append(socket) }
        }
        return sharing.isEmpty ? running : sharing
    }

    static func noShare(named name: String, running: [String]) -> CommandFailure {
        guard let meant = Suggestion.nearest(to: name, among: running) ?? running.first else {
            return CommandFailure(
                .inputMissing, "no share named \(name) is running", try: "rtcshare serve --name \(name)")
        }
        return CommandFailure(
            .inputMissing, "no share named \(name) is running. Running: \(running.joined(separator: ", "))",
            try: "--name \(meant)")
    }

    private func socket() async throws(CommandFailure) -> ControlSocket {
        if let control { return ControlSocket(path: control) }
        if let name { return try ControlSocket(name: name) }
        let running = await Self.sharing(among: ControlSocket.running())
        guard let first = running.first else {
            throw CommandFailure(.inputMissing, "no share is running", try: "rtcshare serve")
        }
        guard running.count == 1 else {
            let names = running.map(\.name).joined(separator: ", ")
            throw CommandFailure(.usage, "several shares are running: \(names)", try: "--name \(first.name)")
        }
        return first
    }
}
