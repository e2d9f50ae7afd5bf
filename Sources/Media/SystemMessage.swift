internal import Glibc

/// Returns the text for an error number of the system; `path` is the file that the call was about.
///
/// The text is part of a sentence: it begins in lower case and has no period.
package func systemMessage(_ number: Int32, path: String? = nil) -> String {
    switch number {
    case ENOENT:
        if let folder = path.map(parentFolder), access(folder, F_OK) != 0 { return "there is no directory \(folder)" }
        return "there is no such file"
    case EACCES, EPERM: return "permission denied"
    case EISDIR: return "it is a directory"
    case ENOTDIR: return "a part of its path is not a directory"
    case ENOSPC: return "the disk is full"
    default: break
    }
    var text = [CChar](repeating: 0, count: 256)
    // Glibc's overlay does not choose the GNU strerror_r: this is the XSI one, which fills `text`.
    guard strerror_r(number, &text, text.count) == 0 else { return "error \(number)" }
    let words = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    // Names such as RPC keep their capitals.
    guard words.dropFirst().first?.isLowercase == true else { return words }
    return words.prefix(1).lowercased() + words.dropFirst()
}

private func parentFolder(_ path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
}
