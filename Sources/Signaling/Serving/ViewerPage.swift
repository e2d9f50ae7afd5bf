internal import RTCShareCViewerPage

/// The page that browsers show, from the files in `CViewerPage/page`.
enum ViewerPage {
    struct File: Sendable {
        let type: String
        let bytes: [UInt8]
        /// The same in the format of gzip, a third of the size.
        let compressed: [UInt8]
    }

    static func file(_ path: String) -> File? { files[path] }

    /// The paths of all files.
    static var names: Set<String> { Set(files.keys) }

    private static let files: [String: File] = {
        var files: [String: File] = [:]
        for index in 0..<viewer_page_file_count() {
            let file = viewer_page_file(index)
            guard let name = file.name else { continue }
            let bytes = Array(UnsafeRawBufferPointer(start: file.bytes, count: file.size))
            let path = String(cString: name)
            files[path] = File(type: type(of: path), bytes: bytes, compressed: Gzip.compress(bytes))
        }
        return files
    }()

    private static func type(of name: String) -> String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "svg": "image/svg+xml"
        default: "application/octet-stream"
        }
    }

    /// The page's permissions: it can only use resources from this server.
    static let contentSecurityPolicy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:",
        "media-src 'self' blob: mediastream:", "connect-src 'self'", "base-uri 'none'", "form-action 'none'",
        "frame-ancestors 'none'",
    ].joined(separator: "; ")
}
