import Foundation
import TestSupport
import Testing

@testable import RTCShareSignaling

@Suite("The page's files")
struct ViewerPageTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../Sources/CViewerPage/page").standardizedFileURL

    @Test("All files of the page's directory are embedded, and no others")
    func embedded() throws {
        let names = try FileManager.default.subpathsOfDirectory(atPath: Self.folder.path).filter { $0.contains(".") }
        #expect(Set(names) == ViewerPage.names)
        for name in names {
            let data = try Data(contentsOf: Self.folder.appending(path: name))
            #expect(ViewerPage.file(name)?.bytes == Array(data), "\(name)")
        }
    }

    @Test("The compressed files contain the same, as gzip unpacks them")
    func compressed() throws {
        for name in ViewerPage.names {
            let file = try #require(ViewerPage.file(name))
            let process = Process()
            let (input, output) = (Pipe(), Pipe())
            process.executableURL = URL(filePath: "/bin/gzip")
            process.arguments = ["--decompress", "--stdout"]
            (process.standardInput, process.standardOutput) = (input, output)
            try process.runAlone()
            // It is smaller than the buffer of a pipe.
            try input.fileHandleForWriting.write(contentsOf: Data(file.compressed))
            try input.fileHandleForWriting.close()
            #expect(try output.fileHandleForReading.readToEnd() == Data(file.bytes), "\(name)")
            process.waitUntilExit()
            #expect(process.terminationStatus == 0, "\(name)")
        }
    }

    @Test("The page only uses embedded files")
    func references() throws {
        for name in ViewerPage.names where name.hasSuffix(".js") || name.hasSuffix(".html") {
            let text = String(decoding: try #require(ViewerPage.file(name)).bytes, as: UTF8.self)
            for match in text.matches(of: /(?:from|src=|href=)\s*"\.?\/?((?:[a-z-]+\/)?[a-z-]+\.(?:js|css|svg))"/) {
                #expect(ViewerPage.names.contains(String(match.output.1)), "\(name): \(match.output.1)")
            }
            #expect(!text.contains("https://") && !text.contains("http://"), "\(name)")
        }
    }
}
