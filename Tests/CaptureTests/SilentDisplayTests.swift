import Foundation
import TestSupport
import Testing

@testable import RTCShareCapture

@Suite("A display that does not answer", .timeLimit(.minutes(1)))
struct SilentDisplayTests {
    /// The number of threads that connect to such a display.
    private static var threadCount: Int {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count { thread in
                let name = try? String(contentsOfFile: "/proc/self/task/\(thread)/comm", encoding: .utf8)
                return name?.hasPrefix("display 127.0.0") == true
            }
        }
    }

    @Test("Connecting to it ends with an error, and one thread waits, however many attempts are made")
    func attempts() async throws {
        let server = try SilentServer()
        for _ in 0..<5 {
            let error = #expect(throws: CaptureError.self) {
                try XConnection(display: server.display, patience: .milliseconds(50))
            }
            guard case .displayUnavailable(server.display, let reason) = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(reason.hasPrefix("it did not answer within"))
        }
        #expect(try Self.threadCount == 1)
        server.end()
        await waitUntil { (try? Self.threadCount) == 0 }
    }
}
