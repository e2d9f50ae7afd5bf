internal import ArgumentParser
internal import Glibc

/// Which running share a command is about.
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

    /// A connection to the share.
    func connect() throws(CommandFailure) -> ControlClient {
        let socket = try socket()
        guard let descriptor = try socket.connect() else {
            throw CommandFailure(
                .inputMissing,
                control.map { "no share is running at \($0)" } ?? "no share named \(socket.name) is running",
                try: "rtcshare serve " + (control.map { "--control \($0)" } ?? "--name \(socket.name)"))
        }
        return ControlClient(descriptor: descriptor)
    }

    private func socket() throws(CommandFailure) -> ControlSocket {
        if let control { return ControlSocket(path: control) }
        if let name { return try ControlSocket(name: name) }
        let running = ControlSocket.running()
        guard let first = running.first else {
            throw CommandFailure(.inputMissing, "no share is running", try: "rtcshare serve")
        }
        guard running.count == 1 else {
            let names = running.map(\.name).joined(separator: ", ")
            throw CommandFailure(.usage, "several shares are running: \(names)", try: "add --name \(first.name)")
        }
        return first
    }
}

/// A command's connection to a running share.
final class ControlClient {
    private let descriptor: Int32
    private var received: [UInt8] = []

    /// Asking for an offer takes as long as the slowest ICE server.
    private static let patience = 60

    init(descriptor: Int32) {
        self.descriptor = descriptor
        var time = timeval(tv_sec: Self.patience, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
        }
    }

    deinit {
        close(descriptor)
    }

    /// Sends a request, and waits for the answer.
    /// - Throws: the reason if the share refuses.
    func ask(_ request: ControlRequest) throws -> ControlAnswer {
        guard let answer = try answer(to: request) else {
            throw CommandFailure(.unavailable, "the share ended, or closed the connection, before it answered")
        }
        return answer
    }

    /// The state of the share; nil once the share has ended.
    func status() throws -> ControlledShare? {
        guard case .status(let status) = try answer(to: .status) else { return nil }
        return status
    }

    /// The answer; nil if the share ended before.
    private func answer(to request: ControlRequest) throws -> ControlAnswer? {
        guard try send(try ControlLine.encode(request)), let line = try readLine() else { return nil }
        let answer: ControlAnswer
        do {
            answer = try ControlLine.decode(ControlAnswer.self, from: line)
        } catch is DecodingError {
            throw CommandFailure(.protocol, "this version of rtcshare does not understand the share's answer")
        }
        if case .failed(let status, let reason, let remedy) = answer {
            throw CommandFailure(CommandFailure.Status(rawValue: status) ?? .internalError, reason, try: remedy)
        }
        return answer
    }

    /// Returns once the share has ended.
    func waitForEnd() throws(CommandFailure) {
        while let bytes = try read(), !bytes.isEmpty {}
    }

    /// Sends bytes; returns false if the share has closed the connection.
    private func send(_ bytes: [UInt8]) throws(CommandFailure) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EPIPE || errno == ECONNRESET { return false }
            guard count > 0 else { throw failure("read the request") }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// The next line; nil at the end.
    private func readLine() throws(CommandFailure) -> [UInt8]? {
        while true {
            if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                defer { received.removeSubrange(...end) }
                return Array(received[..<end])
            }
            guard received.count <= ControlLine.maximumAnswerBytes else {
                throw CommandFailure(.protocol, "the share's answer is too long")
            }
            guard let bytes = try read() else { throw failure("answer") }
            guard !bytes.isEmpty else { return nil }
            received += bytes
        }
    }

    /// What came; empty at the end, nil where nothing came in time.
    private func read() throws(CommandFailure) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = buffer.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 { return Array(buffer[..<count]) }
            switch errno {
            case EINTR: continue
            case EAGAIN: return nil
            case ECONNRESET: return []
            default: throw failure("answer")
            }
        }
    }

    private func failure(_ what: String) -> CommandFailure {
        errno == EAGAIN
            ? CommandFailure(.unavailable, "the share did not \(what) within \(Self.patience) seconds")
            : CommandFailure(.inputOutput, "the share did not \(what): \(String(cString: strerror(errno)))")
    }
}
