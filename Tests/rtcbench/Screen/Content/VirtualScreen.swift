internal import Foundation
internal import RTCShareMedia

/// A virtual screen of the benchmark: an X server, which ends with its last client, and so with the benchmark, or a
/// Wayland desktop.
struct VirtualScreen {
    /// The processes of the screen.
    let servers: [ChildProcess]
    /// The value of DISPLAY for the programs that draw on it.
    let name: String
    /// Further variables for the environment of a program that shares it.
    let environment: [String: String]
    let display: ContentDisplay

    /// The X server.
    var server: ChildProcess { servers[0] }

    init(servers: [ChildProcess], name: String, environment: [String: String], display: ContentDisplay) {
        (self.servers, self.name, self.environment, self.display) = (servers, name, environment, display)
    }

    /// Ends the processes, dependent ones first.
    func end() { for server in servers.reversed() { server.end() } }

    init(size: PixelSize, folder: TemporaryFolder) async throws {
        let server = try ChildProcess(
            ["Xvfb", "-displayfd", "1", "-screen", "0", "\(size)x24", "-nolisten", "tcp", "-terminate"],
            environment: ProcessInfo.processInfo.environment, log: folder.file("xvfb.log"), processors: nil)
        do {
            let number = try await server.read(lineOnly: true, within: .seconds(10))
            guard !number.isEmpty else { throw BenchmarkFailure("it ended") }
            self.init(
                servers: [server], name: ":\(number)", environment: [:],
                display: try ContentDisplay(display: ":\(number)"))
        } catch let error as BenchmarkFailure {
            throw BenchmarkFailure("Xvfb did not start: \(error)\n\(server.lastWords)")
        }
    }
}

/// A directory that only this user can read, until it is removed.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        var template = Array((NSTemporaryDirectory() + "/rtcbench-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else {
            throw BenchmarkFailure("no temporary folder: \(String(cString: strerror(errno)))")
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    func file(_ name: String) -> String { "\(path)/\(name)" }
    func remove() { try? FileManager.default.removeItem(atPath: path) }
}
