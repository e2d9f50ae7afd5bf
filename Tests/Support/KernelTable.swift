import Foundation

/// Returns the text of a file in `/proc`, of which `String(contentsOfFile:)` reads only the first page.
package func kernelTable(_ path: String) throws -> String {
    let bytes = try FileHandle(forReadingFrom: URL(filePath: path)).readToEnd()
    return String(decoding: bytes ?? Data(), as: UTF8.self)
}
