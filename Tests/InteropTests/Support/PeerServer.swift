import Foundation
import Testing
import TestSupport

/// A server of aiortc's that a script in `Peers` is: it prints the URL of its endpoint, and each request as a line of JSON.
struct PeerServer {
    struct Request: Decodable {
        let method: String
        let path: String
        let authorization: String?
        let port: Int
    }

    let program: RunningProgram
    /// The URL of its endpoint.
    var url: String { program.standardOutput.split(separator: "\n").first.map(String.init) ?? "" }
    /// The URL without its path.
    var place: String { url.split(separator: "/").prefix(2).joined(separator: "//") }

    init(_ script: String, _ options: [String] = [], in folder: TemporaryFolder) async throws {
        let program = try RunningProgram(
            try #require(Peers.python), [Peers.script(script)] + options, in: folder)
        self.program = program
        try await program.wait(for: "the server", timeout: .seconds(60)) { program.standardOutput.contains("\n") }
    }

    func requests() -> [Request] { lines(of: Request.self) }

    /// The lines that tell of this; the last may be half written.
    func lines<Line: Decodable>(of type: Line.Type) -> [Line] {
        program.standardOutput.split(separator: "\n").dropFirst().compactMap {
            try? JSONDecoder().decode(Line.self, from: Data($0.utf8))
        }
    }
}
