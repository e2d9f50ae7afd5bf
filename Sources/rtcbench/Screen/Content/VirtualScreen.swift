internal import Foundation
internal import RTCShareMedia

/// An X server of the benchmark's own, which ends with its last client, and so with the benchmark.
struct VirtualScreen {
    let server: ChildProcess
    /// What stands in DISPLAY for it.
    let name: String
    let display: ContentDisplay

    init(size: PixelSize, folder: TemporaryFolder) async throws {
        server = try ChildProcess(
            ["Xvfb", "-displayfd", "1", "-screen", "0", "\(size)x24", "-nolisten", "tcp", "-terminate"],
            environment: ProcessInfo.processInfo.environment, log: folder.file("xvfb.log"), processors: nil)
        do {
            let number = try await server.read(lineOnly: true, within: .seconds(10))
            guard !number.isEmpty else { throw BenchmarkFailure("it ended") }
            name = ":\(number)"
        } catch let error as BenchmarkFailure {
            throw BenchmarkFailure("Xvfb did not start: \(error)\n\(server.lastWords)")
        }
        display = try ContentDisplay(display: name)
    }
}

/// A folder that only this user reads, until it is removed.
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
