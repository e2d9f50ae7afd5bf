internal import RTCShareCViewerPage

/// The page that browsers show, from the files in `CViewerPage/page`.
package enum ViewerPage {
    package struct File: Sendable {
        package let type: String
        package let bytes: [UInt8]
        /// The same in the format of gzip, a third of the size.
        package let compressed: [UInt8]

        /// Creates a file with this path.
        package init(_ path: String, _ bytes: [UInt8]) {
            (type, self.bytes, compressed) = (ViewerPage.type(of: path), bytes, Gzip.compress(bytes))
        }
    }

    package static func file(_ path: String) -> File? { files[path] }

    /// The paths of all files.
    package static var names: Set<String> { Set(files.keys) }

    private static let files: [String: File] = {
        var files: [String: File] = [:]
        for index in 0..<viewer_page_file_count() {
            let file = viewer_page_file(index)
            guard let name = file.name else { continue }
            let bytes = Array(UnsafeRawBufferPointer(start: file.bytes, count: file.size))
            let path = String(cString: name)
            files[path] = File(path, bytes)
        }
        return files
    }()

    /// Returns the media type of a file, by the ending of its name.
    fileprivate static func type(of name: String) -> String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "svg": "image/svg+xml"
        default: "application/octet-stream"
        }
    }

    /// The source of the script in the page itself, for its permissions (W3C CSP3 §2.3.1).
    package static let inlineScript = "'sha256-yc4wXo07XorwSjMwXGW95bhdcUNTVOUFfEF+ZDDH1A0='"

    /// The page's permissions: it can only use resources from this server.
    static let contentSecurityPolicy = [
        "default-src 'none'", "script-src 'self' \(inlineScript)", "style-src 'self'", "img-src 'self' data:",
        "media-src 'self' blob: mediastream:", "connect-src 'self'", "base-uri 'none'", "form-action 'none'",
        "frame-ancestors 'none'",
    ].joined(separator: "; ")
}
