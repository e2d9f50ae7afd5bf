internal import RTCShareCPresenterPage
internal import RTCShareSignaling

/// The files of the presenter's page: those in `CPresenterPage/page`, and the ones that it shares with the viewer page.
enum PresenterFiles {
    /// Returns the file with a path; empty for the page itself.
    static func file(_ path: String) -> ViewerPage.File? {
        let path = path.isEmpty ? "index.html" : path
        return files[path] ?? (isShared(path) ? ViewerPage.file(path) : nil)
    }

    /// The paths of all files.
    static var names: Set<String> { Set(files.keys).union(ViewerPage.names.filter(isShared)) }

    private static func isShared(_ path: String) -> Bool {
        ["base.css", "icon.svg", "keys.js", "language.js", "settings.js"].contains(path) || path.hasPrefix("languages/")
    }

    private static let files: [String: ViewerPage.File] = {
        var files: [String: ViewerPage.File] = [:]
        for index in 0..<presenter_page_file_count() {
            let file = presenter_page_file(index)
            guard let name = file.name else { continue }
            let path = String(cString: name)
            files[path] = ViewerPage.File(path, Array(UnsafeRawBufferPointer(start: file.bytes, count: file.size)))
        }
        return files
    }()
}
