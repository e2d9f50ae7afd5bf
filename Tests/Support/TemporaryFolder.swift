package import Foundation

/// A directory of one test, which is removed with its content at the end of the test.
package final class TemporaryFolder: Sendable {
    package let url: URL

    package init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("rtcshare-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        // Images and logs of a failing run are worth more than a tidy disk.
        if ProcessInfo.processInfo.environment["RTCSHARE_KEEP_TEST_FILES"] == nil {
            try? FileManager.default.removeItem(at: url)
        }
    }

    package func file(_ name: String) -> URL {
        url.appendingPathComponent(name)
    }

    /// Writes a file, whose name can have folders in it.
    package func write(_ text: String, to name: String) throws -> URL {
        let file = file(name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
        return file
    }
}
