import Foundation

/// A folder of one test, removed with everything in it when the test is over.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("rtcshare-interop-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        // Pictures and logs of a failing run are worth more than a tidy disk.
        if ProcessInfo.processInfo.environment["RTCSHARE_KEEP_TEST_FILES"] == nil {
            try? FileManager.default.removeItem(at: url)
        }
    }

    func file(_ name: String) -> URL {
        url.appendingPathComponent(name)
    }

    func write(_ text: String, to name: String) throws -> URL {
        try Data(text.utf8).write(to: file(name))
        return file(name)
    }
}
