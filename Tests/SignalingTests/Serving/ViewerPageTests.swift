import Foundation
import RTCShareCPresenterPage
import TestSupport
import Testing

@testable import RTCShareSignaling

/// The files of a page, as they are embedded.
enum Page: CaseIterable {
    case viewer, presenter

    var folder: URL {
        let target = self == .viewer ? "CViewerPage" : "CPresenterPage"
        return URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Sources/\(target)/page").standardizedFileURL
    }

    var files: [String: [UInt8]] {
        switch self {
        case .viewer:
            return Dictionary(uniqueKeysWithValues: ViewerPage.names.map { ($0, ViewerPage.file($0)?.bytes ?? []) })
        case .presenter:
            var files: [String: [UInt8]] = [:]
            for index in 0..<presenter_page_file_count() {
                let file = presenter_page_file(index)
                files[String(cString: file.name)] = Array(UnsafeBufferPointer(start: file.bytes, count: file.size))
            }
            return files
        }
    }

    /// The files of the other page that are served beside its own.
    var borrowed: Set<String> {
        guard self == .presenter else { return [] }
        return Set(Page.viewer.languages).union(["language.js", "settings.js", "keys.js", "icon.svg", "base.css"])
    }

    var textsFolder: String { self == .viewer ? "languages" : "texts" }

    /// The files of texts.
    var languages: [String] { files.keys.filter { $0.hasPrefix(textsFolder + "/") }.sorted() }

    /// The file of the English texts.
    var english: String { textsFolder + "/en.js" }

    func source(_ path: String) throws -> String {
        String(decoding: try #require(files[path]), as: UTF8.self)
    }

    /// Returns everything that may name a text.
    func code() throws -> String {
        try Set(files.keys).subtracting(languages).filter { !$0.hasSuffix(".css") }.map(source).joined()
    }
}

@Suite("The pages' files")
struct ViewerPageTests {
    @Test("All files of a page's directory are embedded, and no others", arguments: Page.allCases)
    func embedded(page: Page) throws {
        let names = try FileManager.default.subpathsOfDirectory(atPath: page.folder.path).filter { $0.contains(".") }
        let files = page.files
        #expect(Set(names) == Set(files.keys))
        for name in names {
            let data = try Data(contentsOf: page.folder.appending(path: name))
            #expect(files[name] == Array(data), "\(name)")
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

    @Test("A page only uses files that are served with it", arguments: Page.allCases)
    func references(page: Page) throws {
        let served = Set(page.files.keys).union(page.borrowed)
        for name in page.files.keys where name.hasSuffix(".js") || name.hasSuffix(".html") {
            let text = try page.source(name)
            for match in text.matches(of: /(?:from|src=|href=)\s*"\.?\/?((?:[a-z-]+\/)?[a-z-]+\.(?:js|css|svg))"/) {
                #expect(served.contains(String(match.output.1)), "\(name): \(match.output.1)")
            }
            #expect(!text.contains("https://") && !text.contains("http://"), "\(name)")
        }
    }

    @Test("No file of the page for the presenter has the name of one that it uses of the page for viewers")
    func names() {
        #expect(Page.presenter.borrowed.subtracting(Page.viewer.files.keys) == [])
        #expect(Page.presenter.borrowed.intersection(Page.presenter.files.keys) == [])
    }
}
